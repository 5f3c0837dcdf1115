#include "restart/wire/rates.hpp"

#include "restart/wire/rates_fields.hpp"
#include "restart/wire/version.hpp"

namespace restart {

using base::Expected;

Expected<Rates> Rates::from_json(std::string_view body) {
    return codec::read_versioned<Rates>(body, "these rates");
}
std::string Rates::to_json() const {
    return codec::write_versioned(*this);
}

Expected<Top> Top::from_json(std::string_view body) {
    return codec::read_versioned<Top>(body, "this list");
}
std::string Top::to_json() const {
    return codec::write_versioned(*this);
}

} // namespace restart
