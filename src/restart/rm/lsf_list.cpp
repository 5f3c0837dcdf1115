#include "restart/rm/lsf_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace restart {

using base::Code;

namespace {

constexpr std::size_t most_odd = 16; // jobs that are asked for one by one at a reading
constexpr int most_by_columns = 60;  // readings, after which lsid and fields are tried again

} // namespace

base::Expected<void> LsfJobList::probe(const LsfCommands& commands) {
    by_columns_ = 0;
    if (!commands.has("lsid")) {
        fields_ = false;
        return {};
    }
    auto said = commands.run({"lsid"});
    if (!said && said.error().code == Code::unavailable) return std::move(said).error();
    version_ = said ? said->substr(0, said->find('\n')) : std::string();
    fields_ = has_job_fields(version_) && version_ != given_up_;
    return {};
}

base::Expected<std::vector<LsfJobRow>> LsfJobList::read(const LsfCommands& commands,
                                                        std::vector<std::string> which) {
    if (fields_ == false && ++by_columns_ > most_by_columns) {
        given_up_.clear(); // what was not understood may have been a transient fault
        fields_.reset();
    }
    if (!fields_)
        if (auto probed = probe(commands); !probed) return std::move(probed).error();
    if (*fields_) {
        std::vector<std::string> words{"bjobs", "-noheader", "-o",
                                       "jobid jobindex stat user queue exec_host delimiter='^'"};
        words.insert(words.end(), which.begin(), which.end());
        auto text = commands.run(std::move(words));
        if (!text && text.error().code != Code::unfit) {
            if (text.error().code == Code::unavailable) fields_.reset();
            return std::move(text).error();
        }
        auto rows = text ? read_job_fields(*text) : base::Expected<std::vector<LsfJobRow>>(text.error());
        if (rows) {
            missing_.clear();
            return rows;
        }
        fields_ = false;
        given_up_ = version_;
        missing_ = fmt::format("{} ({}): jobs are listed by bjobs -w instead, where what a user names a job "
                               "stands in the way of its index",
                               rows.error().text, version_);
    }
    std::vector<std::string> words{"bjobs", "-w"};
    words.insert(words.end(), which.begin(), which.end());
    auto text = commands.run(std::move(words));
    if (!text) {
        if (text.error().code == Code::unavailable) fields_.reset();
        return std::move(text).error();
    }
    return read_job_rows(*text);
}

base::Expected<void> LsfJobList::read_details(const LsfCommands& commands,
                                              const std::vector<base::JobId>& ids, LsfJobs& jobs) {
    constexpr auto most = LsfCommands::most_at_once;
    for (std::size_t from = 0; from < ids.size(); from += most) {
        const std::vector<base::JobId> some(
            ids.begin() + static_cast<std::ptrdiff_t>(from),
            ids.begin() + static_cast<std::ptrdiff_t>(std::min(from + most, ids.size())));
        std::vector<std::string> words{"bjobs", "-UF"};
        for (const auto id : some)
            words.push_back(to_string(id));
        auto text = commands.run(std::move(words));
        if (!text && text.error().code != Code::not_found) return std::move(text).error();
        auto details = text ? read_job_details(*text, base::now()) : std::map<base::JobId, LsfJobDetails>();
        for (const auto id : some)
            if (!details.contains(id)) read_alone(commands, id, details);
        jobs.take(some, details, base::now());
    }
    return {};
}

// For when one of several no longer exists, which makes the command fail, or a name contains what looks like
// another job: asked for one job alone, LSF gives its own answer first.
void LsfJobList::read_alone(const LsfCommands& commands, base::JobId id,
                            std::map<base::JobId, LsfJobDetails>& details) {
    auto text = commands.run({"bjobs", "-UF", to_string(id)});
    if (!text && id.index() != 0) { // a command, or a name, that only ends like an element's
        text = commands.run({"bjobs", "-UF", to_string(base::JobId(id.number()))});
        if (text && read_job_details(*text, base::now(), true).contains(base::JobId(id.number())))
            plain_.insert(id.number());
        return;
    }
    if (!text) return;
    auto read = read_job_details(*text, base::now(), true);
    // If LSF shows no element, an index in its name is only part of the name.
    if (auto found = read.find(id); found != read.end()) details.insert_or_assign(id, found->second);
    if (auto found = read.find(base::JobId(id.number())); found != read.end() && id.index() != 0)
        details.insert_or_assign(id, found->second);
}

void LsfJobList::tell_apart(std::vector<LsfJobRow>& rows, const LsfJobs& jobs, const LsfQueues& queues,
                            const std::function<base::Expected<LsfJobRow>(base::JobId)>& ask) {
    std::set<std::uint64_t> plain;
    for (auto& row : rows)
        if (plain_.contains(row.id.number())) {
            row.id = base::JobId(row.id.number());
            plain.insert(row.id.number());
        }
    plain_ = std::move(plain);
    const auto odd = [&](const LsfJobRow& row) { // a gang of ours that its user moved away, or seems to have
        const auto* known = jobs.find(row.id);
        return known != nullptr && is_gang(*known) && !queues.manages(row.queue);
    };
    tell_rows_apart(rows, most_odd, odd, ask);
}

} // namespace restart
