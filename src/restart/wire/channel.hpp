// Authenticates both ends of a kept-open connection with one MUNGE credential.
//
// The first request of a connection carries a credential bound to that request (munge_auth.hpp) with a random
// key inside, which munged encrypts and decrypts for one user only: the one restartd runs as. From then on
// each request and each answer carries an HMAC-SHA256 under that key, with a number that goes up by one: a
// request is valid once, in its place, and only a process that could decrypt the credential can have signed
// the answer. The client takes a new key every hour; the server refuses one that is twice as old. wire(7),
// CREDENTIALS.
#pragma once

#include "base/expected.hpp"
#include "restart/wire/http.hpp"
#include "restart/wire/munge_auth.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace restart {

struct Report;

inline constexpr auto channel_key_life = std::chrono::hours(1);
inline constexpr std::string_view channel_scheme = "Railyard "; // of the Authorization header
inline constexpr std::string_view proof_header = "Railyard-Proof";

// The server's end of one connection. Its requests come one after the other; no locks.
class ServerChannel {
public:
    using Steady = std::chrono::steady_clock::time_point;

    // Takes the key of a credential that was decoded and verified for the present request.
    void begin(const Credential& credential, Steady now);

    // The sender of the request. Errors: Code::denied for a proof that is wrong, out of sequence or under a
    // key that is too old, and if no credential came first.
    base::Expected<Caller> check(const HttpRequest& request, Steady now);

    // Who opened it.
    std::optional<Caller> caller() const;

    // The proof header's value for the answer to the last accepted request, once; empty if there was none.
    std::string proof(unsigned status, std::string_view body);

    // The last report received this way, so that the next may be "as before".
    std::shared_ptr<const Report> reported;

private:
    std::optional<ChannelKey> key_;
    Caller caller_;
    Steady begun_{};
    std::uint64_t next_ = 0;
    std::optional<std::uint64_t> answering_;
};

// The sender of a request, by its place in a channel or by a credential, which may open one. Errors:
// Code::denied; Code::unavailable when munged does not answer.
base::Expected<Caller> authenticate(const HttpRequest& request, const MungeAuth& auth,
                                    ServerChannel::Steady now);

// The client's end.
class ClientChannel {
public:
    explicit ClientChannel(MungeAuth auth) : auth_(std::move(auth)) {}

    // The Authorization header's value for the next request. Errors: munged's (Code::unavailable), or the
    // user restartd runs as is not known here (Code::input).
    base::Expected<std::string> authorize(std::string_view method, std::string_view target,
                                          std::string_view body, std::chrono::steady_clock::time_point now);

    // Whether restartd signed this answer to that request. Errors: Code::denied.
    base::Expected<void> check(unsigned status, std::string_view body, std::string_view proof) const;

    // The connection was lost, or the server does not know the key: the next request begins a new channel.
    void reset() { key_.reset(); }
    // Whether the last request relied on an earlier one.
    bool resumed() const { return number_ > 0; }

private:
    MungeAuth auth_;
    std::optional<ChannelKey> key_;
    std::chrono::steady_clock::time_point begun_{};
    std::uint64_t number_ = 0; // of the last request
};

} // namespace restart
