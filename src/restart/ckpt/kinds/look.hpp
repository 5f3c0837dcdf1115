// Which checkpoint of a directory is the newest whole one, as the framework that wrote it would say: by its
// own pointer or marker, held to the files that stand there. A look keeps nothing and changes nothing.
#pragma once

#include "base/ckpt_kind.hpp"
#include "restart/ckpt/kinds/files.hpp"

namespace restart::ckpt::kinds {

using Known = base::CkptLayout;
using Kind = base::CkptKind;

struct Whole {
    std::string name;                    // in the directory; "" the directory itself is the checkpoint
    std::optional<std::uint64_t> step{}; // where a name or pointer has it
    // By the file system's clock: its first file was made, the first one was last written to, it was safe. A
    // file that a program writes again was made long before.
    base::Time begun{}, changed{}, done{};
    std::uint64_t bytes = 0, files = 0;
    std::uint64_t ranks = 0; // that wrote it; 0: its names do not say
    bool cut = false;        // it has more files than may be looked at: of bytes and files these are a part
};

struct Found {
    Kind kind; // what auto decided; automatic: nothing there is known
    std::optional<Whole> newest{};
    // Of what is newer than it or in its place, why it does not count: "iter_0000300: …", printable, newest
    // first, `most_passed_over` at most.
    std::vector<std::string> passed_over{};
    bool others = false; // something other than railckpt's own is there
    // Another look finds the same while none of these has changed, and `settled`; otherwise only time can
    // tell (a file is still growing).
    std::vector<std::string> signs{std::string()};
    bool settled = true;
};

inline constexpr std::size_t most_passed_over = 8;

// A file without a pointer of its own (glob, Lightning) counts as closed, where writers cannot be seen, when
// it has not changed for so long; a folder always.
inline constexpr base::Duration quiet{10'000};
// Clocks of hosts that write to one file system differ: a shard is newer than its pointer only by more.
inline constexpr base::Duration clocks_differ{2'000};

// `now`: by this host's clock. Of Kind railckpt and automatic with railckpt's files nothing is looked for:
// they are find_latest's (published.hpp). Errors: those of Files; they mean "could not look", not "there is
// none".
base::Expected<Found> look(Files& files, const Kind& kind, base::Time now);

} // namespace restart::ckpt::kinds
