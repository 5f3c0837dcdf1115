#include "restart/ckpt/digest.hpp"

// Compiled in, so that programs linked with librailckpt need no xxHash library.
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <fmt/format.h>

#include <cerrno>
#include <memory>
#include <unistd.h>
#include <vector>

namespace restart::ckpt {
namespace {

std::string hex(XXH128_hash_t hash) {
    return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

} // namespace

std::string digest(std::string_view bytes) {
    return hex(XXH3_128bits(bytes.data(), bytes.size()));
}

base::Expected<FileDigest> digest_file(int fd, std::string_view what) {
    const std::unique_ptr<XXH3_state_t, XXH_errorcode (*)(XXH3_state_t*)> state(XXH3_createState(),
                                                                                XXH3_freeState);
    if (!state) return base::system_error(what, ENOMEM);
    XXH3_128bits_reset(state.get());
    std::vector<char> block(std::size_t{1} << 20);
    FileDigest result;
    for (;;) {
        const auto n = ::read(fd, block.data(), block.size());
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return base::system_error(what, errno);
        if (n == 0) break;
        XXH3_128bits_update(state.get(), block.data(), static_cast<std::size_t>(n));
        result.bytes += static_cast<std::uint64_t>(n);
    }
    result.xxh3_128 = hex(XXH3_128bits_digest(state.get()));
    return result;
}

} // namespace restart::ckpt
