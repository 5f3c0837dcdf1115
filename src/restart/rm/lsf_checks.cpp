#include "restart/rm/lsf_checks.hpp"

#include "restart/rm/check_job.hpp"

#include <fmt/format.h>

#include <string>
#include <vector>

namespace restart {

using base::Code;
using base::Error;
using base::Expected;

Expected<void> LsfChecks::begin(const CheckHost& action) const {
    if (action.partition.empty())
        return Error{Code::unfit, "[idle_checks] partition names no queue of LSF for it"};
    if (jobs_.is_tried(action.host)) return {};
    const auto depth = check_depth(action.level);
    // Its command does nothing: the preflight before it does the check (esub.rail(8)). Not every engine
    // passes the parenthesised text after its name to an esub.
    std::vector<std::string> words{"bsub",
                                   "-a",
                                   "rail",
                                   "-q",
                                   action.partition,
                                   "-m",
                                   action.host,
                                   "-n",
                                   "1",
                                   "-x",
                                   "-J",
                                   std::string(check_job_name),
                                   "-W",
                                   fmt::format("{}", depth.minutes),
                                   "-o",
                                   "/dev/null"};
    if (!action.account.empty()) words.insert(words.end(), {"-P", action.account});
    words.emplace_back("true");
    auto text = commands_.run(std::move(words), {fmt::format("RAIL_PREFLIGHT={}", depth.word)});
    return text ? Expected<void>() : std::move(text).error();
}

Expected<void> LsfChecks::end(const EndCheck& action) const {
    const auto* known = jobs_.find(action.job.id);
    if (known == nullptr || known->checks != action.job.host) return {};
    auto text = commands_.run({"bkill", "-s", "KILL", to_string(action.job.id)});
    return text || text.error().code == Code::not_found ? Expected<void>() : std::move(text).error();
}

} // namespace restart
