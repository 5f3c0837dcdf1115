#include "restart/wire/channel.hpp"

#include "base/units.hpp"

#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include <cstdlib>

namespace restart {
namespace {

// The HMAC of a number and a digest under the key, as lower-case hex. `what` keeps an answer from being sent
// back as a request.
std::string proof_of(const ChannelKey& key, std::string_view what, std::uint64_t number,
                     std::string_view digest) {
    const auto text = fmt::format("{}\n{}\n{}", what, number, digest);
    std::array<unsigned char, EVP_MAX_MD_SIZE> mac{};
    unsigned size = 0;
    if (HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
             reinterpret_cast<const unsigned char*>(text.data()), text.size(), mac.data(), &size) == nullptr)
        std::abort(); // SHA-256 always exists; only memory can be missing
    return to_hex({mac.data(), size});
}

std::string request_proof(const ChannelKey& key, std::uint64_t number, std::string_view method,
                          std::string_view target, std::string_view body) {
    return proof_of(key, "request", number, request_digest(method, target, body));
}

std::string answer_proof(const ChannelKey& key, std::uint64_t number, unsigned status,
                         std::string_view body) {
    return proof_of(key, "answer", number, digest_of({std::to_string(status), "\n", body}));
}

// In constant time, which does not reveal how much of it was right.
bool same(std::string_view a, std::string_view b) {
    return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

base::Error denied(std::string_view why) {
    return {base::Code::denied, fmt::format("connection: {}", why)};
}

} // namespace

void ServerChannel::begin(const Credential& credential, Steady now) {
    answering_.reset();
    key_ = credential.key;
    if (!key_) return;
    caller_ = {credential.uid, credential.gid};
    begun_ = now;
    next_ = 1;
    answering_ = 0;
}

base::Expected<Caller> ServerChannel::check(const HttpRequest& request, Steady now) {
    answering_.reset();
    if (!key_) return denied("no MUNGE credential with a key came first");
    if (now - begun_ > 2 * channel_key_life) {
        key_.reset();
        return denied("its key is too old: begin with a MUNGE credential");
    }
    auto words = std::string_view(request.authorization).substr(channel_scheme.size());
    const auto space = words.find(' ');
    const auto number = base::parse_count(words.substr(0, space));
    if (!number || space == std::string_view::npos) return denied("\"Railyard NUMBER PROOF\" is wanted");
    if (*number != next_) return denied(fmt::format("request {} came where {} was due", *number, next_));
    if (!same(words.substr(space + 1),
              request_proof(*key_, next_, request.method, request.target, request.body)))
        return denied("the proof is not of this request");
    answering_ = next_++;
    return caller_;
}

std::optional<Caller> ServerChannel::caller() const {
    if (!key_) return {};
    return caller_;
}

std::string ServerChannel::proof(unsigned status, std::string_view body) {
    if (!key_ || !answering_) return {};
    return answer_proof(*key_, *std::exchange(answering_, std::nullopt), status, body);
}

base::Expected<Caller> authenticate(const HttpRequest& request, const MungeAuth& auth,
                                    ServerChannel::Steady now) {
    if (request.channel != nullptr && request.authorization.starts_with(channel_scheme))
        return request.channel->check(request, now);
    const auto opened = request.credential ? base::Expected<Credential>(*request.credential)
                                           : auth.open(request.authorization);
    if (!opened) return opened.error();
    auto caller = MungeAuth::check(*opened, request.method, request.target, request.body);
    if (caller && request.channel != nullptr) request.channel->begin(*opened, now);
    return caller;
}

base::Expected<std::string> ClientChannel::authorize(std::string_view method, std::string_view target,
                                                     std::string_view body,
                                                     std::chrono::steady_clock::time_point now) {
    if (key_ && now - begun_ < channel_key_life) {
        ++number_;
        return fmt::format("{}{} {}", channel_scheme, number_,
                           request_proof(*key_, number_, method, target, body));
    }
    ChannelKey key{};
    if (RAND_bytes(key.data(), static_cast<int>(key.size())) != 1)
        return base::Error{base::Code::unavailable, "no random numbers for a session key"};
    auto signature = auth_.sign(method, target, body, &key);
    if (!signature) return signature;
    key_ = key;
    begun_ = now;
    number_ = 0;
    return signature;
}

base::Expected<void> ClientChannel::check(unsigned status, std::string_view body,
                                          std::string_view proof) const {
    if (key_ && same(proof, answer_proof(*key_, number_, status, body))) return {};
    return base::Error{
        base::Code::denied,
        fmt::format("the answer is {} by restartd's user, {} ([restartd] user): does something else answer "
                    "there, or an older restartd?",
                    proof.empty() ? "not signed" : "wrongly signed", auth_.server())};
}

} // namespace restart
