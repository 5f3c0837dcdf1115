// Operators' requests to restartd, its answers, and its refusals.
#pragma once

#include "base/clock.hpp"
#include "base/expected.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace restart {

// POST /v1/drain
struct DrainRequest {
    std::string host;
    std::string reason; // shown to users who find the host drained

    static base::Expected<DrainRequest> from_json(std::string_view body);
    std::string to_json() const;
};

// POST /v1/resume
struct ResumeRequest {
    std::string host;

    static base::Expected<ResumeRequest> from_json(std::string_view body);
    std::string to_json() const;
};

// POST /v1/pause
struct PauseRequest {
    std::string hosts;                   // "n[001-004]"; empty: all
    std::optional<base::Duration> lasts; // none: default_pause
    std::string reason;

    static base::Expected<PauseRequest> from_json(std::string_view body);
    std::string to_json() const;
};
inline constexpr base::Duration default_pause{8 * 3'600'000}; // so that it is not forgotten

// POST /v1/go
struct GoRequest {
    std::string hosts; // "n[001-004]"; empty: every pause ends

    static base::Expected<GoRequest> from_json(std::string_view body);
    std::string to_json() const;
};

// The answer to drain and resume: 202. Pause and go are answered like GET /v1/plan.
struct Accepted {
    std::string incident; // that carries it out: "i-7"

    static base::Expected<Accepted> from_json(std::string_view body);
    std::string to_json() const;
};

// The body of every status that is not 2xx.
struct Refused {
    std::string code;      // a word: "unauthenticated", "unknown_host", "standby"
    std::string text;      // for display
    std::string primary{}; // for "standby": where the primary is, by its own statement; empty: not known

    static base::Expected<Refused> from_json(std::string_view body);
    std::string to_json() const;
};

} // namespace restart
