// The journal's file: its tables, what makes it valid, and the conversion of earlier versions. Internal to
// the journal.
#pragma once

#include "base/clock.hpp"
#include "base/expected.hpp"
#include "restart/core/store/state_rows.hpp"
#include "restart/daemon/database.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace restart {

// A new journal is made under another name and then renamed: a file under its own name was complete once.
// Only its user can read it: restartd decides who may see jobs, their owners and their data.
base::Expected<void> create_journal(const std::filesystem::path& path);

// Whether this is a valid journal of a known version; nothing is written before. Errors: Code::input with the
// fix, Code::unavailable if it cannot be read now.
base::Expected<void> check_journal(Database& database, const std::filesystem::path& path);

// Converts one of an earlier version: all of it or nothing.
base::Expected<void> take_up_journal(Database& database, const std::filesystem::path& path);

base::Expected<void> put_rows(Database& database, const std::vector<StateRow>& rows);

// Times as the tables have them.
inline std::int64_t stamp(base::Time time) {
    return time.time_since_epoch().count();
}
inline base::Time unstamp(std::int64_t number) {
    return base::Time(base::Duration(number));
}

// Errors, with the path in front and the fix at the end.
base::Error named(const std::filesystem::path& path, base::Code code, std::string_view text);
base::Error not_understood(const std::filesystem::path& path, const base::Error& error);
std::string truncated_journal();

} // namespace restart
