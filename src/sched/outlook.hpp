// What keeps a job from starting and when it will fit: the sentence for its user. Pure; times are the
// caller's, printed in local time.
//
// The assumptions: each job with a time limit ends at it, no other job ends, drained hosts stay drained,
// nothing new starts. So a moment is the latest at which the job will fit, unless jobs ahead of it in the
// queue take the hosts; the resource manager decides about that.
#pragma once

#include "base/clock.hpp"
#include "base/job_id.hpp"
#include "sched/place.hpp"
#include "sched/say/tally.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sched {

// A job that holds hosts.
struct Holder {
    base::JobId job{};
    std::optional<base::Time> ends; // by its time limit; nullopt: it has none
    std::vector<std::uint32_t> hosts;
    bool named = true; // false: its number must not be shown to readers of the outlook
};

struct Circumstances {
    base::Time now{};
    // A busy or mixed host becomes free when all its holders have ended; one without a known holder stays
    // busy.
    std::vector<Holder> holders;
    Remarks remarks;                     // `wish` is set by outlook()
    std::optional<base::Time> wish_ends; // until then the request's span is a wish; then any place will do
    std::string turn; // the resource manager's reason for waiting: "Priority"; "" if unknown
    std::string held; // what it waits for besides hosts, in the resource manager's terms: "Dependency"; or ""
    std::optional<base::Time> expected_start{}; // planned by the resource manager, later than `now`
};

struct Outlook {
    enum class Kind : std::uint8_t {
        fits,  // now
        later, // at a known moment
        open,  // when jobs without a time limit end, or hosts return
        never
    };
    Kind kind = Kind::never;
    std::string sentence;
    std::optional<base::Time> at; // for fits (now) and later: when it fits
    std::optional<base::JobId>
        job; // for later: the job whose end makes it fit; none: the end of the wish, or of an unnamed job
    std::vector<std::uint32_t> hosts;    // for fits and later: where it would be placed then
    std::optional<base::Time> wish_ends; // while there is a wish
    std::vector<base::JobId>
        unlimited; // for open: jobs without a limit that together make it fit when they end; only named ones
    // What is available now in each part that may hold the job, the fullest first; for a job without a span
    // the units.
    std::vector<std::pair<Part, Tally>> parts;
    std::string part; // the kind of part: "unit"
};

std::string_view to_string(Outlook::Kind kind); // "fits", "later", "open", "never"

// Costs one placement, and about 2 log(jobs) more if it does not fit now. Errors: those of Placer::place,
// except Code::unfit.
base::Expected<Outlook> outlook(const topo::Fabric& fabric, const Placer& placer, const Snapshot& snapshot,
                                const Request& request, const Circumstances& circumstances);

} // namespace sched
