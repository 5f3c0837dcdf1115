// What anybody may send to the port for UCX's statistics. The input is taken twice: as one message, and as
// datagrams of several senders, each behind its sender's number, the seconds since the one before and its
// length. What is put together keeps its bounds; what is read is written and read back the same.
#include "probe/ucx_datagram_writer.hpp"
#include "probe/ucx_statistics.hpp"

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace {

using probe::UcxDatagrams;
using probe::UcxStatistics;
using Bytes = std::span<const std::byte>;

bool same(const UcxStatistics& a, const UcxStatistics& b) {
    const auto alike = [](const auto& x, const auto& y) {
        return x.first == y.first && x.second.sent == y.second.sent &&
               x.second.received == y.second.received && x.second.dropped == y.second.dropped;
    };
    return a.process == b.process &&
           std::equal(a.devices.begin(), a.devices.end(), b.devices.begin(), b.devices.end(), alike);
}

void hold(bool it_does) {
    if (!it_does) std::abort();
}

void read(Bytes message) {
    const auto said = probe::read_ucx_statistics(message);
    if (!said) return hold(said.error().text.size() < 200);
    const auto printable = [](std::string_view text) {
        return text.size() <= 39 &&
               std::all_of(text.begin(), text.end(), [](unsigned char c) { return c >= 0x20 && c < 0x7f; });
    };
    hold(printable(said->process) && said->devices.size() <= 64);
    bool fits = true; // the writer's names of nodes are longer than the device's, and UCX's have an end
    for (const auto& [name, device] : said->devices) {
        // Two of any of these numbers can be added without a wrap.
        hold(printable(name) && std::max({device.sent, device.received, device.dropped}) <= UINT64_MAX / 4);
        fits = fits && name.size() <= 20;
    }
    if (!fits) return;
    const auto written = probe::ucx_message(*said);
    const auto again = probe::read_ucx_statistics(written);
    hold(again && same(*again, *said));

    // In datagrams, the last first.
    UcxDatagrams datagrams;
    auto parts = probe::ucx_datagrams(written, 1);
    std::reverse(parts.begin(), parts.end());
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const auto whole = datagrams.take(7, parts[i], base::Time{});
        hold(whole.has_value() == (i + 1 == parts.size()));
        if (whole) hold(*whole == written);
    }
    hold(datagrams.refused() == 0 && datagrams.held() == 0);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto input = std::as_bytes(std::span(data, size));
    read(input);

    UcxDatagrams datagrams;
    base::Time now{std::chrono::seconds(1'700'000'000)};
    auto rest = input;
    const auto number = [&rest] {
        const auto value = std::to_integer<std::size_t>(rest.front());
        rest = rest.subspan(1);
        return value;
    };
    while (rest.size() >= 4) {
        const auto sender = static_cast<std::uint16_t>(number());
        now += std::chrono::seconds(number());
        const auto high = number(), low = number();
        const auto datagram = rest.first(std::min(high << 8 | low, rest.size()));
        rest = rest.subspan(datagram.size());
        if (const auto whole = datagrams.take(sender, datagram, now)) {
            hold(!whole->empty() && whole->size() <= UcxDatagrams::most_message);
            read(*whole);
        }
        hold(datagrams.senders() <= UcxDatagrams::most_senders &&
             datagrams.held() <= UcxDatagrams::most_held);
    }
    return 0;
}
