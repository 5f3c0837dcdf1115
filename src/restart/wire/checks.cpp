#include "restart/wire/checks.hpp"

#include "restart/wire/report_fields.hpp"
#include "restart/wire/version.hpp"

namespace restart {

template <class Codec> void fields(Codec& codec, codec::Of<CheckRow> auto& row) {
    codec("host", row.host, 64);
    codec("check", row.check, 64);
    codec("component", row.component, 64);
    codec("verdict", row.verdict);
    codec("value", row.value);
    codec("expected", row.expected);
    codec("fleet", row.fleet);
    codec("before", row.before);
    codec("unit", row.unit, 16);
    codec("says", row.says, 160);
    codec("signs", row.signs, 8);
    codec("at", row.at);
    codec("readings", row.readings);
}

template <class Codec> void fields(Codec& codec, codec::Of<Checks> auto& checks) {
    codec("time", checks.time);
    codec("rows", checks.rows, most_check_rows);
    codec("left_out", checks.left_out);
    codec("hosts", checks.hosts);
}

base::Expected<Checks> Checks::from_json(std::string_view body) {
    return codec::read_versioned<Checks>(body, "these checks");
}
std::string Checks::to_json() const {
    return codec::write_versioned(*this);
}

} // namespace restart
