#include "restart/rm/lsf_queues.hpp"

#include "restart/rm/lsf_text.hpp"

#include <fmt/format.h>

#include <string_view>
#include <utility>

namespace restart {
namespace {

using base::Code;
using namespace std::chrono_literals;

constexpr auto longest_age = 30s;

} // namespace

base::Expected<void> LsfQueueBook::read(const LsfCommands& commands, const LsfQueues& queues,
                                        const LsfJobs& jobs, std::chrono::steady_clock::time_point now) {
    if (read_ && now - *read_ < longest_age) return {};
    auto text = commands.run({"bqueues", "-w"});
    if (!text) return std::move(text).error();
    auto read = read_queue_priorities(*text);
    if (!read) return std::move(read).error();
    priorities_ = *std::move(read);
    if (auto shares = read_shares_of(commands, queues, jobs); !shares) return shares;
    read_ = now;
    return {};
}

// An engine without the command has no shares to follow: first come, first served.
base::Expected<void> LsfQueueBook::read_shares_of(const LsfCommands& commands, const LsfQueues& queues,
                                                  const LsfJobs& jobs) {
    std::vector<std::string> words{"bqueues", "-r"};
    for (const auto& name : queues.parking)
        if (priorities_.contains(name)) words.push_back(name);
    if (words.size() == 2) {
        shares_.clear();
        said_.clear();
        return {};
    }
    auto text = commands.run(std::move(words));
    if (!text && text.error().code == Code::unavailable) return std::move(text).error();
    said_ = text ? std::string() : text.error().text;
    shares_ = text ? read_shares(*text) : LsfShares();
    if (shares_.empty() || !may_have_groups(shares_, jobs.users(shares_))) return {};
    auto groups = commands.run({"bugroup", "-r"});
    if (!groups && groups.error().code == Code::unavailable) return std::move(groups).error();
    if (!groups) return {}; // there are none
    const auto read = read_user_groups(*groups);
    for (auto& [queue, shares] : shares_)
        shares.groups = read;
    return {};
}

std::vector<std::string> LsfQueueBook::missing(const LsfQueues& queues) const {
    std::vector<std::string> missing;
    const auto lacks = [&](const std::string& queue, std::string_view key) {
        if (!priorities_.contains(queue))
            missing.push_back(fmt::format("LSF has no queue {} ([lsf] {}): no gang is placed through it; "
                                          "railtopo export --format lsf-queues writes one",
                                          queue, key));
    };
    for (const auto& queue : queues.parking)
        lacks(queue, "parking_queues");
    if (!queues.held) lacks(queues.run, "run_queue");
    if (!said_.empty())
        missing.push_back(
            fmt::format("{}: whether users share the queues of gangs is not known, and gangs are "
                        "taken in the order in which LSF lists them",
                        said_));
    return missing;
}

} // namespace restart
