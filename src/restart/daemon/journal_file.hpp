// The journal's file: its tables, what makes it sound, and how one of an earlier version becomes one of this.
// Internal to the journal.
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

// A new journal is made under another name and then renamed: whatever stands under its own name was whole
// once. It is its user's alone: whose jobs and what of them is for restartd to tell.
base::Expected<void> create_journal(const std::filesystem::path& path);

// Whether this is a sound journal of a version that is known; nothing is written before. Errors: Code::input
// with the way out, Code::unavailable where it cannot be read now.
base::Expected<void> check_journal(Database& database, const std::filesystem::path& path);

// Turns one of an earlier version into one of this: all of it or nothing.
base::Expected<void> take_up_journal(Database& database, const std::filesystem::path& path);

base::Expected<void> put_rows(Database& database, const std::vector<StateRow>& rows);

// Times as the tables have them.
inline std::int64_t stamp(base::Time time) {
    return time.time_since_epoch().count();
}
inline base::Time unstamp(std::int64_t number) {
    return base::Time(base::Duration(number));
}

// Errors, with the path in front and the way out behind.
base::Error named(const std::filesystem::path& path, base::Code code, std::string_view text);
base::Error not_understood(const std::filesystem::path& path, const base::Error& error);
std::string truncated_journal();

} // namespace restart
