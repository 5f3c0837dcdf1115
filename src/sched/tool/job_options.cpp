#include "sched/tool/job_options.hpp"

#include "base/file.hpp"
#include "base/hostlist.hpp"
#include "base/units.hpp"
#include "sched/slurm/submission.hpp"
#include "sched/tool/sbatch.hpp"
#include "sched/tool/scene.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace sched::tool {
namespace {

using base::Code;
using base::Error;
using base::Expected;

constexpr std::uint32_t most_nodes = 1'000'000;
constexpr base::Duration switch_wait = std::chrono::seconds(300); // slurm.conf(5), max_switch_wait

enum class Takes : std::uint8_t { nothing, perhaps, value };

// Railyard's options, in the order of --help.
struct Option {
    std::string_view key, names;
    Takes takes;
    std::string_view help;
};
constexpr Option known_options[] = {
    {"nodes", "-N,--nodes", Takes::value,
     "Nodes the job needs, all at once, spares among them: N or MIN-MAX"},
    {"ntasks", "-n,--ntasks", Takes::value,
     "Tasks; with --ntasks-per-node they set the nodes where --nodes does not"},
    {"ntasks-per-node", "--ntasks-per-node,--tasks-per-node", Takes::value, "See --ntasks"},
    {"use-min-nodes", "--use-min-nodes", Takes::nothing, "Of a range of nodes take the fewest"},
    {"rail-span", "--rail-span", Takes::value,
     "Largest part the job may span: domain, unit, pod or fabric; @WAIT: only so long"},
    {"waited", "--waited", Takes::value, "How long the job has waited already; not of sbatch"},
    {"rail-segment", "--rail-segment,--segment", Takes::value,
     "Hosts of a group that no unit or NVLink domain boundary splits; 2:8:32: groups of groups"},
    {"rail-spares", "--rail-spares", Takes::value, "Of the nodes, how many are spares"},
    {"rail-order", "--rail-order", Takes::value, "Rank order: ring, tree or none"},
    {"restart", "--restart", Takes::value, "auto or never; checked as at submit"},
    {"restart-max", "--restart-max", Takes::value, "A count of failures; checked as at submit"},
    {"restart-on", "--restart-on", Takes::value, "host, any or exit statuses; checked as at submit"},
    {"ckpt-dir", "--ckpt-dir", Takes::value, "Checkpoint directory; checked as at submit"},
    {"ckpt-kind", "--ckpt-kind", Takes::value, "Whose checkpoints are there; checked as at submit"},
    {"ckpt-signal", "--ckpt-signal", Takes::value, "How its program is asked to save; checked as at submit"},
    {"requeue", "--requeue", Takes::nothing, "Checked against --restart"},
    {"no-requeue", "--no-requeue", Takes::nothing, "Checked against --restart"},
    {"nodelist", "-w,--nodelist,--require", Takes::value,
     "Hosts that must be in, as n[001-004,007], or a file of names (a/b)"},
    {"nodefile", "-F,--nodefile", Takes::value, "File that names hosts that must be in"},
    {"exclude", "-x,--exclude", Takes::value, "Hosts that must not be used, or a file of names"},
    {"exclusive", "--exclusive", Takes::perhaps, "Only hosts without other jobs, as without it"},
    {"oversubscribe", "-s,--oversubscribe,--share", Takes::nothing,
     "Also hosts where other jobs leave room (mixed)"},
    {"switches", "--switches", Takes::value,
     "N[@WAIT]: in at most N units, for so long; 5 minutes without WAIT"},
    {"rail-keep", "--rail-keep", Takes::value,
     "Whether it is kept on the hosts it had: yes, the default, or no"},
    {"had", "--had", Takes::value,
     "Hosts that it had before it starts again, kept where no other place is better; not of sbatch"},
    {"spare-floor", "--spare-floor", Takes::value, "Free hosts that must remain for restarts; not of sbatch"},
};

Expected<std::uint32_t> count_of(std::string_view option, std::string_view text, std::uint32_t least) {
    const auto count = base::parse_count(text);
    if (!count || *count < least || *count > most_nodes)
        return Error{Code::usage,
                     fmt::format("--{}={}: must be a number from {} to {}", option, text, least, most_nodes)};
    return static_cast<std::uint32_t>(*count);
}

void add(base::Words& words, std::map<std::string, std::string, std::less<>>& given, std::string_view key,
         const std::string& names, Takes takes, const std::string& help, bool hidden) {
    words.add_kept(
        names, [&given, name = std::string(key)](std::string text) { given[name] = std::move(text); },
        takes == Takes::value, help, hidden);
}

} // namespace

void JobOptions::add_to(base::Words& words, bool script) {
    for (const auto& option : known_options)
        add(words, given_, option.key, std::string(option.names), option.takes, std::string(option.help),
            false);
    if (script)
        add(words, given_, "script", "--script", Takes::value,
            "Batch script whose #SBATCH lines give the options not given here", false);
    for (const auto& option : passed_over_options()) {
        auto names = fmt::format("--{}", option.name);
        if (option.letter != 0) names = fmt::format("-{},{}", option.letter, names);
        add(words, given_, option.name, names, option.value ? Takes::value : Takes::perhaps, "", true);
    }
}

Expected<JobOptions> JobOptions::parse(std::string_view line, const std::string& where) {
    auto words = split_words(line);
    if (!words) return Error{Code::usage, fmt::format("{}: {}", where, words.error().text)};
    JobOptions parsed;
    base::Words options_of_line;
    parsed.add_to(options_of_line, false);
    if (auto read = options_of_line.parse(*std::move(words)); !read)
        return Error{Code::usage, fmt::format("{}: {}", where, read.error().text)};
    return parsed;
}

void JobOptions::fill(const JobOptions& other) {
    given_.insert(other.given_.begin(), other.given_.end());
}

const std::string* JobOptions::find(std::string_view key) const {
    const auto found = given_.find(key);
    return found == given_.end() ? nullptr : &found->second;
}

// The steps from options to a request.
struct JobOptions::Reading {
    const JobOptions& given;
    const topo::Fabric& fabric;
    std::uint32_t otherwise; // number of nodes if the options do not determine it
    Job job;
    base::Duration waited{};

    Expected<void> hosts();
    Expected<void> nodes();
    Expected<void> sharing() const;
    Expected<void> waits();
    Expected<void> hints();
    void passed_over();
};

Expected<void> JobOptions::Reading::hosts() {
    const auto read = [&](std::string_view key, std::vector<std::uint32_t>& into) -> Expected<void> {
        const auto* value = given.find(key);
        if (!value) return {};
        const auto option = fmt::format("--{}", key);
        auto found =
            key == "nodefile" ? hosts_in_file(fabric, option, *value) : hosts_named(fabric, option, *value);
        if (!found) return std::move(found).error();
        into.insert(into.end(), found->begin(), found->end());
        return {};
    };
    for (const std::string_view key : {"nodelist", "nodefile"})
        if (auto done = read(key, job.request.required); !done) return done;
    if (auto done = read("exclude", job.request.excluded); !done) return done;
    return read("had", job.request.had);
}

Expected<void> JobOptions::Reading::nodes() {
    auto& request = job.request;
    if (const auto* text = given.find("nodes")) {
        const auto dash = text->find('-');
        auto least = count_of("nodes", text->substr(0, dash), 1);
        auto most = dash == std::string::npos ? least : count_of("nodes", text->substr(dash + 1), 1);
        if (!least || !most || *most < *least)
            return Error{Code::usage, fmt::format("--nodes={}: must be N or MIN-MAX, at least 1 and MIN not "
                                                  "above MAX",
                                                  *text)};
        request.nodes = *least;
        if (*most > *least && !given.has("use-min-nodes")) request.most = *most;
        return {};
    }
    const auto *tasks = given.find("ntasks"), *per_node = given.find("ntasks-per-node");
    if (tasks && per_node) {
        const auto all = count_of("ntasks", *tasks, 1);
        if (!all) return all.error();
        const auto each = count_of("ntasks-per-node", *per_node, 1);
        if (!each) return each.error();
        request.nodes = (*all + *each - 1) / *each;
        return {};
    }
    if (otherwise > 0) {
        request.nodes = otherwise;
        return {};
    }
    if (request.required.empty())
        return Error{Code::usage,
                     "how many nodes? Give --nodes, --ntasks with --ntasks-per-node, or --nodelist"};
    auto distinct = request.required;
    std::sort(distinct.begin(), distinct.end());
    const auto end = std::unique(distinct.begin(), distinct.end());
    request.nodes = static_cast<std::uint32_t>(end - distinct.begin());
    return {};
}

Expected<void> JobOptions::Reading::sharing() const {
    if (!given.has("exclusive") || !given.has("oversubscribe")) return {};
    return Error{Code::usage, "--exclusive and --oversubscribe contradict each other: give one"};
}

Expected<void> JobOptions::Reading::waits() {
    if (const auto* text = given.find("waited")) {
        const auto parsed = *text == "0" ? base::Duration{} : parse_wait(*text);
        if (!parsed) return Error{Code::usage, fmt::format("--waited={}", parsed.error().text)};
        waited = *parsed;
    }
    if (const auto* text = given.find("switches")) {
        const auto at = text->find('@');
        const auto count = count_of("switches", text->substr(0, at), 1);
        if (!count) return count.error();
        auto wait = switch_wait;
        if (at != std::string::npos) {
            const auto parsed = parse_wait(text->substr(at + 1));
            if (!parsed)
                return Error{Code::usage, fmt::format("--switches={}: {}", *text, parsed.error().text)};
            wait = *parsed;
        }
        if (waited < wait) job.switches = *count;
    }
    return {};
}

Expected<void> JobOptions::Reading::hints() {
    std::vector<std::string> variables;
    for (const auto flag : hint_flags()) {
        const auto* value = given.find(flag);
        if (!value) continue;
        if (auto set = set_hint(job.hints, flag, *value); !set) return set;
        variables.push_back(fmt::format("{}={}", hint_variable(flag), *value));
    }
    Submission submission;
    submission.variables.assign(variables.begin(), variables.end());
    submission.nodes = job.request.nodes;
    submission.most = job.request.most;
    if (given.has("requeue")) submission.requeue = true;
    if (given.has("no-requeue")) submission.requeue = false;
    auto accepted = judge(submission, Capacity::of(fabric));
    if (!accepted && accepted.error().code != Code::unfit) return std::move(accepted).error();
    if (accepted && !accepted->note.empty()) job.remarks.push_back(std::move(accepted->note));
    if (!accepted) job.refusal = std::move(accepted).error().text;
    job.wish_ends_in = apply_hints(job.hints, waited, job.request);
    return {};
}

void JobOptions::Reading::passed_over() {
    std::vector<std::string> idle, narrowing;
    for (const auto& option : passed_over_options())
        if (given.has(option.name))
            (option.narrows ? narrowing : idle).push_back(fmt::format("--{}", option.name));
    if (!idle.empty()) job.remarks.push_back(fmt::format("passed over: {}", fmt::join(idle, " ")));
    if (!narrowing.empty())
        job.remarks.push_back(
            fmt::format("passed over: {}: Slurm decides by them which hosts a job may have; "
                        "leave the others out of the state",
                        fmt::join(narrowing, " ")));
}

Expected<Job> JobOptions::resolve(const topo::Fabric& fabric, std::uint32_t otherwise) const {
    auto whole = *this;
    if (const auto* path = find("script")) {
        const auto text = base::read_file(*path);
        if (!text) return text.error();
        JobOptions script;
        for (const auto& line : sbatch_lines(*text)) {
            auto parsed = parse(line.text, fmt::format("{}:{}", *path, line.number));
            if (!parsed) return std::move(parsed).error();
            parsed->fill(script); // later options override earlier ones
            script = *std::move(parsed);
        }
        whole.fill(script);
    }
    Reading reading{whole, fabric, otherwise, {}, {}};
    if (const auto* floor = whole.find("spare-floor")) {
        const auto count = count_of("spare-floor", *floor, 0);
        if (!count) return count.error();
        reading.job.request.spare_floor = *count;
    }
    reading.job.request.shared = whole.has("oversubscribe");
    for (const auto step : {&Reading::hosts, &Reading::nodes, &Reading::waits, &Reading::hints})
        if (auto done = (reading.*step)(); !done) return std::move(done).error();
    if (auto done = reading.sharing(); !done) return std::move(done).error();
    reading.passed_over();
    return std::move(reading.job);
}

void print_remarks(const Job& job) {
    for (const auto& remark : job.remarks)
        fmt::print(stderr, "railplan: {}\n", remark);
}

Expected<Placement> place_job(const Placer& placer, const Snapshot& snapshot, const Job& job) {
    auto placement = placer.place(snapshot, job.request);
    if (!placement || !job.switches || placement->score.units <= *job.switches) return placement;
    return Error{
        Code::unfit,
        fmt::format("takes {} units and --switches={} still waits for fewer: a unit counts as a leaf "
                    "switch; --waited tells when the wait is over",
                    placement->score.units, *job.switches)};
}

} // namespace sched::tool
