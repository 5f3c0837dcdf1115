// The version of the protocol, which every body carries as "v", and how it grows. Internal to restart/wire;
// include only from .cpp files.
//
// Within a version fields are added: a reader skips keys it does not know and gives those that an older
// sender leaves out their default (codec.added). A key that changes its meaning, or is removed although
// readers need it, requires a new version; then both ends must be of one release.
#pragma once

#include "restart/wire/codec.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace restart::codec {

inline constexpr std::uint32_t protocol_version = 1;

template <class T> std::string write_versioned(const T& body) {
    Writer writer;
    writer("v", protocol_version);
    fields(writer, body);
    return base::to_text(std::move(writer).take());
}

// `name` is the body's name in errors: "this report".
template <class T> base::Expected<T> read_versioned(std::string_view text, std::string_view name) {
    const auto document = base::parse_json(text);
    if (!document) return document.error();
    const base::Reader reader(*document);
    std::uint32_t version = 0;
    Taker taker(reader);
    taker("v", version);
    if (auto done = std::move(taker).done(); !done) return std::move(done).error();
    if (version != protocol_version)
        return base::Error{base::Code::input, "v: " + std::string(name) + " is of version " +
                                                  std::to_string(version) + ", this program speaks " +
                                                  std::to_string(protocol_version) +
                                                  ": update the older of the two"};
    T body;
    if (auto taken = Taker::take(reader, body, unbounded); !taken) return std::move(taken).error();
    return body;
}

} // namespace restart::codec
