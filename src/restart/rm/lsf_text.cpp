#include "restart/rm/lsf_text.hpp"

#include "base/split.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <ctime>
#include <set>
#include <utility>

namespace restart {
namespace {

using base::Code;
using base::Error;
using base::next_line;
using base::next_part;
using base::next_word;

template <class Number> std::optional<Number> number(std::string_view text) {
    Number value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) return {};
    return value;
}

std::string_view trimmed(std::string_view text) {
    const auto begin = text.find_first_not_of(" \t");
    if (begin == std::string_view::npos) return {};
    return text.substr(begin, text.find_last_not_of(" \t") + 1 - begin);
}

template <class Each> void each_line(std::string_view text, Each each) {
    while (!text.empty())
        each(next_line(text));
}

Error no_list(std::string_view command, std::string_view text) {
    return {Code::unfit, fmt::format("{}: its answer is not understood: \"{}\"", command,
                                     text.substr(0, std::min<std::size_t>(text.find('\n'), 80)))};
}

// The index at the end of an array element's name.
std::uint32_t index_of(std::string_view name) {
    if (!name.ends_with(']')) return 0;
    const auto open = name.rfind('[');
    if (open == std::string_view::npos || open == 0) return 0;
    return number<std::uint32_t>(name.substr(open + 1, name.size() - open - 2)).value_or(0);
}

// After the six fields a job's name, and "Nov 22 01:35".
std::string_view name_before_time(std::string_view rest) {
    for (int word = 0; word < 3; ++word) {
        rest = trimmed(rest);
        rest = rest.substr(0, std::min(rest.rfind(' '), rest.size()));
    }
    return trimmed(rest);
}

std::optional<LsfJobRow> read_job_row(std::string_view line) {
    if (line.starts_with(' ')) return {}; // a reason, or a continuation of the line before
    const auto id = number<std::uint64_t>(next_word(line));
    LsfJobRow row;
    row.user = next_word(line);
    row.state = next_word(line);
    row.queue = next_word(line);
    const auto from = next_word(line);
    const auto hosts = next_word(line);
    if (!id || *id == 0 || *id > base::JobId::most || hosts.empty() || from.empty()) return {};
    row.id = base::JobId(*id, index_of(name_before_time(line)));
    row.hosts = read_hosts(hosts);
    return row;
}

// The text between the brackets after `label`; it may contain brackets.
std::optional<std::string_view> bracketed(std::string_view text, std::string_view label) {
    const auto at = text.find(label);
    if (at == std::string_view::npos) return {};
    text.remove_prefix(at + label.size());
    if (!text.starts_with('<')) return {};
    return text.substr(1, text.find('>') - 1);
}

constexpr std::array<std::string_view, 12> months{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                  "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

// "Sun Nov 22 01:24:30: …": the last such time that is not after `now`. LSF may also write a year.
std::optional<base::Time> read_moment(std::string_view line, base::Time now) {
    const auto day_name = next_word(line);
    if (day_name.size() != 3) return {};
    const auto month = std::find(months.begin(), months.end(), next_word(line));
    const auto day = number<int>(next_word(line));
    const auto clock = next_word(line);
    if (month == months.end() || !day || clock.size() < 8) return {};
    const auto hour = number<int>(clock.substr(0, 2)), minute = number<int>(clock.substr(3, 2)),
               second = number<int>(clock.substr(6, 2));
    if (!hour || !minute || !second) return {};
    const auto today = std::chrono::system_clock::to_time_t(now);
    std::tm local{};
    ::localtime_r(&today, &local);
    std::tm moment{};
    moment.tm_year = local.tm_year;
    moment.tm_mon = static_cast<int>(month - months.begin());
    moment.tm_mday = *day;
    moment.tm_hour = *hour;
    moment.tm_min = *minute;
    moment.tm_sec = *second;
    moment.tm_isdst = -1;
    auto copy = moment;
    auto at = std::mktime(&copy);
    constexpr std::time_t day_ahead = 86'400; // clocks differ
    if (at > today + day_ahead) {
        --moment.tm_year;
        at = std::mktime(&moment);
    }
    return std::chrono::time_point_cast<base::Duration>(std::chrono::system_clock::from_time_t(at));
}

// "span[ptile=8]" within a requirement.
std::uint32_t ptile_in(std::string_view requirement) {
    constexpr std::string_view key = "ptile=";
    const auto at = requirement.find(key);
    if (at == std::string_view::npos) return 0;
    const auto rest = requirement.substr(at + key.size());
    return number<std::uint32_t>(rest.substr(0, rest.find_first_not_of("0123456789"))).value_or(0);
}

// "16 Processors Requested", "2-4 Processors Requested" (LSF: "16 Task(s)", "2,4 Task(s)").
void read_slots(std::string_view line, LsfJobDetails& job) {
    for (const std::string_view label : {" Processors Requested", " Task(s)"}) {
        const auto at = line.find(label);
        if (at == std::string_view::npos) continue;
        const auto begin = line.rfind(", ", at);
        if (begin == std::string_view::npos) continue;
        auto text = line.substr(begin + 2, at - begin - 2);
        const auto gap = text.find_first_of("-,");
        const auto least = number<std::uint32_t>(text.substr(0, gap));
        const auto most = gap == std::string_view::npos ? least : number<std::uint32_t>(text.substr(gap + 1));
        if (least && most && *least > 0) {
            job.least = *least;
            job.most = std::max(*least, *most);
        }
        return;
    }
}

// "Specified Hosts <n4+4>, <n2+3>".
std::vector<std::string> asked_in(std::string_view line) {
    std::vector<std::string> hosts;
    constexpr std::string_view label = "Specified Hosts ";
    const auto at = line.find(label);
    if (at == std::string_view::npos) return hosts;
    line.remove_prefix(at + label.size());
    while (line.starts_with('<')) {
        const auto name = line.substr(1, line.find('>') - 1);
        hosts.emplace_back(name.substr(0, name.find('+')));
        line.remove_prefix(std::min(name.size() + 2, line.size()));
        if (!line.starts_with(", ")) break;
        line.remove_prefix(2);
    }
    return hosts;
}

// What LSF may write after a command; one of Railyard's contains none of these (job_line.hpp).
constexpr std::array<std::string_view, 4> behind_command{">, Job Description <", ">, Share group charged <",
                                                         ">, Esub <", ">, Job Priority <"};

// "Job <118>, Job Name <x>, User <alice>, Project <p>, Status <RUN>, Queue <q>, Command <…>".
std::optional<LsfJobDetails> read_head(std::string_view line) {
    const auto id = bracketed(line, "Job ");
    if (!id) return {};
    const auto parsed = base::JobId::parse(*id);
    if (!parsed) return {};
    LsfJobDetails job;
    job.id = *parsed;
    job.title = bracketed(line, ", Job Name ").value_or(std::string_view());
    if (const auto user = line.find(", User <"); user != std::string_view::npos) line.remove_prefix(user);
    job.user = bracketed(line, ", User ").value_or(std::string_view());
    job.project = bracketed(line, ", Project ").value_or(std::string_view());
    job.state = bracketed(line, ", Status ").value_or(std::string_view());
    job.queue = bracketed(line, ", Queue ").value_or(std::string_view());
    constexpr std::string_view command = ", Command <";
    if (const auto at = line.find(command); at != std::string_view::npos) {
        auto text = line.substr(at + command.size());
        auto end = text.size();
        for (const auto label : behind_command)
            end = std::min(end, text.find(label));
        text = text.substr(0, end);
        job.command = text.substr(0, text.ends_with('>') ? text.size() - 1 : text.size());
    }
    return job;
}

// For a job whose name never ends.
constexpr std::size_t longest_head = 65'536;
constexpr double longest_limit = 1e9; // minutes; a larger one means none

// One job's lines after its head.
class DetailsReader {
public:
    DetailsReader(LsfJobDetails& job, base::Time now) : job_(job), now_(now) {}

    void line(std::string_view line) {
        if (limit_follows_) {
            auto words = line;
            const auto minutes = number<double>(next_word(words));
            if (minutes && *minutes >= 0 && *minutes <= longest_limit && next_word(words) == "min")
                job_.run_limit = base::Duration(static_cast<std::int64_t>(*minutes * 60'000));
        }
        limit_follows_ = trimmed(line) == "RUNLIMIT";
        if (reason_follows_ && job_.why.empty()) job_.why = trimmed(line);
        reason_follows_ = trimmed(line) == "PENDING REASONS:";
        const auto moment = read_moment(line, now_);
        if (!moment) return;
        if (line.find(": Submitted from host") != std::string_view::npos) submitted(line, *moment);
        if (line.find(": Started ") != std::string_view::npos) job_.started = moment;
        if (line.find(": Done successfully") != std::string_view::npos) job_.done = moment;
        const auto behind = [&](std::string_view words) -> std::optional<std::uint32_t> {
            const auto at = line.find(words);
            if (at == std::string_view::npos) return {};
            const auto rest = line.substr(at + words.size());
            return number<std::uint32_t>(rest.substr(0, rest.find_first_not_of("0123456789")));
        };
        if (const auto code = behind(": Exited with exit code ")) job_.exit_code = code;
        if (const auto signal = behind(": Exited by signal ")) job_.exit_code = 128 + *signal;
    }

private:
    void submitted(std::string_view line, base::Time moment) {
        if (job_.submitted) return;
        job_.submitted = moment;
        job_.rerunnable = line.find(", Re-runnable") != std::string_view::npos;
        job_.exclusive = line.find(", Exclusive Execution") != std::string_view::npos;
        job_.interactive = line.find(", Interactive") != std::string_view::npos;
        job_.requirement = bracketed(line, "Requested Resources ").value_or(std::string_view());
        job_.ptile = ptile_in(job_.requirement);
        job_.asked_hosts = asked_in(line);
        read_slots(line, job_);
    }

    LsfJobDetails& job_;
    base::Time now_;
    bool limit_follows_ = false, reason_follows_ = false;
};

} // namespace

LsfHosts read_hosts(std::string_view text) {
    LsfHosts hosts;
    if (text == "-") return hosts;
    while (!text.empty()) {
        auto part = next_part(text, ':');
        const auto star = part.find('*');
        const auto slots = star == std::string_view::npos ? std::optional<std::uint32_t>(1)
                                                          : number<std::uint32_t>(part.substr(0, star));
        if (star != std::string_view::npos) part.remove_prefix(star + 1);
        if (part.empty() || !slots) continue;
        hosts.slots += *slots;
        if (hosts.names.empty() || hosts.names.back() != part) hosts.names.emplace_back(part);
    }
    return hosts;
}

base::Expected<std::vector<LsfJobRow>> read_job_rows(std::string_view text) {
    std::vector<LsfJobRow> rows;
    if (text.empty()) return rows;
    if (text.find("JOBID") == std::string_view::npos) return no_list("bjobs", text);
    each_line(text, [&](std::string_view line) {
        if (auto row = read_job_row(line)) rows.push_back(*std::move(row));
    });
    return rows;
}

void tell_rows_apart(std::vector<LsfJobRow>& rows, std::size_t most,
                     const std::function<bool(const LsfJobRow&)>& odd,
                     const std::function<base::Expected<LsfJobRow>(base::JobId)>& ask) {
    std::map<base::JobId, std::size_t> count;
    for (const auto& row : rows)
        count[row.id] += odd(row) ? 2 : 1;
    std::size_t asked = 0;
    for (const auto& [id, times] : count) {
        if (times < 2) continue;
        if (++asked > most) return;
        const auto row = ask(id);
        if (!row && row.error().code != Code::not_found) continue;
        const auto is_it = [&id = id](const LsfJobRow& one) { return one.id == id; };
        auto from = std::find_if(rows.begin(), rows.end(), is_it);
        if (row) *from++ = *row;
        rows.erase(std::remove_if(from, rows.end(), is_it), rows.end());
    }
}

base::Expected<std::vector<LsfJobRow>> read_job_fields(std::string_view text) {
    constexpr std::size_t fields = 6;
    std::vector<LsfJobRow> rows;
    std::optional<Error> odd;
    each_line(text, [&](std::string_view line) {
        if (trimmed(line).empty() || odd) return;
        std::array<std::string_view, fields> parts;
        auto rest = line;
        for (auto& part : parts)
            part = trimmed(next_part(rest, '^'));
        const auto id = base::JobId::parse(parts[0]); // an element's index may follow it
        const auto index =
            parts[1] == "-" ? std::optional<std::uint32_t>(0) : number<std::uint32_t>(parts[1]);
        const bool whole = std::count(line.begin(), line.end(), '^') == fields - 1 &&
                           std::none_of(parts.begin(), parts.end(), [](auto part) { return part.empty(); });
        if (!whole || !id || id->number() == 0 || !index) {
            odd = no_list("bjobs -o", line);
            return;
        }
        LsfJobRow row;
        row.id = id->index() != 0 ? *id : base::JobId(id->number(), *index);
        row.state = parts[2];
        row.user = parts[3];
        row.queue = parts[4];
        row.hosts = read_hosts(parts[5]);
        rows.push_back(std::move(row));
    });
    if (odd) return *std::move(odd);
    return rows;
}

bool has_job_fields(std::string_view lsid) {
    constexpr std::string_view product = "IBM Spectrum LSF";
    auto line = next_line(lsid);
    if (!line.starts_with(product)) return false;
    line.remove_prefix(product.size());
    const auto digit = line.find_first_of("0123456789");
    if (digit == std::string_view::npos) return false;
    line.remove_prefix(digit);
    const auto major = number<std::uint32_t>(next_part(line, '.'));
    const auto minor = number<std::uint32_t>(line.substr(0, line.find_first_not_of("0123456789")));
    return major && minor && (*major > 10 || (*major == 10 && *minor >= 1));
}

std::map<base::JobId, LsfJobDetails> read_job_details(std::string_view text, base::Time now, bool alone) {
    std::map<base::JobId, LsfJobDetails> jobs;
    std::set<base::JobId> twice;
    LsfJobDetails* open = nullptr;
    std::optional<DetailsReader> reader;
    std::string name; // a head whose name continues on the next line
    each_line(text, [&](std::string_view line) {
        if (!name.empty() || (line.starts_with("Job <") && !(alone && !jobs.empty()))) {
            open = nullptr;
            name += line;
            if (name.find(", User <") == std::string::npos && name.size() < longest_head) {
                name += '\n';
                return;
            }
            auto head = read_head(std::exchange(name, {}));
            if (!head) return;
            const auto [at, fresh] = jobs.try_emplace(head->id, *head);
            if (!fresh) twice.insert(head->id);
            open = fresh ? &at->second : nullptr;
            if (open != nullptr) reader.emplace(*open, now);
        } else if (open != nullptr) {
            reader->line(line);
        }
    });
    for (const auto& id : twice)
        jobs.erase(id);
    return jobs;
}

base::Expected<std::vector<LsfHostRow>> read_host_rows(std::string_view text) {
    std::vector<LsfHostRow> rows;
    if (text.find("HOST_NAME") == std::string_view::npos) return no_list("bhosts", text);
    each_line(text, [&](std::string_view line) {
        LsfHostRow row;
        row.name = next_word(line);
        row.status = next_word(line);
        next_word(line); // JL/U
        const auto slots = next_word(line);
        const auto used = number<std::uint32_t>(next_word(line));
        if (row.name.empty() || row.name == "HOST_NAME" || !used) return;
        row.slots = number<std::uint32_t>(slots).value_or(0);
        row.used = *used;
        rows.push_back(std::move(row));
    });
    return rows;
}

std::map<std::string, std::string> read_host_notes(std::string_view text) {
    std::map<std::string, std::string> notes;
    std::string* note = nullptr;
    each_line(text, [&](std::string_view line) {
        constexpr std::string_view comment = "ADMIN ACTION COMMENT:";
        if (line.starts_with("HOST ")) {
            note = &notes[std::string(trimmed(line.substr(5)))];
        } else if (line.starts_with(comment) && note != nullptr) {
            auto said = trimmed(line.substr(comment.size()));
            if (said.size() >= 2 && said.starts_with('"') && said.ends_with('"')) // LSF writes it this way
                said = said.substr(1, said.size() - 2);
            *note = said;
        }
    });
    return notes;
}

bool ended_by_person(std::string_view history) {
    // Lines are cut at 80 columns, also within words, and continue after blanks.
    std::vector<std::string> entries;
    each_line(history, [&](std::string_view line) {
        if (line.starts_with(' ') && !entries.empty())
            entries.back() += trimmed(line);
        else
            entries.emplace_back(line);
    });
    bool person = false;
    for (const std::string_view entry : entries) {
        const auto moment = entry.find(": ");
        const auto said = moment == std::string_view::npos ? std::string_view() : entry.substr(moment + 2);
        const auto says = [&](std::string_view words) { return said.starts_with(words); };
        if (says("Starting ") || says("Started ") || says("Dispatched "))
            person = false;
        else if (says("Signal <KILL> requested ") || says("Signal <TERM> requested ") ||
                 says("Signal <INT> requested "))
            person = true;
        else if (says("Exited") || says("Completed <exit>"))
            for (const auto* word :
                 {"TERM_OWNER", "TERM_ADMIN", "TERM_FORCE_OWNER", "TERM_FORCE_ADMIN", "TERM_BUCKET_KILL",
                  "TERM_RUNLIMIT", "TERM_CPULIMIT", "TERM_DEADLINE", "TERM_MEMLIMIT"})
                person |= said.find(word) != std::string_view::npos;
    }
    return person;
}

base::Expected<std::map<std::string, std::int64_t>> read_queue_priorities(std::string_view text) {
    std::map<std::string, std::int64_t> queues;
    if (text.find("QUEUE_NAME") == std::string_view::npos) return no_list("bqueues", text);
    each_line(text, [&](std::string_view line) {
        const std::string name(next_word(line));
        if (const auto priority = number<std::int64_t>(next_word(line))) queues[name] = *priority;
    });
    return queues;
}

} // namespace restart
