// What an XID means for the job and the host: the catalogue as data.
//
// Meanings and actions are those of NVIDIA's XID catalogue ("XID Errors", r565 and later); where monitors
// disagree the row says whom it follows. The driver's own words win for XID 154, whose text names the
// recovery action.
#pragma once

#include "base/clock.hpp"
#include "restart/wire/report.hpp"

#include <cstdint>
#include <span>
#include <string_view>

namespace restart {

struct XidRow {
    std::uint32_t first, last; // codes
    std::string_view meaning;
    std::string_view action; // what an administrator does
    Severity severity;
    // So many of the same code on one GPU within a day: `repeated` instead. 0: repetition says nothing.
    std::uint32_t repeats = 0;
    Severity repeated = Severity::info;
    std::string_view source;
};

std::span<const XidRow> xid_table();

// The row of a code; codes that are not in the catalogue get a row that asks to look it up (warn).
const XidRow& find_xid(std::uint32_t code);

// The severity of XID 154 ("GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset Required)"), by the
// action it changes to; warn when the text does not tell.
Severity recovery_action_severity(std::string_view text);

} // namespace restart
