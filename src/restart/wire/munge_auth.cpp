#include "restart/wire/munge_auth.hpp"

#include <fmt/format.h>
#include <munge.h>
#include <openssl/evp.h>

#include <array>
#include <cstdlib>
#include <memory>

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

} // namespace

std::string request_digest(std::string_view method, std::string_view target, std::string_view body) {
    const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(), EVP_MD_CTX_free);
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned size = 0;
    bool good = context && EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr) == 1;
    for (const std::string_view part : {method, std::string_view("\n"), target, std::string_view("\n"), body})
        good = good && EVP_DigestUpdate(context.get(), part.data(), part.size()) == 1;
    good = good && EVP_DigestFinal_ex(context.get(), digest.data(), &size) == 1;
    if (!good) std::abort(); // SHA-256 is always there; only memory can be missing
    std::string hex;
    for (unsigned i = 0; i < size; ++i)
        hex += fmt::format("{:02x}", digest[i]);
    return hex;
}

base::Expected<std::string> MungeAuth::sign(std::string_view method, std::string_view target,
                                            std::string_view body) const {
    const Context context(socket_);
    const auto digest = request_digest(method, target, body);
    char* credential = nullptr;
    const auto failed =
        munge_encode(&credential, context.get(), digest.data(), static_cast<int>(digest.size()));
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
    if (failed != EMUNGE_SUCCESS) return context.error(failed);
    return Credential{uid, gid, std::string(static_cast<const char*>(payload), static_cast<std::size_t>(size))};
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
