#include "restart/wire/fault_class.hpp"

#include <algorithm>
#include <array>

namespace restart {
namespace {

constexpr std::array<std::string_view, 10> class_names{"other",      "gpu_slow",  "link",      "pcie",
                                                       "hca_gone",   "gpu_error", "gpu_stuck", "gpu_gone",
                                                       "gpu_broken", "host_lost"};

} // namespace

std::string_view to_string(FaultClass fault) {
    return class_names.at(static_cast<std::size_t>(fault));
}

FaultClass fault_class(std::string_view name) {
    const auto found = std::find(class_names.begin(), class_names.end(), name);
    return found == class_names.end() ? FaultClass::other
                                      : static_cast<FaultClass>(found - class_names.begin());
}

} // namespace restart
