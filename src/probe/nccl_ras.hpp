// What NCCL's RAS threads tell of the job that they belong to (NCCL User Guide, RAS: since NCCL 2.24 one
// process a host listens at localhost:28028; its keep-alives take a process that is silent for 60 s for
// dead). The answer is text for people: what is read here are the lines of its sections Errors and Warnings,
// as src/ras/client_support.cc of NCCL 2.24 to 2.30 writes them. Lines that are not known are passed over.
//
// Any process may listen at that port. Who does is told by the kernel, and whose word it is must be decided
// by that: tcp_listener() before and after asking.
#pragma once

#include "base/clock.hpp"
#include "base/expected.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace probe {

inline constexpr std::uint16_t ras_port = 28'028;
inline constexpr std::size_t most_ras_bytes = 4 << 20; // of an answer
inline constexpr std::size_t most_ras_items = 1'024; // communicators, and processes of each: more are counted

// A process of the job, as RAS names it.
struct RasProcess {
    std::int64_t rank = -1; // in its communicator; -1: named outside of one
    std::string gpu;        // "6", "6 (NVML 3)"; of several "0-3"; empty: not known
    std::uint32_t pid = 0;  // 0: not known
    std::string node;       // address
    bool operator==(const RasProcess&) const = default;
};

// Ranks that have gone less far in an operation than most.
struct RasLag {
    std::string operation;   // "AllReduce"
    std::uint64_t most = 0;  // operations launched by most ranks
    std::uint64_t least = 0; // by the last
    std::vector<RasProcess> behind;
    bool operator==(const RasLag&) const = default;
};

struct RasCommunicator {
    std::string id;            // "cf264af53edbe986"
    std::uint64_t missing = 0; // ranks that do not answer
    std::vector<RasProcess> missing_ranks;
    bool error = false;               // some rank reported one
    std::vector<std::string> reports; // of errors: "1 rank reported Remote process exited"
    bool mixed = false;               // its ranks are in different states
    std::vector<RasLag> lags;
    bool operator==(const RasCommunicator&) const = default;
};

struct RasStatus {
    std::string version;                        // "2.27.3"
    std::uint64_t missing = 0;                  // processes of the job that do not answer,
    std::uint64_t dead = 0;                     // and those that RAS has given up
    std::vector<RasProcess> lost;               // of both, as far as they are named
    std::uint64_t timeouts = 0;                 // while it asked its peers
    std::vector<RasCommunicator> communicators; // those with something to say
    bool operator==(const RasStatus&) const = default;
};

// Errors (Code::input): not the answer to VERBOSE STATUS, or one that was cut.
base::Expected<RasStatus> read_ras(std::string_view text);

// Connects to the port at loopback, asks for VERBOSE STATUS and reads until the end; `patience` is for all of
// it. Errors: Code::unavailable (nobody listens, no answer in time), Code::input (not the protocol, or more
// than most_ras_bytes).
base::Expected<std::string> ask_ras(base::Duration patience, std::uint16_t port = ras_port);

// What is wrong, as phrases of at most `longest` bytes, the worst first; no more than `most`. Of ranks that
// have launched less than others it says so only where they have since `before`, if it is given, not launched
// any more: a job that goes on is at different counts at any moment.
std::vector<std::string> ras_troubles(const RasStatus& now, const RasStatus* before, std::size_t most,
                                      std::size_t longest);

} // namespace probe
