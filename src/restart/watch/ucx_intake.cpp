#include "restart/watch/ucx_intake.hpp"

#include <fmt/format.h>

namespace restart {
namespace {

// For a known process; a lower value means that it closed endpoints, or is another process.
std::uint64_t growth(std::uint64_t before, std::uint64_t now) {
    return now >= before ? now - before : 0;
}

// Names of UCX devices: "mlx5_0:1" is a port of an HCA; "memory", "self" and TCP's "lo" are this host; the
// rest are TCP.
bool is_tcp(std::string_view device) {
    return device.find(':') == std::string_view::npos && device != "lo" && device != "memory" &&
           device != "self" && !device.starts_with("cuda") && !device.starts_with("rocm") &&
           !device.starts_with("ze");
}

} // namespace

void UcxIntake::take(std::uint16_t sender, std::span<const std::byte> datagram, base::Time now) {
    const auto message = datagrams_.take(sender, datagram, now);
    if (!message) return;
    auto said = probe::read_ucx_statistics(*message);
    if (!said) return;
    if (last_.size() >= probe::UcxDatagrams::most_senders && !last_.contains(sender))
        last_.erase(last_.begin());
    auto& before = last_[sender];
    if (before.process != said->process) before = {}; // another process has this port now
    std::uint64_t tcp = 0, dropped = 0;
    std::string tcp_words, dropped_words;
    for (const auto& [name, device] : said->devices) {
        const auto known = before.devices.find(name);
        const auto old = known == before.devices.end() ? probe::UcxStatistics::Device{} : known->second;
        if (const auto more = growth(old.sent, device.sent); is_tcp(name) && more > 0) {
            tcp += more;
            tcp_words = fmt::format("process {} over {}", said->process, name);
        }
        if (const auto more = growth(old.dropped, device.dropped); more > 0) {
            dropped += more;
            dropped_words = fmt::format("process {} on rail {}", said->process, name);
        }
    }
    book_.count(job_, tcp, tcp_words, dropped, dropped_words);
    before = *std::move(said);
}

} // namespace restart
