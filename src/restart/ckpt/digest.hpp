// XXH3-128 checksums (xxHash 0.8, seed 0), as 32 lower-case hexadecimal digits, as printed by `xxh128sum`.
//
// They detect torn, truncated and flipped data, but do not protect against an attacker.
#pragma once

#include "base/expected.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace restart::ckpt {

std::string digest(std::string_view bytes);

struct FileDigest {
    std::uint64_t bytes = 0;
    std::string xxh3_128;
};

// Reads `fd` from its position to the end, a MiB at a time. `what` names the file in errors (Code::io).
base::Expected<FileDigest> digest_file(int fd, std::string_view what);

} // namespace restart::ckpt
