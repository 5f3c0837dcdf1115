#include "sched/lsf/program_path.hpp"

#include "railyard_paths.h"

#include <filesystem>
#include <fmt/format.h>
#include <unistd.h>

namespace sched::lsf {

std::string program_path(std::string_view name) {
    std::error_code failed;
    const auto self = std::filesystem::read_symlink("/proc/self/exe", failed);
    if (!failed)
        if (auto beside = (self.parent_path() / name).string(); ::access(beside.c_str(), X_OK) == 0)
            return beside;
    return fmt::format("{}/{}", BINDIR, name);
}

} // namespace sched::lsf
