#include "restart/wire/operator.hpp"

#include "restart/wire/codec.hpp"
#include "restart/wire/version.hpp"

namespace restart {

using base::Expected;

// Requests of operators carry no version: scripts write them by hand.
template <class Codec> void fields(Codec& codec, codec::Of<DrainRequest> auto& request) {
    codec("host", request.host);
    codec("reason", request.reason);
}

template <class Codec> void fields(Codec& codec, codec::Of<ResumeRequest> auto& request) {
    codec("host", request.host);
}

template <class Codec> void fields(Codec& codec, codec::Of<PauseRequest> auto& request) {
    codec.maybe("hosts", request.hosts);
    codec.maybe("for_s", request.lasts);
    codec("reason", request.reason);
}

template <class Codec> void fields(Codec& codec, codec::Of<GoRequest> auto& request) {
    codec.maybe("hosts", request.hosts);
}

template <class Codec> void fields(Codec& codec, codec::Of<Accepted> auto& accepted) {
    codec("incident", accepted.incident);
}

template <class Codec> void fields(Codec& codec, codec::Of<Refused> auto& refused) {
    codec.added("code", refused.code);
    codec("text", refused.text);
    codec.maybe("primary", refused.primary, 4096);
}

namespace {

// {"error":{"code":…,"text":…}}
struct Envelope {
    Refused error;
};
template <class Codec> void fields(Codec& codec, codec::Of<Envelope> auto& envelope) {
    codec("error", envelope.error);
}

} // namespace

Expected<DrainRequest> DrainRequest::from_json(std::string_view body) {
    return codec::read<DrainRequest>(body);
}
std::string DrainRequest::to_json() const {
    return codec::write(*this);
}

Expected<ResumeRequest> ResumeRequest::from_json(std::string_view body) {
    return codec::read<ResumeRequest>(body);
}
std::string ResumeRequest::to_json() const {
    return codec::write(*this);
}

Expected<PauseRequest> PauseRequest::from_json(std::string_view body) {
    return codec::read<PauseRequest>(body);
}
std::string PauseRequest::to_json() const {
    return codec::write(*this);
}

Expected<GoRequest> GoRequest::from_json(std::string_view body) {
    return codec::read<GoRequest>(body);
}
std::string GoRequest::to_json() const {
    return codec::write(*this);
}

Expected<Accepted> Accepted::from_json(std::string_view body) {
    return codec::read_versioned<Accepted>(body, "this answer");
}
std::string Accepted::to_json() const {
    return codec::write_versioned(*this);
}

Expected<Refused> Refused::from_json(std::string_view body) {
    auto envelope = codec::read<Envelope>(body);
    if (!envelope) return std::move(envelope).error();
    return std::move(envelope->error);
}
std::string Refused::to_json() const {
    return codec::write(Envelope{*this});
}

} // namespace restart
