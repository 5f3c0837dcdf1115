// Converts readings of ports to signals about links: meaningful growth of counters, and differences from the
// fabric file. Pure; the rules decide what is a finding (rules/table_link.cpp).
//
// Counters of an end are summed here from the first reading, so that they never fall, whatever the device
// does. Growth is left out of the sum if it means nothing: after a restart or a clearing of counters, across
// a sweep in which the end did not answer or its link was down, and for half a minute after its link came up,
// while it trains. Only link downs are counted across such a gap, unless the device was restarted.
//
// A signal is created once something was not as it should be: a sound link creates none and needs no rule
// state.
#pragma once

#include "base/clock.hpp"
#include "restart/watch/fabric/link_map.hpp"
#include "restart/watch/fabric/link_waits.hpp"
#include "restart/watch/fabric/port_counters.hpp"
#include "restart/watch/fabric/seen_ends.hpp"
#include "restart/watch/rules/signal.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace restart {

// The counter whose growth at one end the signal reports; nullopt: another kind of signal.
std::optional<PortCounter> counter_of(std::string_view signal);

// The meaning of a signal's component.
struct LinkComponent {
    std::size_t link = 0;
    std::string unit; // with `rail`: a rail of a unit, not a link
    int rail = topo::none;
    bool file = false; // the fabric file as a whole
};

class LinkSignals {
public:
    explicit LinkSignals(const topo::Fabric& file) : map_(file), waits_(map_) {
        links_.resize(map_.links().size());
    }

    // Takes the results of a sweep; `now` must not go back. Counters that become signals for the first time
    // are also in `begin`, with their previous value: pass it to the rules just before `into`. Linear.
    void read(base::Time now, std::span<const SeenEnd> seen, std::span<const PortReading> readings,
              std::vector<Signal>& begin, std::vector<Signal>& into);

    const LinkMap& map() const { return map_; }

    // Which links hold up others, according to the last sweep.
    const LinkWaits& waits() const { return waits_; }

    // The component of a signal, by its name.
    LinkComponent component(const std::string& name) const;

private:
    static constexpr std::size_t summed = 8; // counters that are evaluated
    struct EndState {
        PortReading last;
        bool read = false;                                         // last is valid
        bool missed = false;                                       // in the last sweep
        bool active = false;                                       // its link is active in this sweep
        bool seen = false;                                         // in this sweep
        bool silent = false;                                       // queried in this sweep without an answer
        bool was_silent = false, was_full = false, waited = false; // at any time: these signals exist
        std::uint32_t told = 0;                                    // summed counters that have become signals
        std::uint64_t downs = 0;                                   // not yet paired with the other end's
        base::Time down_at{}, settled{};
        std::array<std::uint64_t, summed> sums{};
        double waiting = 0;                                          // share
        std::optional<std::uint64_t> words;                          // sent and received since the last sweep
        std::optional<std::pair<std::uint64_t, std::uint64_t>> sent; // words and waits since then
        SeenEnd at;                                                  // where it leads
    };
    struct LinkState {
        std::array<EndState, 2> ends;
        std::uint64_t downs = 0; // of both ends
        bool downs_told = false, was_slow = false, was_moved = false, was_absent = false;
    };

    void take_seen(std::span<const SeenEnd> seen);
    void take_reading(base::Time now, EndState& end, const PortReading& reading) const;
    static void pair_downs(base::Time now, LinkState& link);
    void tell_end(std::size_t link, std::size_t side, std::vector<Signal>& begin, std::vector<Signal>& into);
    void tell_link(std::size_t link, std::vector<Signal>& begin, std::vector<Signal>& into);
    void tell_rails(base::Duration passed, std::vector<Signal>& into);
    void tell_waits(base::Duration passed, std::vector<Signal>& into);
    void tell_unlisted(std::span<const SeenEnd> seen, std::vector<Signal>& into);

    LinkMap map_;
    LinkWaits waits_;
    std::vector<LinkState> links_;
    std::map<std::pair<std::string, int>, bool> uneven_; // rails of units that were uneven at any time
    bool was_unlisted_ = false;
    std::optional<base::Time> last_;
};

} // namespace restart
