#include "probe/ucx_datagram_writer.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>

namespace probe {
namespace {

class Output {
public:
    template <class T> void number(T value) {
        const auto at = bytes.size();
        bytes.resize(at + sizeof value);
        std::memcpy(bytes.data() + at, &value, sizeof value);
    }
    void raw(std::string_view text) {
        const auto at = bytes.size();
        bytes.resize(at + text.size());
        std::memcpy(bytes.data() + at, text.data(), text.size());
    }
    void text(std::string_view text) {
        const auto part = text.substr(0, 255);
        number(static_cast<std::uint8_t>(part.size()));
        raw(part);
    }
    // Writes each counter in as few bytes as it needs.
    void counters(const std::vector<std::uint64_t>& values) {
        std::vector<std::uint8_t> sizes((values.size() + 3) / 4);
        for (std::size_t i = 0; i < values.size(); ++i) {
            const unsigned size = values[i] == 0            ? 0
                                  : values[i] <= UINT16_MAX ? 1
                                  : values[i] <= UINT32_MAX ? 2
                                                            : 3;
            sizes[i / 4] = static_cast<std::uint8_t>(sizes[i / 4] | size << (i % 4 * 2));
        }
        for (const auto size : sizes)
            number(size);
        for (const auto value : values)
            if (value == 0)
                continue;
            else if (value <= UINT16_MAX)
                number(static_cast<std::uint16_t>(value));
            else if (value <= UINT32_MAX)
                number(static_cast<std::uint32_t>(value));
            else
                number(value);
    }
    std::vector<std::byte> bytes;
};

enum : std::uint8_t { root_level, interface_level, endpoint_level, datagrams_level, end_of_level = 255 };

void type(Output& out, std::string_view name, std::initializer_list<std::string_view> counters) {
    out.text(name);
    out.number(static_cast<std::uint32_t>(counters.size()));
    for (const auto counter : counters)
        out.text(counter);
}

} // namespace

std::vector<std::byte> ucx_message(const UcxStatistics& said) {
    Output out;
    for (const std::uint32_t word : {1U, 0U, 0U, 4U})
        out.number(word);
    type(out, "", {});
    type(out, "uct_iface", {"rx_am", "rx_am_bytes", "tx_no_desc", "flush", "flush_wait", "fence"});
    type(out, "uct_ep", {"am", "bytes_short", "bytes_bcopy", "bytes_zcopy", "no_res"});
    type(out, "ud_iface", {"rx_drop"});
    out.number(std::uint8_t{root_level});
    out.text(said.process);
    out.counters({});
    for (const auto& [name, device] : said.devices) {
        out.number(std::uint8_t{interface_level});
        out.text("-" + name + "-0x55d607320bb0");
        out.counters({device.received > 0 ? 1U : 0U, device.received, 0, 0, 0, 0});
        out.number(std::uint8_t{endpoint_level});
        out.text("-0x55d607332970");
        out.counters({device.sent > 0 ? 1U : 0U, device.sent / 2, device.sent - device.sent / 2, 0, 7});
        out.number(std::uint8_t{end_of_level});
        out.number(std::uint8_t{datagrams_level});
        out.text("-0x55d607320bb0");
        out.counters({device.dropped});
        out.number(std::uint8_t{end_of_level});
        out.number(std::uint8_t{end_of_level});
    }
    out.number(std::uint8_t{end_of_level});
    return std::move(out.bytes);
}

std::vector<std::vector<std::byte>> ucx_datagrams(std::span<const std::byte> message, std::uint64_t time) {
    constexpr std::size_t most = UcxDatagrams::longest - 28;
    std::vector<std::vector<std::byte>> all;
    for (std::size_t at = 0; at < message.size(); at += most) {
        const auto part = message.subspan(at, std::min(most, message.size() - at));
        Output out;
        out.raw("UCSSTAT1");
        out.number(time);
        for (const auto word : {message.size(), at, part.size()})
            out.number(static_cast<std::uint32_t>(word));
        out.bytes.insert(out.bytes.end(), part.begin(), part.end());
        all.push_back(std::move(out.bytes));
    }
    return all;
}

} // namespace probe
