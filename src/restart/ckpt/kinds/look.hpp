// Which checkpoint of a directory is the newest complete one, as the framework that wrote it would decide: by
// its own pointer or marker, checked against the existing files. A look keeps and changes nothing.
#pragma once

#include "base/ckpt_kind.hpp"
#include "restart/ckpt/kinds/files.hpp"

namespace restart::ckpt::kinds {

using Known = base::CkptLayout;
using Kind = base::CkptKind;

struct Whole {
    std::string name;                    // in the directory; "" if the directory itself is the checkpoint
    std::optional<std::uint64_t> step{}; // if in a name or pointer
    // By the file system's clock: the earliest creation and last-write times among its files, and when it was
    // safe. A file that a program overwrites was created long before.
    base::Time begun{}, changed{}, done{};
    std::uint64_t bytes = 0, files = 0;
    std::uint64_t ranks = 0; // number of ranks that wrote it; 0: not in its names
    bool cut = false;        // it has more files than the limit allows: bytes and files are partial
};

struct Found {
    Kind kind; // as decided for auto; automatic: nothing known was found
    std::optional<Whole> newest{};
    // Why newer candidates, or the one in its place, do not count: "iter_0000300: …", printable, newest
    // first, `most_passed_over` at most.
    std::vector<std::string> passed_over{};
    bool others = false; // there is something other than railckpt's own files
    // While none of these has changed and `settled`, another look would find the same; otherwise only time
    // helps (a file is still growing).
    std::vector<std::string> signs{std::string()};
    bool settled = true;
};

inline constexpr std::size_t most_passed_over = 8;

// Without a pointer file (glob, Lightning), a file whose writers cannot be seen counts as closed if it has
// not changed for this long; a folder always needs this.
inline constexpr base::Duration quiet{10'000};
// Clocks of hosts that share a file system differ: a shard counts as newer than its pointer only beyond this.
inline constexpr base::Duration clocks_differ{2'000};

// `now`: by this host's clock. For kind railckpt, and automatic with railckpt's files, nothing is searched:
// find_latest handles these (published.hpp). Errors: those of Files; they mean "could not look", not "there
// is none".
base::Expected<Found> look(Files& files, const Kind& kind, base::Time now);

} // namespace restart::ckpt::kinds
