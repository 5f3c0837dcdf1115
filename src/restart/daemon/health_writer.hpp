// Keeps the health file (base/host_health.hpp) for placement.
#pragma once

#include "base/host_health.hpp"

#include <filesystem>
#include <optional>
#include <string>

namespace restart {

class HealthWriter {
public:
    // Writes the file when its content (except the time) or `path` differs from the last time, or when it is
    // time to confirm that they still hold. A failure is logged once and tried again at the next call.
    void write(const std::filesystem::path& path, base::HealthFile next);

private:
    std::filesystem::path path_;
    std::optional<base::HealthFile> last_; // as it is in the file
    std::string error_;                    // the last one logged
};

} // namespace restart
