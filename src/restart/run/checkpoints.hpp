// railrun's use of the job's checkpoint directory (RAIL_CKPT_DIR): each launch claims it, so that ranks of
// the previous one can publish nothing more; and the newest checkpoint shows whether launches make progress.
#pragma once

#include "restart/ckpt/options.hpp"
#include "restart/run/command.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>

namespace restart::run {

class Checkpoints {
public:
    explicit Checkpoints(const Lookup& get);

    // RAIL_CKPT_LAUNCH for the next launch; "" without a directory. Errors: those of ckpt::Fence::raise, and
    // Code::usage for the environment: the launch is then made without it.
    base::Expected<std::string> claim();

    // Epoch and step of the newest committed checkpoint, and its path; none: no checkpoint yet, or no
    // directory.
    std::optional<std::pair<std::uint32_t, std::uint64_t>> newest() const;
    std::optional<std::filesystem::path> newest_path() const;

private:
    base::Expected<ckpt::Options> options_;
    bool wanted_; // the job has a directory, in which railckpt publishes
};

} // namespace restart::run
