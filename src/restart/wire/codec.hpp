// Structs to JSON and back from one list of fields: `fields(codec, object)` names each member with its key
// and bound, and both directions run it. Internal to restart; include only from .cpp files (Boost.JSON).
//
//   template <class Codec> void fields(Codec& codec, Of<Commit> auto& commit) {
//       codec("step", commit.step);
//       codec("path", commit.path, 4096);   // at most this many bytes, elements or members
//   }
//
// codec(…) is required; codec.added(…) is always written but may be absent, as from an older sender (the
// member keeps its default); codec.maybe(…) is also not written when empty. The first failure is kept and
// ends the walk. What does not depend on a member's type is in codec.cpp: these templates are instantiated
// for some hundred members in each of a dozen sources.
#pragma once

#include "base/clock.hpp"
#include "base/job_id.hpp"
#include "base/json.hpp"

#include <charconv>
#include <concepts>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace restart::codec {

template <class T, class Plain>
concept Of = std::same_as<std::remove_const_t<T>, Plain>;

// Names of an enumeration, by value: specialise with `static constexpr std::array<std::string_view, N>
// names`.
template <class T> struct Names;

// No bound: only for what the daemon wrote itself.
inline constexpr std::size_t unbounded = std::numeric_limits<std::size_t>::max();
// While one exists, this thread accepts texts of any length, including control characters: for what restartd
// wrote itself from what others reported.
class AnyText {
public:
    AnyText() { ++depth(); }
    AnyText(const AnyText&) = delete;
    AnyText& operator=(const AnyText&) = delete;
    ~AnyText() { --depth(); }
    static bool now() { return depth() > 0; }

private:
    static int& depth() {
        static thread_local int depth = 0;
        return depth;
    }
};

class Writer {
public:
    template <class T> void operator()(std::string_view key, const T& member, std::size_t = unbounded) {
        put(key, value(member));
    }
    template <class T> void added(std::string_view key, const T& member, std::size_t = unbounded) {
        put(key, value(member));
    }
    template <class T> void maybe(std::string_view key, const T& member, std::size_t = unbounded) {
        if (!(member == T{})) put(key, value(member));
    }
    boost::json::value take() &&;

    static boost::json::value value(const std::string& text) { return value(std::string_view(text)); }
    static boost::json::value value(std::string_view text);
    static boost::json::value value(const boost::json::object& object);
    static boost::json::value value(base::JobId job);
    static boost::json::value value(const std::optional<base::JobId>& job);
    static boost::json::value value(base::Time time);
    static boost::json::value value(base::Duration duration);
    static boost::json::value value(std::chrono::microseconds duration);
    template <class T>
    requires std::is_arithmetic_v<T>
    static boost::json::value value(T number) { return number; }
    template <class T>
    requires std::is_enum_v<T>
    static boost::json::value value(T word) {
        return value(Names<T>::names.at(static_cast<std::size_t>(word)));
    }
    template <class T> static boost::json::value value(const std::optional<T>& held) {
        return held ? value(*held) : boost::json::value(nullptr);
    }
    template <class T> static boost::json::value value(const std::vector<T>& list) {
        boost::json::array array;
        array.reserve(list.size());
        for (const auto& element : list)
            array.push_back(value(element));
        return array;
    }
    template <class T, class Less>
    static boost::json::value value(const std::map<std::string, T, Less>& members) {
        boost::json::object object;
        for (const auto& [key, member] : members)
            object[key] = value(member);
        return object;
    }
    template <class Id, class T>
    requires std::unsigned_integral<Id> || std::same_as<Id, base::JobId>
    static boost::json::value value(const std::map<Id, T>& members) {
        using std::to_string;
        boost::json::object object;
        for (const auto& [key, member] : members)
            object[to_string(key)] = value(member);
        return object;
    }
    template <class T>
    requires std::is_class_v<T>
    static boost::json::value value(const T& object) {
        Writer writer;
        fields(writer, object);
        return std::move(writer).take();
    }

private:
    void put(std::string_view key, boost::json::value&& value);

    boost::json::object object_;
};

class Taker {
public:
    explicit Taker(base::Reader reader) : reader_(std::move(reader)) {}

    template <class T> void operator()(std::string_view key, T& member, std::size_t most = unbounded) {
        take_member(key, true, &member, most, &take_any<T>);
    }
    // null counts as absent, too.
    template <class T> void added(std::string_view key, T& member, std::size_t most = unbounded) {
        take_member(key, false, &member, most, &take_any<T>);
    }
    template <class T> void maybe(std::string_view key, T& member, std::size_t most = unbounded) {
        added(key, member, most);
    }
    base::Expected<void> done() &&;

    // Text: at most `most` bytes and no control characters, which do not belong in reasons and timelines.
    static base::Expected<void> take(const base::Reader& from, std::string& into, std::size_t most);
    static base::Expected<void> take(const base::Reader& from, boost::json::object& into, std::size_t);
    static base::Expected<void> take(const base::Reader& from, bool& into, std::size_t);
    static base::Expected<void> take(const base::Reader& from, double& into, std::size_t);
    template <std::integral T>
    static base::Expected<void> take(const base::Reader& from, T& into, std::size_t) {
        constexpr auto high = std::in_range<std::int64_t>(std::numeric_limits<T>::max())
                                  ? static_cast<std::int64_t>(std::numeric_limits<T>::max())
                                  : std::numeric_limits<std::int64_t>::max();
        auto number = from.integer_in(static_cast<std::int64_t>(std::numeric_limits<T>::min()), high);
        if (!number) return std::move(number).error();
        into = static_cast<T>(*number);
        return {};
    }
    static base::Expected<void> take(const base::Reader& from, base::JobId& into, std::size_t);
    // 0 is none, as releases before optional jobs wrote it.
    static base::Expected<void> take(const base::Reader& from, std::optional<base::JobId>& into, std::size_t);
    static base::Expected<void> take(const base::Reader& from, base::Time& into, std::size_t);
    static base::Expected<void> take(const base::Reader& from, base::Duration& into, std::size_t);
    static base::Expected<void> take(const base::Reader& from, std::chrono::microseconds& into, std::size_t);
    template <class T>
    requires std::is_enum_v<T>
    static base::Expected<void> take(const base::Reader& from, T& into, std::size_t) {
        auto word = take_word(from, Names<T>::names);
        if (!word) return std::move(word).error();
        into = static_cast<T>(*word);
        return {};
    }
    template <class T>
    static base::Expected<void> take(const base::Reader& from, std::optional<T>& into, std::size_t most) {
        into.reset();
        if (from.value().is_null()) return {};
        return take(from, into.emplace(), most);
    }
    template <class T>
    static base::Expected<void> take(const base::Reader& from, std::vector<T>& into, std::size_t most) {
        auto items = items_of(from, most);
        if (!items) return std::move(items).error();
        into.clear();
        into.reserve(items->size());
        for (const auto& item : *items)
            if (auto taken = take(item, into.emplace_back(), text_bound); !taken) return taken;
        return {};
    }
    template <class Id, class T, class Less>
    static base::Expected<void> take(const base::Reader& from, std::map<Id, T, Less>& into,
                                     std::size_t most) {
        auto members = members_of(from, most);
        if (!members) return std::move(members).error();
        into.clear();
        for (const auto& [key, member] : *members) {
            Id id{};
            if (!take_key(key, id)) return bad_key(from);
            if (auto taken = take(member, into[id], text_bound); !taken) return taken;
        }
        return {};
    }
    template <class T>
    requires std::is_class_v<T>
    static base::Expected<void> take(const base::Reader& from, T& into, std::size_t) {
        Taker taker(from);
        fields(taker, into);
        return std::move(taker).done();
    }

private:
    static constexpr std::size_t text_bound = 4096; // of a text in a list

    using Take = base::Expected<void> (*)(const base::Reader& from, void* into, std::size_t most);

    template <class T>
    static base::Expected<void> take_any(const base::Reader& from, void* into, std::size_t most) {
        return take(from, *static_cast<T*>(into), most);
    }
    void take_member(std::string_view key, bool needed, void* into, std::size_t most, Take take_it);

    // The index of a word in this list.
    static base::Expected<std::size_t> take_word(const base::Reader& from,
                                                 std::span<const std::string_view> names);
    static base::Expected<std::vector<base::Reader>> items_of(const base::Reader& from, std::size_t most);
    static base::Expected<std::vector<std::pair<std::string, base::Reader>>>
    members_of(const base::Reader& from, std::size_t most);
    static base::Error bad_key(const base::Reader& from);

    static bool take_key(const std::string& key, std::string& into);
    static bool take_key(const std::string& key, base::JobId& into);
    template <std::unsigned_integral Id> static bool take_key(const std::string& key, Id& into) {
        const auto [end, failed] = std::from_chars(key.data(), key.data() + key.size(), into);
        return failed == std::errc{} && end == key.data() + key.size();
    }

    base::Reader reader_;
    std::optional<base::Error> failed_;
};

template <class T> std::string write(const T& object) {
    return base::to_text(Writer::value(object));
}

template <class T> base::Expected<T> read(std::string_view text) {
    const auto document = base::parse_json(text);
    if (!document) return document.error();
    T object;
    if (auto taken = Taker::take(base::Reader(*document), object, unbounded); !taken)
        return std::move(taken).error();
    return object;
}

} // namespace restart::codec
