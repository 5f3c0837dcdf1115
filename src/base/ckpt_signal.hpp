// How a job's own program is asked to save before the job is moved: --ckpt-signal, RAIL_CKPT_SIGNAL,
// railckpt's
// --signal.
#pragma once

#include "base/ckpt_kind.hpp"

#include <string>
#include <string_view>
#include <sys/types.h>

namespace base {

struct CkptSignal {
    enum class Way { none, signal, file };
    enum class To { ranks, script, process };
    Way way = Way::none;
    int number = 0; // SIGTERM
    To to = To::ranks;
    pid_t process = 0;  // of To::process
    std::string path{}; // of the file: absolute, at most 4095 bytes, no control characters
    bool operator==(const CkptSignal&) const = default;
};

// "TERM@ranks", "USR1@script", "USR1@4711", "file:/scratch/r7/exit", "none"; also "SIGTERM@ranks". Error
// (Code::usage): "must be …".
Expected<CkptSignal> parse_ckpt_signal(std::string_view text);
std::string to_string(const CkptSignal& signal);
std::string_view signal_name(int number); // "SIGTERM"; of those that parse_ckpt_signal() takes

// What programs of this kind heed themselves: railckpt(1) has the table. None: nothing that is known, or what
// would end them without a checkpoint.
CkptSignal own_signal(CkptLayout layout);

} // namespace base
