// restartd's answers about rates and their evidence: the bodies of GET /v1/rates and /v1/top, and the part of
// /v1/explain about a job's interval. As in status.hpp, members that an older restartd leaves out keep their
// defaults.
#pragma once

#include "base/clock.hpp"
#include "base/expected.hpp"
#include "base/job_id.hpp"
#include "restart/wire/return_status.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace restart {

// How often one host fails.
struct FailureStatus {
    base::Duration mtbf{};           // the value used
    base::Duration low{}, high{};    // it lies between these with 80 %
    double dispersion = 1;           // the scatter of the counts relative to independent faults
    std::uint64_t faults = 0;        // of single hosts, in
    double host_hours = 0;           // in use and heard of
    std::uint64_t shared_faults = 0; // of what hosts share: not included in `faults`
    base::Duration prior{};          // the value assumed before,
    double prior_faults = 0;         // with the weight of this many faults
    bool operator==(const FailureStatus&) const = default;
};

// Times seen.
struct TimesStatus {
    std::uint64_t count = 0;
    base::Duration mean{}, median{}, p90{};
    bool operator==(const TimesStatus&) const = default;
};

struct RepairStatus {
    base::Duration mean{};     // the value used: with the prior and repairs under way
    TimesStatus seen;          // of completed repairs
    std::uint64_t ongoing = 0; // under way
    base::Duration prior{};
    bool operator==(const RepairStatus&) const = default;
};

// Hosts kept free for restarts.
struct SpareStatus {
    std::uint32_t hosts = 0;      // of the fabric
    std::uint32_t floor = 0;      // those of them kept free
    std::uint32_t configured = 0; // the number kept free by the configuration alone
    double risk = 0;              // of more than that being in repair
    bool learned = false;         // `floor` is from what was learned; else from the configuration
    bool operator==(const SpareStatus&) const = default;
};

struct FormulaStatus {
    base::Duration interval{};
    double efficiency = 0; // 0 to 1: the share of the time spent on work that is kept
    bool operator==(const FormulaStatus&) const = default;
};

// How long a job's program needs from its start until its first step ends.
struct ProgramStatus {
    base::Duration time{};   // the value used
    std::uint64_t count = 0; // of measured starts of the user's jobs of that name; 0: [restart] restart_time
    bool again = false;      // they were restarts; false: first starts, or none was measured
    std::string name;        // of the job (--job-name)
    bool operator==(const ProgramStatus&) const = default;
};

// How the interval between a job's checkpoints is derived.
struct IntervalStatus {
    base::JobId id{};
    std::string name;
    std::uint32_t hosts = 0;
    base::Duration host_mtbf{}, mtbf{};    // of a host, of the job
    double cost_s = 0;                     // the job is paused for a checkpoint
    double beside_s = 0;                   // and then works on, until it is safe
    base::Duration detection{}, restart{}; // mean times seen; 0: none yet
    ProgramStatus program;                 // from its start until it works
    FormulaStatus exact, young, daly;      // the optimum, and for comparison
    base::Duration interval{};             // the exact one, within bounds
    std::string bound; // "min_interval", "max_interval", "safe" (the next begins when the last is safe), ""
    bool operator==(const IntervalStatus&) const = default;
};

// What is known about all programs.
struct ProgramsStatus {
    base::Duration configured{}; // [restart] restart_time, for programs that are not known
    std::uint64_t names = 0;     // known programs: each a user's and a job's name
    TimesStatus again, first;    // measured restarts, and first starts
    bool operator==(const ProgramsStatus&) const = default;
};

// GET /v1/rates
struct Rates {
    base::Time time{};
    FailureStatus failures;
    RepairStatus repairs;
    TimesStatus detections; // from a fault until the decision
    TimesStatus restarts;   // from the stop of a job, or the decision, until it ran again
    ProgramsStatus programs;
    std::optional<SpareStatus> spares; // none: no fabric file
    std::vector<IntervalStatus> jobs;  // whose checkpoint cost is known

    static base::Expected<Rates> from_json(std::string_view body);
    std::string to_json() const;
    bool operator==(const Rates&) const = default;
};

struct HostFaultStatus {
    base::Time time{};
    std::string what;
    bool operator==(const HostFaultStatus&) const = default;
};

// A host that has failed.
struct LemonStatus {
    std::string name;
    double score = 0;                    // faults, each worth half as much after [learning] lemon_half_life
    std::vector<HostFaultStatus> faults; // oldest first
    bool in_use = false;
    std::optional<ReturnStatus> repair;
    bool operator==(const LemonStatus&) const = default;
};

// A job that has lost time to faults.
struct LossStatus {
    base::JobId id{};
    std::string name;
    std::uint32_t uid = 0;
    std::uint32_t hosts = 0;
    std::uint32_t requeues = 0; // by restartd
    double host_hours = 0;      // work lost and time until it ran again, times its hosts
    bool operator==(const LossStatus&) const = default;
};

// GET /v1/top
struct Top {
    base::Time time{};
    base::Duration half_life{};     // [learning] lemon_half_life
    std::vector<LemonStatus> hosts; // the highest score first
    std::vector<LossStatus> jobs;   // in the queue; the most lost first

    static base::Expected<Top> from_json(std::string_view body);
    std::string to_json() const;
    bool operator==(const Top&) const = default;
};

} // namespace restart
