// What keeps a job from starting and when it will fit: the sentence for its user. Pure; times are the
// caller's, printed in local time.
//
// The assumptions: each job that has a time limit ends at it, no other job ends, drained hosts stay drained,
// nothing new starts. So a moment is the latest at which the job will fit, unless jobs ahead of it in the
// queue take the hosts, which the resource manager decides.
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
    bool named = true; // false: its number is not for those who read the outlook
};

struct Circumstances {
    base::Time now{};
    // A busy or mixed host becomes free when every holder of it has ended; one that no holder names stays.
    std::vector<Holder> holders;
    Remarks remarks;                     // `wish` is set by outlook()
    std::optional<base::Time> wish_ends; // until then the request's span is a wish; then any place will do
    std::string turn; // what the resource manager says the job waits for: "Priority"; "" when unknown
    std::string held; // what it waits for beside hosts, in the resource manager's words: "Dependency"; or ""
    std::optional<base::Time> expected_start{}; // by the resource manager's plan, later than `now`
};

struct Outlook {
    enum class Kind : std::uint8_t {
        fits,  // now
        later, // at a moment that is known
        open,  // when jobs end that have no time limit, or hosts return
        never
    };
    Kind kind = Kind::never;
    std::string sentence;
    std::optional<base::Time> at; // of fits (now) and later: when it fits
    std::optional<base::JobId>
        job; // of later: whose end makes it fit; none: the end of the wish, or of one not named
    std::vector<std::uint32_t> hosts;    // of fits and later: where it would go then
    std::optional<base::Time> wish_ends; // while there is a wish
    std::vector<base::JobId>
        unlimited; // of open: jobs without a limit whose ends together make it fit, the named
    // What there is now in each part that may hold the job, the fullest first; of a job without a span the
    // units.
    std::vector<std::pair<Part, Tally>> parts;
    std::string part; // what they are: "unit"
};

std::string_view to_string(Outlook::Kind kind); // "fits", "later", "open", "never"

// Costs one placement, and about 2 log(jobs) more when it does not fit now. Errors: Placer::place's, but for
// Code::unfit.
base::Expected<Outlook> outlook(const topo::Fabric& fabric, const Placer& placer, const Snapshot& snapshot,
                                const Request& request, const Circumstances& circumstances);

} // namespace sched
