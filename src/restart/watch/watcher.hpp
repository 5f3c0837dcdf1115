// Turns readings into reports: evaluates each reading and creates the heartbeat for restartd.
#pragma once

#include "base/clock.hpp"
#include "restart/watch/job_book.hpp"
#include "restart/watch/judge.hpp"
#include "restart/watch/pace_meter.hpp"
#include "restart/watch/sources.hpp"
#include "restart/watch/ucx_book.hpp"
#include "restart/wire/report.hpp"
#include "restart/wire/signals.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace restart {

// Changes between two reports, for the log: a line each.
struct Transitions {
    std::vector<Finding> began, ended;
    std::vector<std::string> watching_again;
    std::vector<std::string> not_watching; // with the reason
};

// The results of the last look, for display.
struct LastLook {
    Sample sample;
    std::map<std::string, bool> watching; // Reading::watching
    std::vector<Finding> findings;
    std::vector<std::pair<std::string, std::uint32_t>> xids; // new in it: component and number
};

class Watcher {
public:
    Watcher(std::string host, std::string boot_id, const Limits& limits, Sources& sources, JobBook& book,
            const RuleSet& rules = {}, UcxBook* ucx = nullptr)
        : host_(std::move(host)), boot_id_(std::move(boot_id)), judge_(limits, rules), sources_(sources),
          book_(book), ucx_(ucx) {}

    // Length of the windows for which reports contain the host's pace; 0: none.
    void set_pace(base::Duration window) { meter_.set_window(window); }

    void set_rules(const Limits& limits, const RuleSet& rules) { judge_.set_rules(limits, rules); }

    // The next report. `steady`: now, on a clock that never steps (for windows); `wall`: the time of day, for
    // findings.
    std::pair<Report, Transitions> next(base::Time steady, base::Time wall) {
        return take(sources_.read(steady), wall);
    }
    // The same for a given reading, whose sample has the steady time.
    std::pair<Report, Transitions> take(Reading reading, base::Time wall);

    // From the last next(); null before the first.
    std::shared_ptr<const LastLook> last() const { return last_; }

    // Every rule with its last values.
    HostSignals signals();

private:
    Transitions compare(const Report& report, std::map<std::string, bool> watching);

    std::string host_, boot_id_;
    Judge judge_;
    Sources& sources_;
    JobBook& book_;
    PaceMeter meter_;
    bool marks_ = false;                                              // made in the last window
    UcxBook* ucx_;                                                    // null: no job reports its UCX
    base::Duration wall_offset_{};                                    // time of day minus the steady clock
    std::map<std::pair<std::string, std::string>, Finding> findings_; // of the last report
    std::map<std::string, bool> watching_;
    std::vector<std::string> not_watching_; // of the last report
    std::shared_ptr<const LastLook> last_;
};

} // namespace restart
