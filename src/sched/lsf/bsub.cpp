#include "sched/lsf/bsub.hpp"

#include "base/units.hpp"
#include "base/utf8.hpp"
#include "sched/ask/judge_flags.hpp"
#include "sched/ask/preflight_wish.hpp"
#include "sched/lsf/job_line.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace sched::lsf {
namespace {

using base::Code;
using base::Error;
using base::Expected;

struct Word {
    std::string_view word, flag;
};
constexpr std::array words_of_flags{
    Word{"span", "rail-span"},        Word{"segment", "rail-segment"}, Word{"spares", "rail-spares"},
    Word{"order", "rail-order"},      Word{"restart", "restart"},      Word{"restart_max", "restart-max"},
    Word{"restart_on", "restart-on"}, Word{"ckpt", "ckpt-dir"},        Word{"keep", "rail-keep"},
    Word{"kind", "ckpt-kind"},        Word{"signal", "ckpt-signal"},   Word{"preflight", "rail-preflight"},
};

std::string_view trimmed(std::string_view text) {
    constexpr std::string_view blanks = " \t";
    const auto first = text.find_first_not_of(blanks);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::vector<std::string_view> split(std::string_view text, char at) {
    std::vector<std::string_view> parts;
    for (bool more = true; more;) {
        const auto end = text.find(at);
        more = end != std::string_view::npos;
        if (const auto part = trimmed(text.substr(0, end)); !part.empty()) parts.push_back(part);
        if (more) text.remove_prefix(end + 1);
    }
    return parts;
}

// Which of its queues are parking queues.
struct Queues {
    std::string named; // as the user gave them; empty: LSF's default queue
    bool parking = false, other = false;
};

Queues queues_of(const Parameters& job, const Site& site, const Getenv& get) {
    Queues queues;
    queues.named = job.text("LSB_SUB_QUEUE").value_or("");
    if (const char* usual = get("LSB_DEFAULTQUEUE"); queues.named.empty() && usual != nullptr)
        queues.named = usual;
    for (const auto name : split(queues.named, ' ')) {
        const auto& parking = site.parking_queues;
        (std::find(parking.begin(), parking.end(), name) != parking.end() ? queues.parking : queues.other) =
            true;
    }
    return queues;
}

bool asks_for_place(const Hints& hints) {
    return hints.span || hints.segment || hints.spares;
}

// Lines that LSF has joined into one are no longer a valid command: a # comments out everything after it.
bool was_script(std::string_view line) {
    return line.starts_with('#') || line.ends_with(' ') || line.find(";#") != std::string_view::npos;
}

// The text with each run of LSF's line separators and white space replaced by one blank.
std::string without_joints(std::string_view text) {
    std::string out;
    for (const char c : text)
        if (std::string_view("; \t\r\n").find(c) == std::string_view::npos)
            out += c;
        else if (!out.empty() && out.back() != ' ')
            out += ' ';
    while (out.ends_with(' '))
        out.pop_back();
    return out;
}

// The job name that bjobs should show: the program's name. LSF itself would use the whole rewritten line.
std::string name_for(std::string_view line) {
    if (line.starts_with('#')) return {}; // the first line of a script
    auto program = line.substr(0, line.find_first_of(" \t\n"));
    program.remove_prefix(program.rfind('/') + 1);
    // Exclude characters that LSF treats as an array, or that its file cannot contain.
    const auto fits = [](char c) {
        return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' ||
               c == '.' || c == '-';
    };
    if (program.size() > 64 || !std::all_of(program.begin(), program.end(), fits)) return {};
    return std::string(program);
}

// The minimum and maximum number of slots, "-n 16" or "-n 8,16".
struct Slots {
    std::uint64_t least = 1, most = 1;
};

Expected<Slots> slots_of(const Parameters& job) {
    const auto least = job.number("LSB_SUB_NUM_PROCESSORS"), most = job.number("LSB_SUB_MAX_NUM_PROCESSORS");
    if (!least) return least.error();
    if (!most) return most.error();
    Slots slots;
    slots.least = std::max<std::uint64_t>(1, least->value_or(1));
    slots.most = std::max(slots.least, most->value_or(slots.least));
    if (slots.most > std::numeric_limits<std::uint32_t>::max())
        return Error{Code::usage, fmt::format("-n {}: is more than any cluster has", slots.most)};
    return slots;
}

// Errors are for the user. `gang`: to be placed by restartd.
Expected<std::uint32_t> hosts_of(const Parameters& job, bool gang) {
    const auto slots = slots_of(job);
    if (!slots) return slots.error();
    if (gang && slots->least != slots->most)
        return Error{Code::usage,
                     fmt::format("-n {},{}: a job that Railyard places has one size: say -n {} or "
                                 "-n {}",
                                 slots->least, slots->most, slots->least, slots->most)};
    const auto ptile = ptile_of(job.text("LSB_SUB_RES_REQ").value_or(""));
    if (slots->least == 1 || ptile.one_host) return 1U;
    if (ptile.slots > 0) return static_cast<std::uint32_t>((slots->least + ptile.slots - 1) / ptile.slots);
    if (!gang) return 1U;
    return Error{Code::usage,
                 fmt::format("-n {}: does not say on how many hosts: add -R \"span[ptile=N]\", N being the "
                             "slots that the job takes of each host",
                             slots->least)};
}

constexpr std::string_view preflight = "rail-preflight"; // not a hint: it does not concern placement

using Given = std::vector<std::pair<std::string_view, std::string>>; // flags and their values

Expected<Given> given_by(const std::vector<std::string>& words) {
    Given given;
    for (const auto& word : words) {
        if (word == "-r") continue;
        for (const auto part : split(word, ',')) {
            const auto equals = part.find('=');
            const auto unknown = [&] {
                return Error{Code::usage,
                             fmt::format("-a \"rail({})\": no such word; there are span=, segment=, spares=, "
                                         "order=, keep=, restart=, restart_max=, restart_on=, ckpt=, kind=, "
                                         "signal= and preflight=",
                                         base::printable(part, 100))};
            };
            if (equals == std::string_view::npos) {
                if (given.empty()) return unknown();
                given.back().second.append(1, ',').append(part);
                continue;
            }
            const auto name = trimmed(part.substr(0, equals));
            const auto known = std::find_if(words_of_flags.begin(), words_of_flags.end(),
                                            [&](const Word& each) { return each.word == name; });
            if (known == words_of_flags.end()) return unknown();
            given.emplace_back(known->flag, trimmed(part.substr(equals + 1)));
        }
    }
    return given;
}

} // namespace

Expected<Hints> flags_of(const std::vector<std::string>& words, const Getenv& get) {
    Hints hints;
    for (const auto flag : hint_flags()) {
        const std::string variable(hint_variable(flag));
        const char* value = get(variable.c_str());
        if (value == nullptr || *value == '\0') continue;
        if (auto set = set_hint(hints, flag, value); !set)
            return std::move(set).error().within(variable + " in the environment");
    }
    const auto given = given_by(words);
    if (!given) return given.error();
    for (const auto& [flag, value] : *given)
        if (flag != preflight)
            if (auto set = set_hint(hints, flag, value); !set) return std::move(set).error();
    return hints;
}

Expected<std::string> preflight_of(const std::vector<std::string>& words, const Getenv& get) {
    const auto given = given_by(words);
    if (!given) return given.error();
    std::string wish;
    for (const auto& [flag, value] : *given)
        if (flag == preflight) wish = value;
    const char* variable = get("RAIL_PREFLIGHT");
    const bool inherited = wish.empty() && variable != nullptr;
    if (inherited) wish = variable;
    if (wish.empty()) return wish;
    if (auto known = parse_preflight(wish); !known)
        return inherited ? std::move(known).error().within("RAIL_PREFLIGHT in the environment")
                         : std::move(known).error();
    return wish;
}

Ptile ptile_of(std::string_view requirement) {
    constexpr std::string_view span = "span[";
    std::optional<Ptile> found;
    for (std::size_t at = 0; (at = requirement.find(span, at)) != std::string_view::npos;) {
        at += span.size();
        const auto content = requirement.substr(at, requirement.find(']', at) - at);
        Ptile one;
        const auto equals = content.find('=');
        const auto key = trimmed(content.substr(0, equals));
        const auto value =
            equals == std::string_view::npos ? std::string_view() : trimmed(content.substr(equals + 1));
        const auto number = base::parse_count(value);
        if (key == "hosts") one.one_host = value == "1";
        if (key == "ptile" && number) one.slots = *number;
        if (found && *found != one) return {}; // alternatives: only LSF knows which one applies
        found = one;
    }
    return found.value_or(Ptile());
}

bool was_joined_from(std::string_view line, std::string_view script) {
    return without_joints(line) == without_joints(script);
}

Expected<Rewritten> rewrite(const Parameters& job, const Hints& given, const Site& site, const Getenv& get,
                            const std::string& wish) {
    constexpr std::string_view off = "off";
    const bool tried = !wish.empty() && wish != off;
    const auto queues = queues_of(job, site, get);
    auto hints = given;
    // A job that submits another job passes on its own variables, intended or not.
    std::string note;
    if (get("RAIL_JOB_ID") != nullptr && asks_for_place(hints) && !queues.parking && !queues.named.empty()) {
        hints.span.reset();
        hints.span_wait.reset();
        hints.segment.reset();
        hints.outer_segments.clear();
        hints.spares.reset();
        note = fmt::format(
            "--rail-span, --rail-segment and --rail-spares of the job that submits this one have no "
            "effect in queue {}",
            base::printable(queues.named, 100));
    }
    // Another esub, or this one under another name, has run before: the flags of both count.
    const auto line = job.text("LSB_SUB_COMMAND_LINE");
    const auto former = line ? parse_job_line(*line) : std::nullopt;
    const bool taken_back = wish == off && former && !former->preflight.empty();
    if (hints.empty() && !queues.parking && !tried && !taken_back) return Rewritten{{}, note};
    if (queues.parking && queues.other)
        return Error{Code::usage, fmt::format("-q \"{}\": only some of these queues are placed by Railyard: "
                                              "name one",
                                              base::printable(queues.named, 100))};
    const bool gang = queues.parking || asks_for_place(hints);
    if (gang && site.parking_queues.empty())
        return Error{Code::unfit,
                     "no queue of this cluster is placed by Railyard: leave out the flags that "
                     "say where it is to run, or have [lsf] parking_queues in railyard.conf name "
                     "one"};
    if (gang && !queues.parking && !queues.named.empty())
        return Error{Code::usage,
                     fmt::format("-q {}: Railyard does not place the jobs of this queue: say -q {}, or leave "
                                 "out the flags that say where the job is to run",
                                 base::printable(queues.named, 100), site.parking_queues.front())};
    if (const auto hosts = job.text("LSB_SUB_HOSTS"); gang && hosts && !trimmed(*hosts).empty())
        return Error{Code::usage, fmt::format("-m \"{}\": Railyard chooses the hosts of this queue's jobs: "
                                              "leave it out",
                                              base::printable(trimmed(*hosts), 100))};
    if (!line)
        return Error{Code::unfit, "LSF does not say what the job's command is: lsf.conf needs "
                                  "LSB_SUB_COMMANDNAME=Y"};
    auto known = former.value_or(JobLine{{}, *line, false});
    auto name = name_for(known.line);
    if (!former && was_script(*line)) {
        auto input = site.input ? site.input() : std::nullopt;
        if (!input || !was_joined_from(*line, input->text) || input->text.find('\0') != std::string::npos) {
            constexpr std::string_view lost =
                "a script on bsub's standard input that is no file reaches no esub whole";
            if (hints.empty() && !tried)
                return Rewritten{{},
                                 fmt::format("{}: it is submitted as it is, and gets no host file and no "
                                             "variables of Railyard's",
                                             lost)};
            return Error{Code::unfit, fmt::format("{}: put it into a file, bsub ... <job.sh", lost)};
        }
        known.line = std::move(input->text);
        name = name_for(input->name);
    }
    const auto nodes = hosts_of(job, gang);
    if (!nodes) return nodes.error();

    FlaggedJob flagged;
    flagged.nodes = *nodes;
    flagged.batch = !job.yes("LSB_SUB_INTERACTIVE");
    // An administrator's default is ignored here; LSF's -rn was set by the user.
    if (const auto rerun = job.text("LSB_SUB_RERUNNABLE"); rerun == "N" || rerun == "n")
        flagged.requeue = false;
    if (gang) flagged.capacity = site.capacity;
    flagged.words = {"-n", "-rn", "batch jobs (bsub without -I)"};
    auto judged = judge_flags(renewed(std::move(known.hints), hints), flagged);
    if (!judged) return std::move(judged).error();
    known.hints = std::move(judged->hints);
    if (!wish.empty()) known.preflight = tried ? wish : std::string();
    // Implied by --restart=auto.
    known.reruns = job.yes("LSB_SUB_RERUNNABLE") && !known.hints.restart.value_or(false);

    // The user's hold is not recognized later. A job rewritten before has esub.rail's.
    if (gang && site.held && !former) known.held = job.yes("LSB_SUB_HOLD");

    const auto command = job_line(known, site.program);
    if (command.size() > longest_command)
        return Error{Code::unfit,
                     fmt::format("the job's command is too long: with its flags it has {} bytes, "
                                 "of which LSF takes {}: {}",
                                 command.size(), longest_command,
                                 known.line.starts_with("#!")
                                     ? "name the script's file in place of its text, bsub ... ./job.sh"
                                     : "put it into a script")};
    Rewritten rewritten;
    rewritten.note = judged->note.empty() ? note : judged->note;
    if (gang && !queues.parking) rewritten.changes.set_text("LSB_SUB_QUEUE", site.parking_queues.front());
    if (gang && site.held) rewritten.changes.set_yes("LSB_SUB_HOLD");
    if (judged->set_requeue) rewritten.changes.set_yes("LSB_SUB_RERUNNABLE");
    if (!name.empty() && !job.has("LSB_SUB_JOB_NAME")) rewritten.changes.set_text("LSB_SUB_JOB_NAME", name);
    rewritten.changes.set_text("LSB_SUB_COMMAND_LINE", command);
    return rewritten;
}

} // namespace sched::lsf
