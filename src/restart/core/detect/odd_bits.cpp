#include "restart/core/detect/odd_bits.hpp"

#include "restart/core/detect/agreed_checks.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace restart {
namespace {

constexpr std::size_t digits = 16, least_agreeing = 3;

struct Bits {
    std::string_view host, component, digest, kind; // kind: what the digest covers
};

// From its newest idle check; none: it has none, or that found the GPU bad anyway.
std::optional<Bits> bits_of(std::string_view name, const HostState& host, const KnownCheck& known,
                            base::Time now) {
    if (known.check != product_bits) return {};
    const auto last = std::find_if(known.readings.rbegin(), known.readings.rend(),
                                   [](const CheckReading& reading) { return reading.by_us; });
    if (last == known.readings.rend() || last->verdict != CheckVerdict::sound ||
        !still_counts(host, *last, now) || last->says.size() <= digits || last->says[digits] != ':')
        return {};
    const std::string_view says = last->says;
    return Bits{name, known.component, says.substr(0, digits), says.substr(digits)};
}

} // namespace

std::vector<OddBits> odd_bits(const State& state, base::Time now) {
    std::vector<Bits> all;
    std::map<std::string_view, std::map<std::string_view, std::set<std::string_view>>>
        hosts; // by kind and digest
    std::map<std::string_view, std::set<std::string_view>> of_kind;
    for (const auto& [name, host] : state.hosts)
        for (const auto& known : host.checks)
            if (const auto bits = bits_of(name, host, known, now)) {
                all.push_back(*bits);
                hosts[bits->kind][bits->digest].insert(bits->host);
                of_kind[bits->kind].insert(bits->host);
            }
    std::vector<OddBits> odd;
    for (const auto& one : all) {
        const auto& by_digest = hosts[one.kind];
        const auto most =
            std::max_element(by_digest.begin(), by_digest.end(),
                             [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
        const auto agreeing = most->second.size();
        if (one.digest != most->first && agreeing >= least_agreeing &&
            2 * agreeing > of_kind[one.kind].size())
            odd.push_back({one.host, one.component, agreeing});
    }
    return odd;
}

} // namespace restart
