// What operators ask of restartd, what it says to that, and how it refuses.
#pragma once

#include "base/expected.hpp"

#include <string>
#include <string_view>

namespace restart {

// POST /v1/drain
struct DrainRequest {
    std::string host;
    std::string reason; // for whoever finds the host drained

    static base::Expected<DrainRequest> from_json(std::string_view body);
    std::string to_json() const;
};

// POST /v1/resume
struct ResumeRequest {
    std::string host;

    static base::Expected<ResumeRequest> from_json(std::string_view body);
    std::string to_json() const;
};

// The answer to both: 202.
struct Accepted {
    std::string incident; // that carries it out: "i-7"

    static base::Expected<Accepted> from_json(std::string_view body);
    std::string to_json() const;
};

// The body of every status that is not 2xx.
struct Refused {
    std::string code; // a word: "unauthenticated", "unknown_host"
    std::string text; // for people

    static base::Expected<Refused> from_json(std::string_view body);
    std::string to_json() const;
};

} // namespace restart
