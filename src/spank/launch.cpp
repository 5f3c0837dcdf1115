// In srun within an allocation: sets the order of ranks with a host list that srun reads itself.
//
// Slurm calls init before srun reads its environment and arguments, and init_post_opt after that. In between,
// SLURM_HOSTFILE and the matching counts are set in srun's environment; they are unset before anything is
// started. In the batch script's environment they would affect every sbatch, salloc and srun in it, whatever
// their options. The list is in memory (memfd), so there is no file to remove.
#include "spank/order.hpp"
#include "spank/step_layout.hpp"

#include "base/file.hpp"
#include "base/hostlist.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

namespace spank {
namespace {

std::optional<std::string> own_variable(const std::string& name) {
    const char* value = std::getenv(name.c_str());
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

// The variables set while srun reads its options, and their previous values.
struct HandedOver {
    struct Changed {
        std::string name;
        std::optional<std::string> before;
    };
    std::vector<Changed> changed;
    int file = -1;
};
HandedOver& handed_over() {
    static HandedOver one;
    return one;
}

void change(const std::string& name, const std::string& value) {
    handed_over().changed.push_back({name, own_variable(name)});
    ::setenv(name.c_str(), value.c_str(), 1);
}

std::vector<std::string> own_words() {
    std::vector<std::string> words;
    const auto text = base::read_file("/proc/self/cmdline", std::size_t{1} << 24);
    if (!text) return words;
    for (std::string_view rest = *text; !rest.empty();) {
        const auto word = rest.substr(0, rest.find('\0'));
        rest.remove_prefix(std::min(rest.size(), word.size() + 1));
        words.emplace_back(word);
    }
    return words;
}

// The lists of the batch script; in an salloc shell they are computed here.
std::optional<RankLists> lists_of_job(const std::vector<std::string>& hosts, std::string& why) {
    RankLists lists;
    const auto ranks = own_variable("RAIL_NODELIST");
    const auto given = base::expand_hostlist(ranks.value_or(""));
    const auto spared = base::expand_hostlist(own_variable("RAIL_SPARE_NODELIST").value_or(""));
    if (given && spared) {
        lists = {*given, *spared};
        if (same_hosts(lists, hosts)) return lists;
    }
    if (own_variable("SLURM_JOB_ID") && own_variable("ENVIRONMENT") == std::string("BATCH")) {
        why = "the batch script was given no order";
        return {};
    }
    auto worked_out = job_lists(hosts, own_variable);
    if (worked_out) return *std::move(worked_out);
    why = worked_out.error().text;
    return {};
}

bool inside_a_step() {
    const auto step = own_variable("SLURM_STEP_ID");
    return step && step->size() < 10; // the IDs of batch and interactive steps have ten digits
}

// A descriptor of a file without a name; -1 if it cannot be created.
int in_memory(const std::string& text) {
    const int file = ::memfd_create("railyard-hosts", MFD_CLOEXEC);
    for (std::size_t done = 0; file >= 0 && done < text.size();) {
        const auto wrote = ::write(file, text.data() + done, text.size() - done);
        if (wrote <= 0) {
            ::close(file);
            return -1;
        }
        done += static_cast<std::size_t>(wrote);
    }
    return file;
}

} // namespace

int hand_over_order(spank_t, Arguments) {
    const auto nodes = own_variable("SLURM_JOB_NODELIST");
    if (!own_variable("SLURM_JOB_ID") || !nodes || inside_a_step()) return ESPANK_SUCCESS;
    const auto hosts = base::expand_hostlist(*nodes);
    if (!hosts || hosts->size() < 2) return ESPANK_SUCCESS;
    std::string why;
    const auto words = own_words();
    const auto asked = words.empty() ? std::nullopt : read_step_words({words.begin() + 1, words.end()}, why);
    const auto lists = asked ? lists_of_job(*hosts, why) : std::nullopt;
    // Slurm's own order already; but railrun's environment describes a part of the allocation.
    if (lists && lists->ranks == *hosts && !own_variable("RAIL_LAUNCH")) return ESPANK_SUCCESS;
    const auto step = lists ? step_hosts(*asked, *lists, own_variable, why) : std::nullopt;
    if (!step) {
        slurm_verbose("spank_rail: the order of ranks is left to Slurm: %s", why.c_str());
        return ESPANK_SUCCESS;
    }
    std::string text;
    for (std::size_t i = 0; i < step->hosts.size(); ++i)
        for (std::uint32_t task = 0; task < step->tasks[i]; ++task)
            text += step->hosts[i] + '\n';
    handed_over().file = in_memory(text);
    if (handed_over().file < 0) return ESPANK_SUCCESS;
    change("SLURM_HOSTFILE", fmt::format("/proc/self/fd/{}", handed_over().file));
    if (!asked->tasks) change("SLURM_NTASKS", fmt::format("{}", step->total));
    if (!asked->nodes) change("SLURM_JOB_NUM_NODES", fmt::format("{}", step->hosts.size()));
    return ESPANK_SUCCESS;
}

int take_back_order(spank_t, Arguments) {
    auto& [changed, file] = handed_over();
    if (file < 0) return ESPANK_SUCCESS;
    for (const auto& [name, before] : changed)
        if (before)
            ::setenv(name.c_str(), before->c_str(), 1);
        else
            ::unsetenv(name.c_str());
    ::close(file);
    handed_over() = {};
    ::setenv(step_ordered, "1", 1); // for export_settings
    return ESPANK_SUCCESS;
}

} // namespace spank
