#include "spank/step_layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace spank {
namespace {

enum class Takes : std::uint8_t { nothing, word, maybe }; // maybe: only as --option=WORD
enum class Means : std::uint8_t { nothing, nodes, tasks, tasks_per_node, cpus_per_task, fill };

struct Option {
    std::string_view name;
    char letter;
    Takes takes;
    Means means = Means::nothing;
};

// Options of srun in 22.05 to 24.11. Those that decide where tasks go are omitted: -w -x -F -r -m -O
// --het-group --spread-job --use-min-nodes --jobid -Z --ntasks-per-gpu and similar.
constexpr std::array known_options = {
    Option{"nodes", 'N', Takes::word, Means::nodes},
    Option{"ntasks", 'n', Takes::word, Means::tasks},
    Option{"ntasks-per-node", 0, Takes::word, Means::tasks_per_node},
    Option{"tasks-per-node", 0, Takes::word, Means::tasks_per_node},
    Option{"cpus-per-task", 'c', Takes::word, Means::cpus_per_task},
    Option{"hint", 0, Takes::word, Means::fill},
    Option{"threads-per-core", 0, Takes::word, Means::fill},
    Option{"gpus", 'G', Takes::word, Means::fill},
    Option{"gpus-per-task", 0, Takes::word, Means::fill},
    Option{"cpus-per-gpu", 0, Takes::word, Means::fill},
    Option{"exact", 0, Takes::nothing, Means::fill},
    Option{"exclusive", 0, Takes::maybe, Means::fill},
    Option{"whole", 0, Takes::nothing, Means::fill},
    Option{"mem-per-cpu", 0, Takes::word, Means::fill},
    Option{"mem-per-gpu", 0, Takes::word, Means::fill},
    Option{"accel-bind", 0, Takes::word},
    Option{"bcast", 0, Takes::maybe},
    Option{"bcast-exclude", 0, Takes::word},
    Option{"chdir", 'D', Takes::word},
    Option{"ckpt-dir", 0, Takes::word},
    Option{"ckpt-kind", 0, Takes::word},
    Option{"ckpt-signal", 0, Takes::word},
    Option{"comment", 0, Takes::word},
    Option{"compress", 0, Takes::maybe},
    Option{"container", 0, Takes::word},
    Option{"container-image", 0, Takes::word}, // pyxis
    Option{"container-mounts", 0, Takes::word},
    Option{"container-name", 0, Takes::word},
    Option{"container-workdir", 0, Takes::word},
    Option{"cpu-bind", 0, Takes::word},
    Option{"cpu_bind", 0, Takes::word},
    Option{"cpu-freq", 0, Takes::word},
    Option{"disable-status", 'X', Takes::nothing},
    Option{"epilog", 0, Takes::word},
    Option{"error", 'e', Takes::word},
    Option{"export", 0, Takes::word},
    Option{"gpu-bind", 0, Takes::word},
    Option{"gpu-freq", 0, Takes::word},
    Option{"gpus-per-node", 0, Takes::word},
    Option{"gres", 0, Takes::word},
    Option{"gres-flags", 0, Takes::word},
    Option{"immediate", 'I', Takes::maybe},
    Option{"input", 'i', Takes::word},
    Option{"job-name", 'J', Takes::word},
    Option{"kill-on-bad-exit", 'K', Takes::maybe},
    Option{"label", 'l', Takes::nothing},
    Option{"mem", 0, Takes::word},
    Option{"mem-bind", 0, Takes::word},
    Option{"mpi", 0, Takes::word},
    Option{"msg-timeout", 0, Takes::word},
    Option{"multi-prog", 0, Takes::nothing},
    Option{"network", 0, Takes::word},
    Option{"no-kill", 'k', Takes::maybe},
    Option{"open-mode", 0, Takes::word},
    Option{"output", 'o', Takes::word},
    Option{"overlap", 0, Takes::maybe},
    Option{"preserve-env", 'E', Takes::nothing},
    Option{"profile", 0, Takes::word},
    Option{"prolog", 0, Takes::word},
    Option{"propagate", 0, Takes::maybe},
    Option{"quiet", 'Q', Takes::nothing},
    Option{"quit-on-interrupt", 0, Takes::nothing},
    Option{"rail-bind", 0, Takes::word},
    Option{"rail-ucx", 0, Takes::word},
    Option{"rail-keep", 0, Takes::word},
    Option{"rail-order", 0, Takes::word},
    Option{"rail-preflight", 0, Takes::word},
    Option{"rail-segment", 0, Takes::word},
    Option{"rail-span", 0, Takes::word},
    Option{"rail-spares", 0, Takes::word},
    Option{"restart", 0, Takes::word},
    Option{"resv-ports", 0, Takes::maybe},
    Option{"send-libs", 0, Takes::maybe},
    Option{"signal", 0, Takes::word},
    Option{"slurmd-debug", 0, Takes::word},
    Option{"task-epilog", 0, Takes::word},
    Option{"task-prolog", 0, Takes::word},
    Option{"threads", 'T', Takes::word},
    Option{"time", 't', Takes::word},
    Option{"unbuffered", 'u', Takes::nothing},
    Option{"verbose", 'v', Takes::nothing},
    Option{"wait", 'W', Takes::word},
    Option{"wckey", 0, Takes::word},
};

// Variables that make srun lay out tasks in a way that cannot be predicted here.
constexpr std::array deciding = {"SLURM_DISTRIBUTION",      "SLURM_HOSTFILE",       "SLURM_OVERCOMMIT",
                                 "SLURM_SPREAD_JOB",        "SLURM_USE_MIN_NODES",  "SLURM_NTASKS_PER_GPU",
                                 "SLURM_NTASKS_PER_TRES",   "SLURM_HET_SIZE",       "SLURM_PACK_SIZE",
                                 "SLURM_NTASKS_PER_SOCKET", "SLURM_NTASKS_PER_CORE"};
constexpr std::array filling = {
    "SLURM_HINT",  "SLURM_THREADS_PER_CORE", "SLURM_GPUS_PER_TASK",     "SLURM_CPUS_PER_GPU",
    "SLURM_EXACT", "SLURM_EXCLUSIVE",        "SLURM_NSOCKETS_PER_NODE", "SLURM_NCORES_PER_SOCKET"};

std::optional<std::uint32_t> plain_number(std::string_view text) {
    std::uint32_t number = 0;
    const auto* end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, number);
    if (text.empty() || read.ec != std::errc() || read.ptr != end || number == 0) return {};
    return number;
}

std::optional<std::uint32_t> count_in(const Lookup& get, const char* name) {
    const auto text = get(name);
    return text ? plain_number(*text) : std::nullopt;
}

bool keep_option(StepWords& words, const Option& option, std::string_view value) {
    if (option.means == Means::nothing) return true;
    if (option.means == Means::fill) {
        words.fill_known = false;
        return true;
    }
    const auto number = plain_number(value);
    switch (option.means) {
    case Means::nodes: words.nodes = number; break;
    case Means::tasks: words.tasks = number; break;
    case Means::tasks_per_node: words.tasks_per_node = number; break;
    default: words.cpus_per_task = number; break;
    }
    return number.has_value();
}

// The value that all hosts share, or nullopt.
std::optional<std::uint32_t> uniform(const std::optional<std::string>& counts) {
    if (!counts) return {};
    const auto list = expand_counts(*counts);
    if (list.empty() || list.front() == 0 ||
        !std::all_of(list.begin(), list.end(), [&](std::uint32_t n) { return n == list.front(); }))
        return {};
    return list.front();
}

// Iterates over srun's arguments.
class WordReader {
public:
    explicit WordReader(const std::vector<std::string>& words) : words_(words) {}

    std::optional<StepWords> read(std::string& why) {
        for (; at_ < words_.size(); ++at_) {
            const std::string_view word = words_[at_];
            if (word == "--") return step_;
            if (word.size() < 2 || word[0] != '-') { // the program; after it, ':' begins another component
                if (std::find(words_.begin() + static_cast<std::ptrdiff_t>(at_), words_.end(), ":") ==
                    words_.end())
                    return step_;
                why = "a heterogeneous step";
                return {};
            }
            why = word[1] == '-' ? read_name(word.substr(2)) : read_letters(word.substr(1));
            if (!why.empty()) return {};
        }
        why = "no program";
        return {};
    }

private:
    // These two return the option that is unknown or invalid; "" on success.
    std::string read_name(std::string_view word) {
        const auto equals = word.find('=');
        const auto name = word.substr(0, equals);
        const auto option = std::find_if(known_options.begin(), known_options.end(),
                                         [&](const Option& each) { return each.name == name; });
        if (option == known_options.end()) return fmt::format("--{}", name);
        auto value = equals == word.npos ? std::string_view() : word.substr(equals + 1);
        if (option->takes == Takes::word && equals == word.npos) value = next_word();
        return ended() || keep_option(step_, *option, value) ? "" : fmt::format("--{}={}", name, value);
    }
    std::string read_letters(std::string_view letters) {
        for (; !letters.empty(); letters.remove_prefix(1)) {
            const auto option =
                std::find_if(known_options.begin(), known_options.end(), [&](const Option& each) {
                    return each.letter != 0 && each.letter == letters[0];
                });
            if (option == known_options.end()) return fmt::format("-{}", letters[0]);
            if (option->takes == Takes::nothing) continue;
            auto value = letters.substr(1);
            if (value.empty() && option->takes == Takes::word) value = next_word();
            return ended() || keep_option(step_, *option, value)
                       ? ""
                       : fmt::format("-{} {}", option->letter, value);
        }
        return {};
    }

    std::string_view next_word() {
        ++at_;
        return ended() ? std::string_view() : words_[at_];
    }
    bool ended() const { return at_ >= words_.size(); }

    const std::vector<std::string>& words_;
    std::size_t at_ = 0;
    StepWords step_;
};

} // namespace

std::optional<StepWords> read_step_words(const std::vector<std::string>& words, std::string& why) {
    return WordReader(words).read(why);
}

std::optional<StepHosts> step_hosts(const StepWords& words, const RankLists& lists, const Lookup& get,
                                    std::string& why) {
    const auto no = [&](std::string what) -> std::optional<StepHosts> {
        why = std::move(what);
        return {};
    };
    for (const char* name : deciding)
        if (get(name)) return no(fmt::format("{} in the environment", name));
    bool fill_known = words.fill_known;
    for (const char* name : filling)
        if (get(name)) fill_known = false;

    const auto ranks = static_cast<std::uint32_t>(lists.ranks.size());
    const auto all = ranks + static_cast<std::uint32_t>(lists.spares.size());
    const auto nodes = words.nodes.value_or(ranks);
    if (nodes != ranks && nodes != all) return no(fmt::format("{} of {} nodes", nodes, all));
    StepHosts step;
    step.hosts = lists.ranks;
    if (nodes > ranks) step.hosts.insert(step.hosts.end(), lists.spares.begin(), lists.spares.end());
    const auto even = [&](std::uint32_t each) {
        step.tasks.assign(nodes, each);
        step.total = nodes * each;
        return step;
    };

    auto per_node = words.tasks_per_node;
    if (!per_node) per_node = count_in(get, "SLURM_NTASKS_PER_NODE");
    auto total = words.tasks;
    if (!total) {
        const auto jobs = count_in(get, "SLURM_NTASKS");
        if (per_node) {
            if (jobs && *jobs != all * *per_node && *jobs != nodes * *per_node)
                return no("SLURM_NTASKS that are not SLURM_NTASKS_PER_NODE on each node");
            return even(*per_node);
        }
        if (!jobs) return even(1);
        if (nodes != all) { // the job's tasks were meant for its ranks and spares together
            const auto each = uniform(get("SLURM_TASKS_PER_NODE"));
            if (!each || *each * all != *jobs) return no("tasks that are not the same on each node");
            return even(*each);
        }
        total = jobs;
    }
    if (*total < nodes) return no("fewer tasks than nodes");
    if (per_node && *total == nodes * *per_node) return even(*per_node);
    // srun ignores the job's --ntasks-per-node, but honours its own.
    if (words.tasks_per_node) return no("tasks that are not --ntasks-per-node on each node");
    if (*total == nodes) return even(1);
    // Equal nodes get equal shares, the first ones get the remainder (seen in 22.05, for any number of CPUs
    // per task).
    const auto cpus = uniform(get("SLURM_JOB_CPUS_PER_NODE"));
    if (!fill_known || !cpus) return no("tasks that fill nodes in a way only slurmctld knows");
    auto each = words.cpus_per_task;
    if (!each) each = count_in(get, "SRUN_CPUS_PER_TASK");
    if (*total > nodes * (*cpus / each.value_or(1))) return no("more tasks than CPUs");
    step.total = *total;
    for (std::uint32_t n = 0; n < nodes; ++n)
        step.tasks.push_back(*total / nodes + (n < *total % nodes ? 1 : 0));
    return step;
}

} // namespace spank
