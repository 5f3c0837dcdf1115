#include "spank/options.hpp"

#include <fmt/format.h>

namespace spank {
namespace {

constexpr std::array<Flag, flag_count> table = {{
    {"rail-span", "RAIL_SPAN", "unit|pod|fabric[@WAIT]",
     "keep the job's nodes within one unit or pod of the fabric, with @WAIT for so long only"},
    {"rail-segment", "RAIL_SEGMENT", "N", "groups of N nodes stay within one unit each"},
    {"rail-spares", "RAIL_SPARES", "K", "K of the job's nodes stand by as spares"},
    {"rail-order", "RAIL_ORDER", "ring|tree|none", "order of the nodes' ranks (default ring)"},
    {"ckpt-dir", "RAIL_CKPT_DIR", "DIR", "absolute directory of the job's checkpoints"},
    {"restart", "RAIL_RESTART", "auto|never",
     "start the job again from its last checkpoint when a host fails"},
}};

} // namespace

std::span<const Flag> flags() {
    return table;
}

void Options::keep(std::size_t flag, std::string_view text, Origin origin) {
    if (origin < values_[flag].origin) return;
    values_[flag] = {std::string(text), origin};
}

base::Expected<void> Options::set_argument(std::string_view argument) {
    const auto equals = argument.find('=');
    const auto name = argument.substr(0, equals);
    const auto text = equals == std::string_view::npos ? std::string_view() : argument.substr(equals + 1);
    if (name == "socket") {
        if (!text.starts_with('/'))
            return base::Error{base::Code::usage, fmt::format("socket={}: must be an absolute path", text)};
        socket_ = text;
        return {};
    }
    for (std::size_t i = 0; i < table.size(); ++i) {
        if (name != table[i].name) continue;
        sched::Hints checked;
        if (auto set = sched::set_hint(checked, name, text); !set)
            return base::Error{base::Code::usage, set.error().text.substr(2)}; // an argument has no "--"
        keep(i, text, Origin::arguments);
        return {};
    }
    return base::Error{base::Code::usage, fmt::format("{}: no such argument; there are socket, {}", argument,
                                                      fmt::join(sched::hint_flags(), ", "))};
}

base::Expected<void> Options::set_flag(std::size_t flag, std::string_view value) {
    sched::Hints checked;
    if (auto set = sched::set_hint(checked, table[flag].name, value); !set) return set;
    keep(flag, value, Origin::command_line);
    return {};
}

base::Expected<void> Options::read_environment(const std::function<const char*(const char*)>& get) {
    base::Expected<void> result;
    for (std::size_t i = 0; i < table.size(); ++i) {
        const char* text = get(table[i].variable);
        if (text == nullptr || *text == '\0' || values_[i].origin == Origin::command_line) continue;
        keep(i, text, Origin::environment);
        sched::Hints checked;
        if (auto set = sched::set_hint(checked, table[i].name, text); !set && result)
            result = std::move(set).error().within(fmt::format("{} in the environment", table[i].variable));
    }
    return result;
}

std::string Options::socket(std::string_view node) const {
    std::string out;
    for (std::size_t i = 0; i < socket_.size(); ++i) {
        const char next = socket_[i] == '%' && i + 1 < socket_.size() ? socket_[i + 1] : '\0';
        if (next == 'n')
            out += node;
        else if (next == '%')
            out += '%';
        else {
            out += socket_[i];
            continue;
        }
        ++i;
    }
    return out;
}

} // namespace spank
