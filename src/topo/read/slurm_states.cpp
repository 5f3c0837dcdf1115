// Slurm's state words and flags: node_state_string() of slurm_protocol_defs.c (22.05, 24.11) and sinfo(1),
// NODE STATE CODES, long (%T) and compact (%t) forms.
#include "topo/read/slurm_states.hpp"

#include "base/hostlist.hpp"
#include "base/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace topo {
namespace {

using base::Code;
using base::Error;
using base::Expected;
using base::HostState;

struct Word {
    std::string_view word;
    HostState state;
};

constexpr std::array words{
    Word{"idle", HostState::free},
    Word{"powered_down", HostState::free}, // may be powered up for the job
    Word{"pow_dn", HostState::free},
    Word{"cloud", HostState::free},
    Word{"alloc", HostState::busy},
    Word{"allocated", HostState::busy},
    Word{"blocked", HostState::busy},
    Word{"block", HostState::busy},
    Word{"boot", HostState::busy},
    Word{"reboot", HostState::busy},
    Word{"reboot_issued", HostState::busy},
    Word{"reboot_requested", HostState::busy},
    Word{"cancel_reboot", HostState::busy},
    Word{"comp", HostState::busy},
    Word{"completing", HostState::busy},
    Word{"mix", HostState::mixed},
    Word{"mixed", HostState::mixed},
    Word{"npc", HostState::busy},
    Word{"perfctrs", HostState::busy},
    Word{"planned", HostState::busy},
    Word{"plnd", HostState::busy},
    Word{"pow_up", HostState::busy},
    Word{"power_down", HostState::busy},
    Word{"power_up", HostState::busy},
    Word{"powering_down", HostState::busy},
    Word{"powering_up", HostState::busy},
    Word{"reserved", HostState::busy},
    Word{"resv", HostState::busy},
    Word{"resume", HostState::busy},
    Word{"undrain", HostState::busy},
    Word{"drain", HostState::drained},
    Word{"drained", HostState::drained},
    Word{"draining", HostState::drained},
    Word{"drng", HostState::drained},
    Word{"fail", HostState::drained},
    Word{"failg", HostState::drained},
    Word{"failing", HostState::drained},
    Word{"maint", HostState::drained},
    Word{"down", HostState::down},
    Word{"err", HostState::down},
    Word{"error", HostState::down},
    Word{"future", HostState::down},
    Word{"futr", HostState::down},
    Word{"inval", HostState::down},
    Word{"no_respond", HostState::down},
    Word{"unk", HostState::down},
    Word{"unknown", HostState::down},
    Word{"?", HostState::down}, // Slurm prints this for an unnamed state
};

// The least severe state implied by a flag after the word.
std::optional<HostState> flag_state(char flag) {
    switch (flag) {
    case '~': // powered down, and
    case '#': // powering up or being configured: both accept jobs if the word is idle
        return HostState::free;
    case '!': // about to be powered down
    case '%': // powering down
    case '@': // reboot requested
    case '^': // reboot issued
    case '-': // planned for a higher-priority job
    case '+': // also completing a job
        return HostState::busy;
    case '$': return HostState::drained; // in a maintenance reservation
    case '*': return HostState::down;    // does not respond
    default: return std::nullopt;
    }
}

std::vector<std::string_view> fields(std::string_view line) {
    constexpr std::string_view blanks = " \t\r";
    std::vector<std::string_view> out;
    for (;;) {
        const auto first = line.find_first_not_of(blanks);
        if (first == std::string_view::npos) return out;
        line.remove_prefix(first);
        const auto end = std::min(line.find_first_of(blanks), line.size());
        out.push_back(line.substr(0, end));
        line.remove_prefix(end);
    }
}

Expected<StateLine> read_line(const std::vector<std::string_view>& parts) {
    const auto bad = [](std::string text) { return Error{Code::input, std::move(text)}; };
    if (parts.size() < 2) return bad(fmt::format("{}: no state; a line is HOST STATE [HEALTH]", parts[0]));
    if (parts.size() > 3) return bad(fmt::format("{}: more than HOST STATE [HEALTH]", parts[3]));
    StateLine line;
    auto hosts = base::expand_hostlist(parts[0]);
    if (!hosts) return std::move(hosts).error();
    line.hosts = *std::move(hosts);
    const auto state = parse_slurm_state(parts[1]);
    if (!state)
        return bad(fmt::format("{}: not a state of Slurm; see NODE STATE CODES in sinfo(1)", parts[1]));
    line.state = *state;
    if (parts.size() == 3) {
        const auto health = base::parse_number(parts[2]);
        if (!health || *health < 0 || *health > 1)
            return bad(fmt::format("{}: health must be a number from 0 (avoid) to 1 (sound)", parts[2]));
        line.health = static_cast<float>(*health);
    }
    return line;
}

} // namespace

std::optional<HostState> parse_slurm_state(std::string_view text) {
    const auto end = std::min(text.find_first_of("*~#!%$@^-+"), text.size());
    std::string lower(text.substr(0, end));
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    const auto* found =
        std::find_if(words.begin(), words.end(), [&](const Word& w) { return w.word == lower; });
    if (found == words.end()) return std::nullopt;
    auto state = found->state;
    for (auto rest = text.substr(end); !rest.empty(); rest.remove_prefix(1)) {
        if (rest.front() == '+' && rest.size() > 1 && flag_state(rest[1]) == std::nullopt) {
            const auto more = parse_slurm_state(rest.substr(1));
            if (!more) return std::nullopt;
            return std::max(state, *more);
        }
        const auto flagged = flag_state(rest.front());
        if (!flagged) return std::nullopt;
        state = std::max(state, *flagged);
    }
    return state;
}

Expected<void> each_state_line(std::string_view text, std::string_view name,
                               const std::function<void(StateLine)>& line) {
    for (std::size_t number = 1; !text.empty(); ++number) {
        const auto end = std::min(text.find('\n'), text.size());
        const auto parts = fields(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
        if (parts.empty() || parts[0].front() == '#') continue;
        auto read = read_line(parts);
        if (!read) return std::move(read).error().within(fmt::format("{}:{}", name, number));
        line(*std::move(read));
    }
    return {};
}

} // namespace topo
