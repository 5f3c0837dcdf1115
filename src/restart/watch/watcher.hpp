// From readings to reports: judges each reading and makes the heartbeat that restartd gets.
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

// What changed from one report to the next, for the log: a line each.
struct Transitions {
    std::vector<Finding> began, ended;
    std::vector<std::string> watching_again;
    std::vector<std::string> not_watching; // with the reason
};

// What the last look saw and what it means; for whoever shows it.
struct LastLook {
    Sample sample;
    std::map<std::string, bool> watching; // Reading::watching
    std::vector<Finding> findings;
    std::vector<std::pair<std::string, std::uint32_t>> xids; // that came with it: component and number
};

class Watcher {
public:
    Watcher(std::string host, std::string boot_id, const Limits& limits, Sources& sources, JobBook& book,
            const RuleSet& rules = {}, UcxBook* ucx = nullptr)
        : host_(std::move(host)), boot_id_(std::move(boot_id)), judge_(limits, rules), sources_(sources),
          book_(book), ucx_(ucx) {}

    // Reports say how the host got on in windows of this length; 0: they do not.
    void set_pace(base::Duration window) { meter_.set_window(window); }

    void set_rules(const Limits& limits, const RuleSet& rules) { judge_.set_rules(limits, rules); }

    // The next report. `steady` is now on a clock that never steps (windows are measured on it), `wall` the
    // time of day, which findings carry.
    std::pair<Report, Transitions> next(base::Time steady, base::Time wall) {
        return take(sources_.read(steady), wall);
    }
    // The same of a reading, whose sample has the steady time.
    std::pair<Report, Transitions> take(Reading reading, base::Time wall);

    // Of the last next(); null before the first.
    std::shared_ptr<const LastLook> last() const { return last_; }

    // Every rule beside what it saw last.
    HostSignals signals();

private:
    Transitions compare(const Report& report, std::map<std::string, bool> watching);

    std::string host_, boot_id_;
    Judge judge_;
    Sources& sources_;
    JobBook& book_;
    PaceMeter meter_;
    bool marks_ = false;           // were made in the last window
    UcxBook* ucx_;                 // null: none of the jobs speaks
    base::Duration wall_offset_{}; // of the time of day from the steady clock
    std::map<std::pair<std::string, std::string>, Finding> findings_; // of the last report
    std::map<std::string, bool> watching_;
    std::vector<std::string> not_watching_; // of the last report
    std::shared_ptr<const LastLook> last_;
};

} // namespace restart
