#include "restart/rm/lsf_list.hpp"

#include <fmt/format.h>

#include <utility>

namespace restart {

using base::Code;

base::Expected<void> LsfJobList::probe(const LsfCommands& commands) {
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

} // namespace restart
