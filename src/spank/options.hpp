// The plugin's settings and their sources. Pure: no SPANK, no environment of its own.
//
// A value from the command line overrides one from the environment, which overrides one from plugstack.conf's
// arguments, in whatever order they arrive.
#pragma once

#include "base/expected.hpp"
#include "sched/ask/hints.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace spank {

enum class Origin : std::uint8_t { unset, arguments, environment, command_line };

// One flag. Flags for slurmctld are sched::hint_flags(), with the value syntax of sched::set_hint. rail-bind
// (binding.hpp), rail-ucx (preload.hpp) and rail-preflight (sched/ask/preflight_wish.hpp) only concern the
// hosts of the job.
struct Flag {
    const char* name;     // "rail-span"
    const char* variable; // "RAIL_SPAN": see sched::hint_variable
    const char* arginfo;  // "unit|pod|fabric", as shown by --help
    const char* usage;    // one line for --help
    bool for_slurmctld;
};
inline constexpr std::size_t flag_count = 14;
std::span<const Flag> flags();
std::size_t flag_index(std::string_view name); // of an existing flag

class Options {
public:
    Options();

    // "name=value" from plugstack.conf: a flag's name, or socket, run, fsroot, ucx, railrun, railcheck or
    // railckpt, whose values are absolute paths. Errors (Code::usage) name the argument.
    base::Expected<void> set_argument(std::string_view argument);

    // Sets a flag by its index in flags(). Errors (Code::usage): those of sched::set_hint and parse_bind.
    base::Expected<void> set_flag(std::size_t flag, std::string_view value);

    // Takes RAIL_SPAN and so on if `get` finds them and they are not empty. An invalid value is kept, so that
    // slurmctld also rejects the job, and returned as an error (Code::usage).
    base::Expected<void> read_environment(const std::function<const char*(const char*)>& get);

    // The value of flags()[flag]; empty: unset.
    const std::string& value(std::size_t flag) const { return values_[flag].text; }
    Origin origin(std::size_t flag) const { return values_[flag].origin; }

    // Paths on a host: "%n" becomes the node's name, "%%" a percent sign.
    std::string socket(std::string_view node) const;      // of nodewatchd
    std::string run_folder(std::string_view node) const;  // for files that jobs read
    std::string fsroot(std::string_view node) const;      // contains sys/ and proc/; empty: of this machine
    std::string ucx_library(std::string_view node) const; // librailucx.so
    std::string railrun(std::string_view node) const;
    std::string railcheck(std::string_view node) const; // empty: railrun's default
    std::string railckpt(std::string_view node) const;

private:
    struct Value {
        std::string text;
        Origin origin = Origin::unset;
    };
    void keep(std::size_t flag, std::string_view text, Origin origin);

    std::array<Value, flag_count> values_; // in the order of flags()
    std::string socket_ = "/run/railyard/job.sock";
    std::string run_folder_ = "/run/railyard";
    std::string fsroot_;
    std::string ucx_library_;
    std::string railrun_, railcheck_, railckpt_;
};

// Settings that the user may not have intended, one sentence each: printed at submission, never a reason to
// reject the job. `is_there` reports whether this host has the directory.
std::vector<std::string> doubts(const Options& options,
                                const std::function<bool(const std::string&)>& is_there);

} // namespace spank
