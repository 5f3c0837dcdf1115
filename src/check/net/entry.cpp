#include "check/net/entry.hpp"

#include "base/file.hpp"
#include "restart/wire/munge_auth.hpp"

#include <array>
#include <cerrno>
#include <fmt/format.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

namespace check::net {

namespace {

constexpr std::string_view method = "NET", shortest = "a secret has at least 16 bytes";

// Takes the same time for all texts of equal length, so that timing does not reveal where they differ.
bool same(std::string_view a, std::string_view b) {
    if (a.size() != b.size()) return false;
    unsigned differ = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
        differ |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned>(static_cast<unsigned char>(b[i]));
    return differ == 0;
}

// HMAC (RFC 2104) over SHA-256, with hexadecimal digests instead of bytes.
std::string keyed_digest(const std::string& secret, std::string_view text, std::string_view challenge) {
    const auto key = restart::digest_of({secret});
    std::string inner(64, '\x36'), outer(64, '\x5c');
    for (std::size_t i = 0; i < key.size(); ++i) {
        inner[i] = static_cast<char>(inner[i] ^ key[i]);
        outer[i] = static_cast<char>(outer[i] ^ key[i]);
    }
    return restart::digest_of({outer, restart::digest_of({inner, challenge, "\n", text})});
}

} // namespace

Entry Entry::by_munge(std::string socket) {
    Entry entry;
    entry.socket_ = std::move(socket);
    return entry;
}

base::Expected<Entry> Entry::by_secret(const std::string& file) {
    struct stat status {};
    if (::stat(file.c_str(), &status) != 0) return base::system_error(file, errno);
    if ((status.st_mode & 077) != 0 || (status.st_uid != ::geteuid() && status.st_uid != 0))
        return base::Error{base::Code::denied, file + ": others can read it: chmod 600, and own it"};
    auto text = base::read_file(file, 4096);
    if (!text) return std::move(text).error();
    if (text->size() < 16) return base::Error{base::Code::input, fmt::format("{}: {}", file, shortest)};
    Entry entry;
    entry.secret_ = *std::move(text);
    return entry;
}

base::Expected<std::string> Entry::prove(std::string_view text, std::string_view challenge) const {
    if (!secret_.empty()) return keyed_digest(secret_, text, challenge);
    return restart::MungeAuth(socket_).sign(method, challenge, text);
}

base::Expected<void> Entry::check(std::string_view text, std::string_view challenge,
                                  std::string_view proof) const {
    if (!secret_.empty()) {
        if (same(proof, keyed_digest(secret_, text, challenge))) return {};
        return base::Error{base::Code::denied, "it does not know the secret"};
    }
    const auto caller = restart::MungeAuth(socket_).verify(proof, method, challenge, text);
    if (!caller) return caller.error();
    if (caller->uid == 0 || caller->uid == ::geteuid()) return {};
    return base::Error{base::Code::denied, fmt::format("it is of user {}", caller->uid)};
}

std::string random_challenge() {
    std::array<unsigned char, 16> bytes{};
    if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) std::abort();
    return restart::to_hex(bytes);
}

} // namespace check::net
