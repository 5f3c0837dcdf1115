// What NCCL's RAS threads report about their job (NCCL User Guide, RAS: since NCCL 2.24, one process on each
// host listens on localhost:28028; its keep-alives consider a process dead that is silent for 60 s). The
// answer is human-readable text: this module reads the lines of its sections Errors and Warnings, as written
// by src/ras/client_support.cc of NCCL 2.24 to 2.30. Unknown lines are skipped.
//
// Any process may listen on that port. Only the kernel can tell which user does: call tcp_listener() before
// and after the query to decide whose answer it is.
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
inline constexpr std::size_t most_ras_items = 1'024; // communicators, and processes in each: more are counted

// A process of the job, as RAS names it.
struct RasProcess {
    std::int64_t rank = -1; // in its communicator; -1: named outside of a communicator
    std::string gpu;        // "6", "6 (NVML 3)"; for several "0-3"; empty: unknown
    std::uint32_t pid = 0;  // 0: unknown
    std::string node;       // address
    bool operator==(const RasProcess&) const = default;
};

// Ranks that are further behind in an operation than most.
struct RasLag {
    std::string operation;   // "AllReduce"
    std::uint64_t most = 0;  // operations launched by most ranks
    std::uint64_t least = 0; // by the last rank
    std::vector<RasProcess> behind;
    bool operator==(const RasLag&) const = default;
};

struct RasCommunicator {
    std::string id;            // "cf264af53edbe986"
    std::uint64_t missing = 0; // ranks that do not answer
    std::vector<RasProcess> missing_ranks;
    bool error = false;               // a rank reported an error
    std::vector<std::string> reports; // of errors: "1 rank reported Remote process exited"
    bool mixed = false;               // its ranks are in different states
    std::vector<RasLag> lags;
    bool operator==(const RasCommunicator&) const = default;
};

struct RasStatus {
    std::string version;                        // "2.27.3"
    std::uint64_t missing = 0;                  // of the job's processes: without an answer,
    std::uint64_t dead = 0;                     // and given up by RAS
    std::vector<RasProcess> lost;               // both, as far as they are named
    std::uint64_t timeouts = 0;                 // while querying its peers
    std::vector<RasCommunicator> communicators; // those with problems
    bool operator==(const RasStatus&) const = default;
};

// Errors (Code::input): not an answer to VERBOSE STATUS, or an incomplete one.
base::Expected<RasStatus> read_ras(std::string_view text);

// Connects to the port on loopback, requests VERBOSE STATUS and reads until the end; `patience` is the limit
// for all of it. Errors: Code::unavailable (no listener, no answer in time), Code::input (not the protocol,
// or more than most_ras_bytes).
base::Expected<std::string> ask_ras(base::Duration patience, std::uint16_t port = ras_port);

// The problems, as at most `most` phrases of at most `longest` bytes each, the worst first. Ranks that lag
// behind are reported only if they have launched nothing since `before`; without `before` they are not
// reported. In a running job, counts differ at any moment.
std::vector<std::string> ras_troubles(const RasStatus& now, const RasStatus* before, std::size_t most,
                                      std::size_t longest);

} // namespace probe
