// A made-up fabric for tests: the links of a file, what sweeps see of them, and counters that a test plants.
#pragma once

#include "restart/watch/fabric/link_judge.hpp"
#include "topo/synth/synth.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace restart {

class Links {
public:
    // Two pods of two units of four hosts with four rails each; 400 Gb/s.
    Links();

    // One sweep later.
    std::vector<LinkFinding> sweep();
    // Sweeps for that long; the findings of the last one.
    std::vector<LinkFinding> run(base::Duration time);

    // The two ends of a link: of a host's HCA with its leaf (0: the host's), of a leaf with a spine.
    struct At {
        std::size_t link = 0;
        PortReading& near;
        PortReading& far;
        SeenEnd& near_seen;
        SeenEnd& far_seen;
    };
    At host_link(std::string_view host, int rail);
    At uplink(std::string_view leaf);

    // Counters of all bytes that a port has sent and received grow by so many 4-octet words each sweep.
    void traffic(std::string_view unit, int rail, std::uint64_t words);

    topo::Fabric file;
    std::vector<PortReading> readings;
    std::vector<SeenEnd> seen;
    base::Duration interval{5'000};
    base::Time now{std::chrono::seconds(1'700'000'000)};
    LinkJudge judge;

private:
    At at(std::size_t link, std::size_t near);
    struct Flow {
        std::size_t reading;
        std::uint64_t words;
    };
    std::vector<Flow> flows_;
};

inline std::uint64_t& counter(PortReading& reading, PortCounter which) {
    return reading.values[static_cast<std::size_t>(which)];
}

inline std::optional<LinkFinding> find(const std::vector<LinkFinding>& findings, std::string_view rule) {
    for (const auto& finding : findings)
        if (finding.rule == rule) return finding;
    return std::nullopt;
}

} // namespace restart
