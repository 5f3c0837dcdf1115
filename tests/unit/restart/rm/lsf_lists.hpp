// LSF's lists of jobs as a test makes them, and what follows from them.
#pragma once

#include "restart/rm/lsf_jobs.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace lsf_lists {

using base::JobId;
using restart::LsfJobDetails;
using restart::LsfJobRow;

inline constexpr base::Duration settles{8'000};

// A list every second.
class Lists {
public:
    explicit Lists(bool held = false) : jobs({{"gang", "gang2"}, "gangrun", held}, settles) {}

    restart::LsfJobs jobs;
    base::Time now = base::Time(base::Duration(1'790'000'000'000));
    std::map<JobId, LsfJobDetails> known; // to LSF

    void add(JobId id, const std::string& queue = "gang", std::uint32_t slots = 16) {
        LsfJobDetails one;
        one.id = id;
        one.user = "alice";
        one.least = one.most = slots;
        one.ptile = 8;
        one.submitted = now;
        one.queue = queue;
        known[id] = one;
        order.push_back(id);
        show(id, "PEND", queue);
    }
    void show(JobId id, const std::string& state, const std::string& queue, const std::string& hosts = "-") {
        rows[id] = LsfJobRow{id, "alice", state, queue, restart::read_hosts(hosts)};
    }
    void hide(JobId id) { rows.erase(id); }
    void read() {
        now += base::Duration(1'000);
        std::vector<LsfJobRow> list;
        for (const auto id : order)
            if (const auto row = rows.find(id); row != rows.end()) list.push_back(row->second);
        jobs.take(list, now);
        const auto ids = jobs.unknown(now, base::Duration(60'000), most);
        asked += ids.size();
        std::map<JobId, LsfJobDetails> details;
        for (const auto id : ids)
            if (known.contains(id)) details[id] = known[id];
        jobs.take(ids, details, now);
    }
    std::optional<restart::RmJob> job(JobId id) {
        for (auto& one : jobs.jobs([](const std::string&) { return 1000U; }))
            if (one.id == id) return one;
        return {};
    }
    std::vector<restart::QueueJob> queue() {
        return jobs.queue({{"gang", 40}, {"gang2", 50}, {"normal", 30}}, shares,
                          [](const std::string&) { return 1000U; });
    }

    restart::LsfShares shares;
    std::map<JobId, LsfJobRow> rows;
    std::vector<JobId> order;
    std::size_t asked = 0, most = 1'000;
};

} // namespace lsf_lists
