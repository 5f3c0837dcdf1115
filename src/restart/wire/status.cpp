#include "restart/wire/status.hpp"

#include "restart/wire/status_fields.hpp"
#include "restart/wire/version.hpp"

namespace restart {

using base::Expected;

Expected<Status> Status::from_json(std::string_view body) {
    return codec::read_versioned<Status>(body, "this status");
}
std::string Status::to_json() const {
    return codec::write_versioned(*this);
}

Expected<JobExplanation> JobExplanation::from_json(std::string_view body) {
    return codec::read_versioned<JobExplanation>(body, "this explanation");
}
std::string JobExplanation::to_json() const {
    return codec::write_versioned(*this);
}

Expected<HostExplanation> HostExplanation::from_json(std::string_view body) {
    return codec::read_versioned<HostExplanation>(body, "this explanation");
}
std::string HostExplanation::to_json() const {
    return codec::write_versioned(*this);
}

std::string TimelineEntry::to_json() const {
    return codec::write(*this);
}

Expected<History> History::from_json(std::string_view body) {
    return codec::read_versioned<History>(body, "this history");
}
std::string History::to_json() const {
    return codec::write_versioned(*this);
}

} // namespace restart
