// Who sent a request: a MUNGE credential bound to the request's method, target and body.
//
// The credential's payload is the lower-case hex SHA-256 of METHOD "\n" TARGET "\n" BODY, so it is useless
// for any other request; munged refuses to decode it a second time (replay) or after its lifetime. A key for
// the rest of the connection (channel.hpp) may follow it, after a space and in hex: such a credential is
// encrypted and only the server's user can decode it. Both calls talk to the local munged over its Unix
// socket and block until it answers (well under a millisecond); they may be made from several threads at
// once.
#pragma once

#include "base/expected.hpp"
#include "restart/wire/http.hpp"

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <sys/types.h>

namespace restart {

std::string to_hex(std::span<const unsigned char> bytes);

// SHA-256 of the concatenated parts, in hex.
std::string digest_of(std::initializer_list<std::string_view> parts);

// The digest that a credential is bound to.
std::string request_digest(std::string_view method, std::string_view target, std::string_view body);

class MungeAuth {
public:
    // `socket`: munged's; empty for munge's own default. `server`: the user that restartd runs as, by name or
    // number; empty: SlurmUser, looked up when needed (slurm_user.hpp).
    explicit MungeAuth(std::string socket = {}, std::string server = "root")
        : socket_(std::move(socket)), server_(std::move(server)) {}

    // The value of an Authorization header, for the server's user only if it includes a key. Errors:
    // Code::unavailable when munged does not answer, Code::input when this host does not know the server's
    // user.
    base::Expected<std::string> sign(std::string_view method, std::string_view target, std::string_view body,
                                     const ChannelKey* key = nullptr) const;

    // Decodes the credential of a request whose body has not come yet; its digest is for `check`. Errors:
    // Code::denied for a header that is absent or not ours, a credential that is forged, expired or replayed;
    // Code::unavailable when munged does not answer.
    base::Expected<Credential> open(std::string_view authorization) const;

    // Whether it was made for this request. Errors: Code::denied.
    static base::Expected<Caller> check(const Credential& credential, std::string_view method,
                                        std::string_view target, std::string_view body);

    // Both open() and check().
    base::Expected<Caller> verify(std::string_view authorization, std::string_view method,
                                  std::string_view target, std::string_view body) const;

    std::string server() const;

private:
    std::string socket_;
    std::string server_;
};

} // namespace restart
