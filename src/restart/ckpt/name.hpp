// The names inside a checkpoint directory.
//
//   DIR/ckpt-E0001-S000000000400    a committed checkpoint: epoch 1, step 400
//   DIR/.stage-E0001-S000000000400  the same while it is written
//   DIR/.trash-E0001-S000000000400  the same while it is removed
//   DIR/epoch, DIR/.lock, DIR/.writer-E0001  see fence.hpp
#pragma once

#include "base/expected.hpp"

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace restart::ckpt {

inline constexpr std::uint64_t max_step = 999'999'999'999;
inline constexpr std::uint32_t max_epoch = 9999;
inline constexpr std::string_view published_prefix = "ckpt-";
inline constexpr std::string_view stage_prefix = ".stage-";
inline constexpr std::string_view trash_prefix = ".trash-";
inline constexpr std::string_view manifest_name = "MANIFEST.json";

// Newest = greatest: a later incarnation's checkpoints supersede all of the earlier ones.
struct Id {
    std::uint32_t epoch = 0;
    std::uint64_t step = 0;
    auto operator<=>(const Id&) const = default;
};

// prefix + "E0001-S000000000400"
std::string to_name(std::string_view prefix, const Id& id);

// The reverse; nullopt for any other name, such as one with fewer digits.
std::optional<Id> parse_name(std::string_view prefix, std::string_view name);

// Whether `name` is a valid path below a checkpoint ("rank-0.bin", "layer/7.pt"). Rejected (Code::input):
// empty, absolute, with an empty, "." or ".." component, with control characters, longer than 4095 bytes, or
// not UTF-8.
base::Expected<void> check_file_name(std::string_view name);

// The name under which NFS keeps a removed file while a process has it open; it disappears later.
bool is_nfs_leftover(std::string_view name);

} // namespace restart::ckpt
