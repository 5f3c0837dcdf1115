// What a job's user reads in its comment after a requeue.

#include "restart/core/decide/decide.hpp"

#include <fmt/format.h>

namespace restart {
namespace {

constexpr std::size_t most_cause = 80; // a column of the queue

std::string cause_of(const Incident& incident) {
    return fmt::format("{}: {}", incident.id(), state_text(incident.what, most_cause));
}

} // namespace

std::string from_where(const JobState& job) {
    return job.commit ? fmt::format("from step {}", job.commit->step) : std::string("from its beginning");
}

std::string requeued_comment(const Incident& incident, const JobState& job) {
    const auto without = incident.host.empty() ? std::string() : " without " + incident.host;
    const bool unknown = job.rm.failure && job.rm.failure->unknown;
    const auto what = job.rm.forgotten
                          ? fmt::format("job {} again,{}", name_of(job.rm),
                                        unknown ? " held in case its user had cancelled it," : "")
                          : std::string("requeued");
    return fmt::format("{} {}{} ({})", what, from_where(job), without, cause_of(incident));
}

std::string held_comment(const Incident& incident, std::string_view why) {
    return fmt::format("held: {} ({})", why, cause_of(incident));
}

} // namespace restart
