// What is known about LSF's hosts: the list, the administrators' notes, which the list does not have, and
// which hosts were set down since this daemon started. Pure; times are the caller's.
#pragma once

#include "base/clock.hpp"
#include "restart/core/facts/rm.hpp"
#include "restart/rm/lsf_text.hpp"

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace restart {

class LsfNodes {
public:
    // A new list. The note of a host that is in use again is forgotten.
    void take(std::vector<LsfHostRow> rows);
    const std::vector<LsfHostRow>& rows() const { return rows_; }

    // Hosts of the list that are closed or unreachable, and whose note is not known, is older than `age`, or
    // may have changed. Also hosts that are now open, some with each list: their note is that of their
    // opening; it stays when they are lost, and is not a drain then.
    std::vector<std::string> unread(const std::vector<LsfHostRow>& rows, base::Time now, base::Duration age);
    void clock_set(base::Duration by); // the time of day: ages of notes do not change
    void take_notes(const std::map<std::string, std::string>& notes, base::Time now);

    void set_down(const std::string& host) { downed_.insert(host); }
    void set_up(const std::string& host); // it is open again, with the note `resumed` if we opened it
    static constexpr std::string_view resumed = "railyard: resumed";

    // Whether nothing that runs there can be relied on.
    bool is_lost(const std::string& host) const;

    // Whether a job holds slots of it, by LSF's count; also if LSF does not list the host.
    bool in_use(std::string_view host) const;

    // A drain is a closed host; one that is closed and unreachable shows only the latter, and has a note that
    // is not the one of its opening.
    RmNode node_of(const LsfHostRow& row) const;

private:
    struct HostNote {
        std::string text, status;
        base::Time read{};
    };

    std::vector<LsfHostRow> rows_;
    std::map<std::string, HostNote, std::less<>> notes_;
    std::map<std::string, std::string, std::less<>> opened_; // the notes of hosts, read while they were open
    std::set<std::string, std::less<>> outdated_;   // of hosts that were not open since: the note may differ
    std::set<std::string, std::less<>> asked_open_; // hosts whose note is being read as one of these
    std::set<std::string, std::less<>> downed_;     // by us, and not resumed yet
};

} // namespace restart
