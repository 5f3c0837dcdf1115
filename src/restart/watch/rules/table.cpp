#include "restart/watch/rules/table.hpp"

#include <vector>

namespace restart {

std::span<const Rule> shipped_rules() {
    static const auto all = [] {
        std::vector<Rule> rules;
        for (const auto part :
             {table::gpu_rules(), table::port_rules(), table::host_rules(), table::log_rules(),
              table::ucx_rules(), table::link_rules(), table::xid_rules()})
            rules.insert(rules.end(), part.begin(), part.end());
        return rules;
    }();
    return all;
}

} // namespace restart
