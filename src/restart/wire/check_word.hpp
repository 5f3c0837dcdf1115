// What a check said of a part of a host (railcheck(8)), as one line of JSON, and what the preflight of a
// job's hosts came to. Read as a report is: every list and text has a bound.
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
    measured, // nothing is expected of it, so that nothing is said against it
    warning,  // sound for now: avoid the part where there is a choice
    bad,      // the part must not be used
    not_run   // could not be tried; says nothing of the part
};
std::string_view to_string(CheckVerdict verdict); // "sound" ... "not run"

struct CheckWord {
    std::string host;      // empty: it is of no single host, as a leaf is
    std::string check;     // "disk.write", "net.bandwidth"
    std::string component; // "/scratch", "mlx5_3:1"
    CheckVerdict verdict = CheckVerdict::measured;
    std::optional<double> value{}, expected{}; // in the same unit
    std::string unit{}, says{};

    std::optional<double> share() const; // of what is expected
    bool operator==(const CheckWord&) const = default;
};

// Of a host on which all checks of a preflight have ended; its value is how long they took.
inline constexpr std::string_view preflight_ended = "preflight";
// Of a host where a preflight is to go on with NCCL: how many processes of a gang it has place for, a GPU and
// a rail each.
inline constexpr std::string_view nccl_places = "nccl.places";

// Of a GPU: which bits its products of random matrices have. What it says begins with 16 digits, ": ", and of
// what these are the same on every GPU: the sizes, the release of cuBLAS, the model.
inline constexpr std::string_view product_bits = "gemm.bits";

// With its newline; texts that are too long are cut, so that launchers pass it on in one piece.
std::string to_line(CheckWord word);
// Errors (Code::input) name the member.
base::Expected<CheckWord> read_check_word(std::string_view line);

inline constexpr std::size_t most_preflight_words = 256, most_preflight_hosts = 64;

// A job's preflight: the worst words first, as many as a line of a job has room for.
struct Preflight {
    std::vector<std::string> without; // hosts that the job is to leave
    bool requeue = false;             // it waits to be requeued without them: no spares can take their place
    std::vector<CheckWord> words;
    std::uint32_t level = 0; // of railcheck(8), at which they were tried; 0: not known
    bool operator==(const Preflight&) const = default;
};

// What it hears.
struct PreflightAdvice {
    bool requeued = false;            // the job is being requeued: it ends any moment
    std::optional<std::string> stays; // it is not, and why
    bool operator==(const PreflightAdvice&) const = default;
};

// Errors (Code::input): a host's name that is none.
base::Expected<void> check(const Preflight& preflight);

} // namespace restart
