// An error: its kind, and one sentence that the user can act on.
//
// The text names the object, the place (file:line, field, host) and what to do. Each layer may prepend its
// own context with within(): "railtopo: fabric.json: hosts[3].name: …".
#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace base {

enum class Code {
    usage,       // the caller's request makes no sense (exit 2)
    input,       // a file or message cannot be read or understood (exit 2)
    not_found,   // a named object does not exist
    unfit,       // the request is valid but cannot be met (exit 1)
    denied,      // not allowed
    unavailable, // a peer (slurmctld, restartd, munged …) does not answer; may be retried
    io,          // the operating system reported an error
    internal     // a bug in Railyard
};

struct Error {
    Code code = Code::internal;
    std::string text;

    // The same error with "context: " in front.
    Error within(std::string_view context) && {
        text.insert(0, std::string(context) + ": ");
        return std::move(*this);
    }
};

// "what: strerror(number)", Code::io. `number` is an errno value.
Error system_error(std::string_view what, int number);

// A short word for the code, as in JSON bodies and metrics.
std::string_view to_string(Code code);

} // namespace base
