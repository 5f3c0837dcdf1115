#include "restart/wire/plan.hpp"

#include "restart/wire/plan_fields.hpp"
#include "restart/wire/version.hpp"

namespace restart {

base::Expected<RecoveryPlan> RecoveryPlan::from_json(std::string_view body) {
    return codec::read_versioned<RecoveryPlan>(body, "this plan");
}
std::string RecoveryPlan::to_json() const {
    return codec::write_versioned(*this);
}

} // namespace restart
