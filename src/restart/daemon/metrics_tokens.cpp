#include "restart/daemon/metrics_tokens.hpp"

#include "base/file.hpp"
#include "restart/wire/munge_auth.hpp"

#include <fmt/format.h>
#include <openssl/crypto.h>

#include <algorithm>
#include <cerrno>
#include <sys/stat.h>

namespace restart {
namespace {

constexpr std::size_t shortest = 16;

base::Error wrong(const std::filesystem::path& path, std::string_view why) {
    return {base::Code::input, fmt::format("restartd.metrics_token: {}: {}", path.string(), why)};
}

} // namespace

base::Expected<MetricsTokens> MetricsTokens::read(const std::filesystem::path& path) {
    MetricsTokens tokens;
    if (path.empty()) return tokens;
    struct stat about {};
    if (::stat(path.c_str(), &about) != 0) return wrong(path, base::system_error("stat", errno).text);
    if ((about.st_mode & S_IRWXO) != 0) return wrong(path, "everybody can read or change it: chmod o= it");
    const auto text = base::read_file(path, 64 << 10);
    if (!text) return wrong(path, text.error().text);
    for (std::string_view rest = *text; !rest.empty();) {
        const auto end = std::min(rest.find('\n'), rest.size());
        auto line = rest.substr(0, end);
        rest.remove_prefix(std::min(end + 1, rest.size()));
        if (line.ends_with('\r')) line.remove_suffix(1);
        if (line.empty()) continue;
        if (!std::all_of(line.begin(), line.end(), [](char c) { return c > ' ' && c <= '~'; }))
            return wrong(path, "a token is one word of printable ASCII, one a line");
        if (line.size() < shortest)
            return wrong(
                path,
                fmt::format("a token has at least {} characters: openssl rand -hex 32 makes one", shortest));
        tokens.digests_.push_back(digest_of({line}));
    }
    if (tokens.digests_.empty())
        return wrong(path, "there is no token in it: openssl rand -hex 32 makes one");
    return tokens;
}

bool MetricsTokens::hold(std::string_view token) const {
    const auto digest = digest_of({token});
    return std::any_of(digests_.begin(), digests_.end(), [&](const std::string& known) {
        return CRYPTO_memcmp(known.data(), digest.data(), digest.size()) == 0;
    });
}

} // namespace restart
