// The result of a check of a part of a host (railcheck(8)), as one line of JSON, and the result of the
// preflight of a job's hosts. Read like a report: every list and text has a bound.
#pragma once

#include "base/expected.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace restart {

enum class CheckVerdict {
    sound,    // as expected
    measured, // without an expectation, so that nothing speaks against it
    warning,  // usable for now: avoid the part where there is a choice
    bad,      // the part must not be used
    not_run   // could not run; says nothing about the part
};
std::string_view to_string(CheckVerdict verdict); // "sound" ... "not run"

struct CheckWord {
    std::string host;      // empty: not of a single host, such as a leaf
    std::string check;     // "disk.write", "net.bandwidth"
    std::string component; // "/scratch", "mlx5_3:1"
    CheckVerdict verdict = CheckVerdict::measured;
    std::optional<double> value{}, expected{}; // in the same unit
    std::string unit{}, says{};

    std::optional<double> share() const; // of the expected value
    bool operator==(const CheckWord&) const = default;
};

// For a host on which all checks of a preflight have ended; its value is how long they took.
inline constexpr std::string_view preflight_ended = "preflight";
// For a host where a preflight continues with NCCL: the number of processes of a gang it has room for, each
// with a GPU and a rail.
inline constexpr std::string_view nccl_places = "nccl.places";

// For a GPU: the bits of its products of random matrices. Its text begins with 16 digits, ": ", and what must
// be the same on every GPU compared: the sizes, the release of cuBLAS, the model.
inline constexpr std::string_view product_bits = "gemm.bits";

// With its newline; overlong texts are cut, so that launchers forward it in one piece.
std::string to_line(CheckWord word);
// Errors (Code::input) name the member.
base::Expected<CheckWord> read_check_word(std::string_view line);

inline constexpr std::size_t most_preflight_words = 256, most_preflight_hosts = 64;

// A job's preflight: the worst results first, as many as fit in a line of a job.
struct Preflight {
    std::vector<std::string> without; // hosts that the job is to leave
    bool requeue = false;             // it waits to be requeued without them: there are no spares
    std::vector<CheckWord> words;
    std::uint32_t level = 0; // of railcheck(8), at which they were checked; 0: not known
    bool operator==(const Preflight&) const = default;
};

// The answer to it.
struct PreflightAdvice {
    bool requeued = false;            // the job is being requeued: it ends at any moment
    std::optional<std::string> stays; // it is not, and why
    bool operator==(const PreflightAdvice&) const = default;
};

// Errors (Code::input): an invalid host name.
base::Expected<void> check(const Preflight& preflight);

} // namespace restart
