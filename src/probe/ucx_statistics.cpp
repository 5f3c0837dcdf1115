#include "probe/ucx_statistics.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <fmt/format.h>
#include <string_view>
#include <utility>

namespace probe {
namespace {

using base::Error;
using base::Expected;

// Limits of what UCX itself writes: a class number is a byte, whose last value ends a node's children; node
// names have at most 39 bytes, and a class at most 64 counters that a filter can name. Trees are about five
// levels deep.
constexpr std::uint32_t most_classes = 254, most_counters = 64;
constexpr std::size_t longest_node = 39, deepest = 16, most_devices = 64;
constexpr std::uint8_t end_of_children = 255;

// The classes of nodes that matter here.
enum class Kind { other, interface };
enum class Sum { none, sent, received, dropped };

struct Class {
    Kind kind = Kind::other;
    std::vector<Sum> counters;
};

Sum sum_of(std::string_view type, std::string_view counter) {
    if (type == "uct_ep" && counter.starts_with("bytes_")) return Sum::sent;
    if (type == "uct_iface" && counter == "rx_am_bytes") return Sum::received;
    if (type == "ud_iface" && counter == "rx_drop") return Sum::dropped;
    return Sum::none;
}

// "mlx5_0:1" of "-mlx5_0:1-0x55d607320bb0".
std::string_view device_of(std::string_view node) {
    if (node.starts_with('-')) node.remove_prefix(1);
    return node.substr(0, node.rfind("-0x"));
}

bool is_printable(std::string_view text) {
    return std::all_of(text.begin(), text.end(), [](unsigned char c) { return c >= 0x20 && c < 0x7f; });
}

class Input {
public:
    explicit Input(std::span<const std::byte> bytes) : rest_(bytes), size_(bytes.size()) {}

    // False if fewer bytes are left; error() is set from then on.
    template <class T> bool number(T& into) {
        if (rest_.size() < sizeof into) return fail("it ends too soon");
        std::memcpy(&into, rest_.data(), sizeof into);
        rest_ = rest_.subspan(sizeof into);
        return true;
    }
    bool text(std::string_view& into) {
        std::uint8_t length = 0;
        if (!number(length)) return false;
        if (rest_.size() < length) return fail("it ends within a name");
        into = {reinterpret_cast<const char*>(rest_.data()), length};
        if (!is_printable(into)) return fail("a name is not printable");
        rest_ = rest_.subspan(length);
        return true;
    }
    bool bytes(std::size_t count, std::span<const std::byte>& into) {
        if (rest_.size() < count) return fail("it ends within counters");
        into = rest_.first(count);
        rest_ = rest_.subspan(count);
        return true;
    }
    bool fail(std::string_view what) {
        if (!error_)
            error_ = Error{base::Code::input,
                           fmt::format("UCX statistics: at byte {}: {}", size_ - rest_.size(), what)};
        return false;
    }
    const std::optional<Error>& error() const { return error_; }
    bool empty() const { return rest_.empty(); }

private:
    std::span<const std::byte> rest_;
    std::size_t size_;
    std::optional<Error> error_;
};

bool read_classes(Input& input, std::vector<Class>& classes) {
    std::array<std::uint32_t, 4> head{}; // version, unused, compression, number of classes
    for (auto& word : head)
        if (!input.number(word)) return false;
    if (head[0] != 1) return input.fail("its version is not 1");
    if (head[2] != 0) return input.fail("it is compressed");
    if (head[3] == 0 || head[3] > most_classes) return input.fail("it has too many classes, or none");
    classes.resize(head[3]);
    for (auto& one : classes) {
        std::string_view name, counter;
        std::uint32_t counters = 0;
        if (!input.text(name) || !input.number(counters)) return false;
        if (counters > most_counters) return input.fail("a class has too many counters");
        if (name == "uct_iface") one.kind = Kind::interface;
        for (std::uint32_t i = 0; i < counters; ++i) {
            if (!input.text(counter)) return false;
            one.counters.push_back(sum_of(name, counter));
        }
    }
    return true;
}

// Two bits for each counter give its size in bytes; the counters follow.
bool read_counters(Input& input, const Class& of, UcxStatistics::Device* into) {
    std::span<const std::byte> sizes;
    if (!input.bytes((of.counters.size() + 3) / 4, sizes)) return false;
    for (std::size_t i = 0; i < of.counters.size(); ++i) {
        std::uint16_t small = 0;
        std::uint32_t medium = 0;
        std::uint64_t value = 0;
        switch (std::to_integer<unsigned>(sizes[i / 4]) >> (i % 4 * 2) & 3) {
        case 0: continue;
        case 1:
            if (!input.number(small)) return false;
            value = small;
            break;
        case 2:
            if (!input.number(medium)) return false;
            value = medium;
            break;
        default:
            if (!input.number(value)) return false;
        }
        if (into == nullptr) continue;
        auto* sum = of.counters[i] == Sum::sent       ? &into->sent
                    : of.counters[i] == Sum::received ? &into->received
                    : of.counters[i] == Sum::dropped  ? &into->dropped
                                                      : nullptr;
        // Invalid data must not make a sum overflow.
        if (sum != nullptr) *sum += std::min(value, UINT64_MAX / 4 - std::min(*sum, UINT64_MAX / 4));
    }
    return true;
}

bool read_nodes(Input& input, const std::vector<Class>& classes, UcxStatistics& into) {
    // The device of each open node: its own if it is an interface, else its parent's.
    std::vector<UcxStatistics::Device*> open;
    do {
        std::uint8_t number = 0;
        if (!input.number(number)) return false;
        if (number == end_of_children) {
            if (open.empty()) return input.fail("it has no root");
            open.pop_back();
            continue;
        }
        if (number >= classes.size()) return input.fail("a node has a class that is not there");
        if (open.size() >= deepest) return input.fail("its nodes are too deep");
        std::string_view name;
        if (!input.text(name)) return false;
        if (name.size() > longest_node) return input.fail("a node's name is too long");
        auto* device = open.empty() ? nullptr : open.back();
        if (open.empty()) into.process = name;
        if (classes[number].kind == Kind::interface) {
            const auto called = device_of(name);
            auto found = into.devices.find(called);
            if (found == into.devices.end() && into.devices.size() < most_devices)
                found = into.devices.emplace(called, UcxStatistics::Device{}).first;
            device = found == into.devices.end() ? nullptr : &found->second;
        }
        if (!read_counters(input, classes[number], device)) return false;
        open.push_back(device);
    } while (!open.empty());
    return input.empty() || input.fail("there is more behind its end");
}

constexpr std::array<char, 8> magic{'U', 'C', 'S', 'S', 'T', 'A', 'T', '1'};

// The header of a fragment in memory order, without padding.
struct Head {
    std::uint64_t time = 0;
    std::uint32_t total = 0, offset = 0, size = 0;
};
constexpr std::size_t head_bytes = 28;
constexpr std::size_t whole_fragment = UcxDatagrams::longest - head_bytes;

std::optional<Head> read_head(std::span<const std::byte> datagram) {
    if (datagram.size() < head_bytes || std::memcmp(datagram.data(), magic.data(), magic.size()) != 0)
        return std::nullopt;
    Head head;
    std::memcpy(&head.time, datagram.data() + 8, 8);
    std::memcpy(&head.total, datagram.data() + 16, 4);
    std::memcpy(&head.offset, datagram.data() + 20, 4);
    std::memcpy(&head.size, datagram.data() + 24, 4);
    // All fragments except the last have the maximum size.
    const bool fits = head.total > 0 && head.total <= UcxDatagrams::most_message &&
                      head.offset < head.total && head.offset % whole_fragment == 0 &&
                      datagram.size() == head_bytes + head.size &&
                      head.size == std::min<std::size_t>(whole_fragment, head.total - head.offset);
    return fits ? std::optional(head) : std::nullopt;
}

} // namespace

Expected<UcxStatistics> read_ucx_statistics(std::span<const std::byte> message) {
    Input input(message);
    std::vector<Class> classes;
    UcxStatistics found;
    if (!read_classes(input, classes) || !read_nodes(input, classes, found)) return *input.error();
    return found;
}

std::size_t UcxDatagrams::held() const {
    std::size_t sum = 0;
    for (const auto& [sender, message] : senders_)
        sum += message.bytes.size();
    return sum;
}

// For a message of this size. Called at the start of a message: a sender's messages are seconds apart.
bool UcxDatagrams::has_room(std::size_t bytes, base::Time now) {
    if (held() + bytes > most_held)
        for (auto& [sender, message] : senders_)
            if (now - message.last > fragments) message.bytes = {};
    if (senders_.size() >= most_senders)
        std::erase_if(senders_, [&](const auto& sender) { return now - sender.second.last > patience; });
    return senders_.size() < most_senders && held() + bytes <= most_held;
}

std::optional<std::vector<std::byte>>
UcxDatagrams::take(std::uint16_t sender, std::span<const std::byte> datagram, base::Time now) {
    const auto head = read_head(datagram);
    auto known = senders_.find(sender);
    // Another process may reuse the port with a clock that is behind: it is accepted after a while.
    const bool fresh = head && (known == senders_.end() || head->time > known->second.time ||
                                now - known->second.last > patience);
    if (fresh && known != senders_.end()) known->second.bytes = {};
    if (!head || (fresh && !has_room(head->total, now) &&
                  (known == senders_.end() || held() + head->total > most_held))) {
        ++refused_;
        return std::nullopt;
    }
    if (fresh) {
        auto& message = senders_[sender];
        message.time = head->time;
        message.bytes.assign(head->total, std::byte{});
        message.missing = (head->total + whole_fragment - 1) / whole_fragment;
        message.come.assign(message.missing, false);
    }
    auto& message = senders_[sender];
    const auto number = head->offset / whole_fragment;
    if (head->time != message.time || head->total != message.bytes.size() || message.come[number]) {
        ++refused_;
        return std::nullopt;
    }
    message.last = now;
    message.come[number] = true;
    std::memcpy(message.bytes.data() + head->offset, datagram.data() + head_bytes, head->size);
    if (--message.missing > 0) return std::nullopt;
    // Until the next message only its time is kept.
    message.come.clear();
    return std::exchange(message.bytes, {});
}

} // namespace probe
