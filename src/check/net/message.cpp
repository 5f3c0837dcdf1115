#include "check/net/message.hpp"

#include "base/json.hpp"
#include "restart/wire/munge_auth.hpp"

#include <charconv>

namespace check::net {

namespace {

namespace json = boost::json;

constexpr std::int64_t most = 0x7fffffff;
constexpr std::size_t most_rails = 64;

std::string hex(std::string_view bytes) {
    return restart::to_hex({reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()});
}

base::Expected<std::string> unhex(const base::Reader& from) {
    const auto text = from.text();
    if (!text) return text.error();
    std::string bytes(text->size() / 2, '\0');
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        unsigned value = 0;
        const char* at = text->data() + 2 * i;
        if (std::from_chars(at, at + 2, value, 16).ptr != at + 2)
            return from.error("hexadecimal digits are wanted");
        bytes[i] = static_cast<char>(value);
    }
    return bytes;
}

base::Expected<json::value> parsed(std::string_view text) {
    return base::parse_json(text, 8);
}

// Calls `read` for each element of the member, until one call fails.
template <class Read> base::Expected<void> each(const base::Reader& of, std::string_view member, Read read) {
    const auto list = of.at(member);
    if (!list) return list.error();
    const auto items = list->items();
    if (!items) return items.error();
    if (items->size() > most_rails) return list->error("too many rails");
    for (const auto& item : *items)
        if (auto done = read(item); !done) return done;
    return {};
}

} // namespace

std::string to_text(const Hello& hello) {
    json::array rails;
    for (const auto& rail : hello.rails)
        rails.push_back(
            json::object{{"device", rail.device}, {"address", hex(rail.address)}, {"trouble", rail.trouble}});
    return base::to_text(json::object{{"rank", hello.rank},
                                      {"host", hello.host},
                                      {"challenge", hello.challenge},
                                      {"rails", std::move(rails)}});
}

base::Expected<Hello> read_hello(std::string_view text) {
    const auto value = parsed(text);
    if (!value) return value.error();
    const base::Reader reader(*value);
    Hello hello;
    const auto rank = reader.integer_in("rank", 0, most);
    if (!rank) return rank.error();
    hello.rank = static_cast<std::uint32_t>(*rank);
    auto host = reader.text("host");
    if (!host) return host.error();
    hello.host = *std::move(host);
    auto challenge = reader.text("challenge");
    if (!challenge) return challenge.error();
    hello.challenge = *std::move(challenge);
    const auto read = each(reader, "rails", [&](const base::Reader& item) -> base::Expected<void> {
        auto device = item.text("device");
        if (!device) return device.error();
        auto trouble = item.text("trouble");
        if (!trouble) return trouble.error();
        const auto of = item.at("address");
        if (!of) return of.error();
        auto address = unhex(*of);
        if (!address) return address.error();
        hello.rails.push_back({*std::move(device), *std::move(address), *std::move(trouble)});
        return {};
    });
    if (!read) return read.error();
    return hello;
}

std::string to_text(const Go& go) {
    json::array addresses;
    for (const auto& address : go.addresses)
        addresses.push_back(json::string(hex(address)));
    return base::to_text(json::object{{"round", go.round},
                                      {"partner", go.partner},
                                      {"first", go.first},
                                      {"seconds", go.effort.seconds},
                                      {"patience_s", go.effort.patience_s},
                                      {"addresses", std::move(addresses)}});
}

base::Expected<Go> read_go(std::string_view text) {
    const auto value = parsed(text);
    if (!value) return value.error();
    const base::Reader reader(*value);
    Go go;
    const auto round = reader.integer_in("round", 0, most);
    if (!round) return round.error();
    go.round = static_cast<std::uint32_t>(*round);
    auto partner = reader.text("partner");
    if (!partner) return partner.error();
    go.partner = *std::move(partner);
    const auto first = reader.boolean("first");
    if (!first) return first.error();
    go.first = *first;
    const auto seconds = reader.number("seconds"), patience = reader.number("patience_s");
    if (!seconds) return seconds.error();
    if (!patience) return patience.error();
    go.effort = {*seconds, *patience};
    const auto read = each(reader, "addresses", [&](const base::Reader& item) -> base::Expected<void> {
        auto address = unhex(item);
        if (!address) return address.error();
        go.addresses.push_back(*std::move(address));
        return {};
    });
    if (!read) return read.error();
    return go;
}

std::string to_text(const Done& done) {
    json::array rails;
    for (const auto& rail : done.rails)
        if (rail.measured)
            rails.push_back(json::object{{"latency_us", rail.measured->latency_us},
                                         {"gbps", rail.measured->gbps},
                                         {"gbps_back", rail.measured->gbps_back}});
        else
            rails.push_back(json::object{{"trouble", rail.trouble}});
    return base::to_text(json::object{{"round", done.round}, {"rails", std::move(rails)}});
}

base::Expected<Done> read_done(std::string_view text) {
    const auto value = parsed(text);
    if (!value) return value.error();
    const base::Reader reader(*value);
    Done done;
    const auto round = reader.integer_in("round", 0, most);
    if (!round) return round.error();
    done.round = static_cast<std::uint32_t>(*round);
    const auto read = each(reader, "rails", [&](const base::Reader& item) -> base::Expected<void> {
        if (item.has("trouble")) {
            auto trouble = item.text("trouble");
            if (!trouble) return trouble.error();
            done.rails.push_back({{}, *std::move(trouble)});
            return {};
        }
        const auto latency = item.number("latency_us"), gbps = item.number("gbps"),
                   back = item.number("gbps_back");
        if (!latency) return latency.error();
        if (!gbps) return gbps.error();
        if (!back) return back.error();
        done.rails.push_back({Measured{*latency, *gbps, *back}, {}});
        return {};
    });
    if (!read) return read.error();
    return done;
}

} // namespace check::net
