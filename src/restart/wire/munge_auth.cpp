#include "restart/wire/munge_auth.hpp"

#include "base/user.hpp"
#include "restart/wire/slurm_user.hpp"

#include <fmt/format.h>
#include <munge.h>
#include <openssl/evp.h>

#include <array>
#include <charconv>
#include <cstdlib>
#include <memory>
#include <optional>

namespace restart {
namespace {

constexpr std::string_view scheme = "MUNGE ";

struct Free {
    void operator()(void* memory) const { std::free(memory); }
};

class Context {
public:
    explicit Context(const std::string& socket) : context_(munge_ctx_create()) {
        if (context_ == nullptr) std::abort(); // out of memory
        if (!socket.empty()) munge_ctx_set(context_, MUNGE_OPT_SOCKET, socket.c_str());
    }
    Context(const Context&) = delete;
    Context& operator=(const Context&) = delete;
    ~Context() { munge_ctx_destroy(context_); }
    munge_ctx_t get() const { return context_; }

    // The payload is encrypted, whatever munged's default, and only this user can decode it.
    munge_err_t restrict_to(uid_t user) const {
        const auto failed = munge_ctx_set(context_, MUNGE_OPT_CIPHER_TYPE, MUNGE_CIPHER_AES128);
        return failed != EMUNGE_SUCCESS ? failed : munge_ctx_set(context_, MUNGE_OPT_UID_RESTRICTION, user);
    }

    base::Error error(munge_err_t failed) const {
        const char* text = munge_ctx_strerror(context_);
        if (text == nullptr) text = munge_strerror(failed);
        switch (failed) {
        case EMUNGE_SNAFU:
        case EMUNGE_NO_MEMORY:
        case EMUNGE_SOCKET:
        case EMUNGE_TIMEOUT:
            return {base::Code::unavailable, fmt::format("munged: {}: is it running?", text)};
        default: return {base::Code::denied, fmt::format("MUNGE credential: {}", text)};
        }
    }

private:
    munge_ctx_t context_;
};

std::optional<ChannelKey> key_of(std::string_view hex) {
    ChannelKey key{};
    if (hex.size() != 2 * key.size()) return {};
    for (std::size_t i = 0; i < key.size(); ++i) {
        const auto* begin = hex.data() + 2 * i;
        const auto [end, failed] = std::from_chars(begin, begin + 2, key[i], 16);
        if (failed != std::errc{} || end != begin + 2) return {};
    }
    return key;
}

} // namespace

std::string to_hex(std::span<const unsigned char> bytes) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string hex;
    hex.reserve(2 * bytes.size());
    for (const auto byte : bytes) {
        hex += digits[byte >> 4];
        hex += digits[byte & 15];
    }
    return hex;
}

std::string digest_of(std::initializer_list<std::string_view> parts) {
    const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(), EVP_MD_CTX_free);
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned size = 0;
    bool good = context && EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr) == 1;
    for (const auto part : parts)
        good = good && EVP_DigestUpdate(context.get(), part.data(), part.size()) == 1;
    good = good && EVP_DigestFinal_ex(context.get(), digest.data(), &size) == 1;
    if (!good) std::abort(); // SHA-256 always exists; only memory can be missing
    return to_hex({digest.data(), size});
}

std::string request_digest(std::string_view method, std::string_view target, std::string_view body) {
    return digest_of({method, "\n", target, "\n", body});
}

std::string MungeAuth::server() const {
    return server_.empty() ? slurm_user() : server_;
}

base::Expected<std::string> MungeAuth::sign(std::string_view method, std::string_view target,
                                            std::string_view body, const ChannelKey* key) const {
    const Context context(socket_);
    auto payload = request_digest(method, target, body);
    if (key != nullptr) {
        auto server = base::find_uid(this->server());
        if (!server) return std::move(server).error().within("[restartd] user");
        if (auto failed = context.restrict_to(*server); failed != EMUNGE_SUCCESS)
            return context.error(failed);
        payload += ' ' + to_hex(*key);
    }
    char* credential = nullptr;
    const auto failed =
        munge_encode(&credential, context.get(), payload.data(), static_cast<int>(payload.size()));
    const std::unique_ptr<char, Free> owner(credential);
    if (failed != EMUNGE_SUCCESS) return context.error(failed);
    return std::string(scheme) + credential;
}

base::Expected<Credential> MungeAuth::open(std::string_view authorization) const {
    if (!authorization.starts_with(scheme))
        return base::Error{base::Code::denied,
                           "a MUNGE credential is needed (header \"Authorization: MUNGE …\")"};
    const std::string text(authorization.substr(scheme.size()));
    const Context context(socket_);
    void* payload = nullptr;
    int size = 0;
    uid_t uid = 0;
    gid_t gid = 0;
    const auto failed = munge_decode(text.c_str(), context.get(), &payload, &size, &uid, &gid);
    const std::unique_ptr<void, Free> owner(payload);
    if (failed == EMUNGE_CRED_UNAUTHORIZED)
        return base::Error{base::Code::denied,
                           "MUNGE credential: it is meant for a restartd of another user: "
                           "[restartd] user differs between the sender and here"};
    if (failed != EMUNGE_SUCCESS) return context.error(failed);
    const std::string_view said(static_cast<const char*>(payload), static_cast<std::size_t>(size));
    const auto space = said.find(' ');
    Credential credential{uid, gid, std::string(said.substr(0, space)), {}};
    if (space != std::string_view::npos) {
        credential.key = key_of(said.substr(space + 1));
        if (!credential.key)
            return base::Error{base::Code::denied, "MUNGE credential: the key in it is no key"};
    }
    return credential;
}

base::Expected<Caller> MungeAuth::check(const Credential& credential, std::string_view method,
                                        std::string_view target, std::string_view body) {
    if (credential.digest != request_digest(method, target, body))
        return base::Error{base::Code::denied, "MUNGE credential: it is bound to another request"};
    return Caller{credential.uid, credential.gid};
}

base::Expected<Caller> MungeAuth::verify(std::string_view authorization, std::string_view method,
                                         std::string_view target, std::string_view body) const {
    const auto credential = open(authorization);
    if (!credential) return credential.error();
    return check(*credential, method, target, body);
}

} // namespace restart
