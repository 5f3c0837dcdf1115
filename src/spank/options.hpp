// The plugin's settings and where each came from. Pure: no SPANK, no environment of its own.
//
// A value from the command line beats one from the environment, which beats one from plugstack.conf's
// arguments, in whatever order they arrive.
#pragma once

#include "base/expected.hpp"
#include "sched/hints.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace spank {

enum class Origin : std::uint8_t { unset, arguments, environment, command_line };

// One flag; the spellings of its value are those of sched::set_hint.
struct Flag {
    const char* name;     // "rail-span"
    const char* variable; // "RAIL_SPAN": see sched::hint_variable
    const char* arginfo;  // "unit|pod|fabric", as --help shows it
    const char* usage;    // one line for --help
};
inline constexpr std::size_t flag_count = 6;
std::span<const Flag> flags();

class Options {
public:
    // "name=value" from plugstack.conf: a flag's name, or socket. Errors (Code::usage) name the argument.
    base::Expected<void> set_argument(std::string_view argument);

    // A flag given by its index in flags(). Errors (Code::usage) as sched::set_hint.
    base::Expected<void> set_flag(std::size_t flag, std::string_view value);

    // Takes RAIL_SPAN and so on where `get` knows them and they are not empty. A bad value is kept, so that
    // slurmctld refuses the job as well, and is the error (Code::usage).
    base::Expected<void> read_environment(const std::function<const char*(const char*)>& get);

    // The value of flags()[flag]; empty: unset.
    const std::string& value(std::size_t flag) const { return values_[flag].text; }
    Origin origin(std::size_t flag) const { return values_[flag].origin; }

    // The socket of nodewatchd on a host: "%n" becomes the node's name, "%%" a percent sign.
    std::string socket(std::string_view node) const;

private:
    struct Value {
        std::string text;
        Origin origin = Origin::unset;
    };
    void keep(std::size_t flag, std::string_view text, Origin origin);

    std::array<Value, flag_count> values_; // as flags()
    std::string socket_ = "/run/railyard/job.sock";
};

} // namespace spank
