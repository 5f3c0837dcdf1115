// Structs to JSON and back from one list of fields: `fields(codec, object)` names each member with its key
// and bound, and both directions run it. Internal to restart; include only from .cpp files (Boost.JSON).
//
//   template <class Codec> void fields(Codec& codec, Of<Commit> auto& commit) {
//       codec("step", commit.step);
//       codec("path", commit.path, 4096);   // at most so many bytes, elements or members
//   }
//
// codec(…) must be there; codec.added(…) is always written and may be absent, as an older sender leaves it
// (the member keeps its default); codec.maybe(…) is not written when empty, too. The first failure is kept
// and ends the walk.
#pragma once

#include "base/clock.hpp"
#include "base/job_id.hpp"
#include "base/json.hpp"

#include <charconv>
#include <concepts>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

namespace restart::codec {

template <class T, class Plain>
concept Of = std::same_as<std::remove_const_t<T>, Plain>;

// Names of an enumeration, by value: specialise with `static constexpr std::array<std::string_view, N>
// names`.
template <class T> struct Names;

// No bound is meant only for what the daemon wrote itself.
inline constexpr std::size_t unbounded = std::numeric_limits<std::size_t>::max();
// Times and durations stay well inside what milliseconds in 64 bits can hold.
inline constexpr double most_seconds = 1e11;

// While one lives, this thread takes texts of any length, control characters and all: for what restartd wrote
// itself of what others told it.
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
        object_[key] = value(member);
    }
    template <class T> void added(std::string_view key, const T& member, std::size_t = unbounded) {
        object_[key] = value(member);
    }
    template <class T> void maybe(std::string_view key, const T& member, std::size_t = unbounded) {
        if (!(member == T{})) object_[key] = value(member);
    }
    boost::json::object take() && { return std::move(object_); }

    static boost::json::value value(const std::string& text) { return boost::json::string(text); }
    static boost::json::value value(const boost::json::object& object) { return object; }
    static boost::json::value value(base::JobId job) { return base::to_json(job); }
    static boost::json::value value(const std::optional<base::JobId>& job) { return base::to_json(job); }
    static boost::json::value value(base::Time time) { return base::to_seconds(time); }
    static boost::json::value value(base::Duration duration) { return base::to_seconds(duration); }
    static boost::json::value value(std::chrono::microseconds duration) { return duration.count(); }
    template <class T>
    requires std::is_arithmetic_v<T>
    static boost::json::value value(T number) { return number; }
    template <class T>
    requires std::is_enum_v<T>
    static boost::json::value value(T word) {
        return boost::json::string(Names<T>::names.at(static_cast<std::size_t>(word)));
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
    boost::json::object object_;
};

class Taker {
public:
    explicit Taker(base::Reader reader) : reader_(std::move(reader)) {}

    template <class T> void operator()(std::string_view key, T& member, std::size_t most = unbounded) {
        if (failed_) return;
        auto at = reader_.at(key);
        if (!at)
            failed_ = std::move(at).error();
        else if (auto taken = take(*at, member, most); !taken)
            failed_ = std::move(taken).error();
    }
    // null is absent, too.
    template <class T> void added(std::string_view key, T& member, std::size_t most = unbounded) {
        if (!failed_ && reader_.has(key)) (*this)(key, member, most);
    }
    template <class T> void maybe(std::string_view key, T& member, std::size_t most = unbounded) {
        added(key, member, most);
    }
    base::Expected<void> done() && {
        if (failed_) return std::move(*failed_);
        return {};
    }

    // Text: at most `most` bytes and no control characters, which have no place in reasons and timelines.
    static base::Expected<void> take(const base::Reader& from, std::string& into, std::size_t most) {
        return keep(from.text(), into, [&](const std::string& text) -> base::Expected<void> {
            if (AnyText::now()) return {};
            if (text.size() > most) return from.error("is longer than " + std::to_string(most) + " bytes");
            for (const char c : text)
                if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
                    return from.error("holds a control character");
            return {};
        });
    }
    static base::Expected<void> take(const base::Reader& from, boost::json::object& into, std::size_t) {
        if (!from.value().is_object()) return from.error("must be an object");
        into = from.value().get_object();
        return {};
    }
    static base::Expected<void> take(const base::Reader& from, bool& into, std::size_t) {
        return keep(from.boolean(), into);
    }
    static base::Expected<void> take(const base::Reader& from, double& into, std::size_t) {
        return keep(from.number(), into);
    }
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
    static base::Expected<void> take(const base::Reader& from, base::JobId& into, std::size_t) {
        auto job = from.job_id();
        if (!job) return std::move(job).error();
        if (!*job) return from.error("must be above 0");
        into = **job;
        return {};
    }
    // 0 is none, as releases before optional jobs wrote it.
    static base::Expected<void> take(const base::Reader& from, std::optional<base::JobId>& into,
                                     std::size_t) {
        into.reset();
        if (from.value().is_null()) return {};
        return keep(from.job_id(), into);
    }
    static base::Expected<void> take(const base::Reader& from, base::Time& into, std::size_t) {
        return seconds(from, [&](double s) { into = base::time_from_seconds(s); });
    }
    static base::Expected<void> take(const base::Reader& from, base::Duration& into, std::size_t) {
        return seconds(from, [&](double s) { into = base::duration_from_seconds(s); });
    }
    static base::Expected<void> take(const base::Reader& from, std::chrono::microseconds& into, std::size_t) {
        std::int64_t count = 0;
        auto taken = take(from, count, unbounded);
        into = std::chrono::microseconds(count);
        return taken;
    }
    template <class T>
    requires std::is_enum_v<T>
    static base::Expected<void> take(const base::Reader& from, T& into, std::size_t) {
        auto word = from.text();
        if (!word) return std::move(word).error();
        std::string allowed;
        for (std::size_t i = 0; i < Names<T>::names.size(); ++i) {
            if (*word == Names<T>::names[i]) {
                into = static_cast<T>(i);
                return {};
            }
            allowed += (i == 0 ? "" : ", ") + std::string(Names<T>::names[i]);
        }
        return from.error("must be one of " + allowed);
    }
    template <class T>
    static base::Expected<void> take(const base::Reader& from, std::optional<T>& into, std::size_t most) {
        into.reset();
        if (from.value().is_null()) return {};
        return take(from, into.emplace(), most);
    }
    template <class T>
    static base::Expected<void> take(const base::Reader& from, std::vector<T>& into, std::size_t most) {
        auto items = from.items();
        if (!items) return std::move(items).error();
        if (items->size() > most) return from.error("holds more than " + std::to_string(most) + " elements");
        into.clear();
        into.reserve(items->size());
        for (const auto& item : *items)
            if (auto taken = take(item, into.emplace_back(), text_bound); !taken) return taken;
        return {};
    }
    template <class Id, class T, class Less>
    static base::Expected<void> take(const base::Reader& from, std::map<Id, T, Less>& into,
                                     std::size_t most) {
        auto members = from.members();
        if (!members) return std::move(members).error();
        if (members->size() > most) return from.error("holds more than " + std::to_string(most) + " members");
        into.clear();
        for (const auto& [key, member] : *members) {
            Id id{};
            if (!take_key(key, id)) return from.error("a key is not a name of 1 to 64 bytes or not a number");
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

    static bool take_key(const std::string& key, std::string& into) {
        into = key;
        return AnyText::now() || (!key.empty() && key.size() <= 64);
    }
    static bool take_key(const std::string& key, base::JobId& into) {
        const auto job = base::JobId::parse(key);
        if (job) into = *job;
        return job.has_value();
    }
    template <std::unsigned_integral Id> static bool take_key(const std::string& key, Id& into) {
        const auto [end, failed] = std::from_chars(key.data(), key.data() + key.size(), into);
        return failed == std::errc{} && end == key.data() + key.size();
    }

    template <class T, class Check>
    static base::Expected<void> keep(base::Expected<T> value, T& into, Check check) {
        if (!value) return std::move(value).error();
        if (auto sound = check(*value); !sound) return sound;
        into = *std::move(value);
        return {};
    }
    template <class T> static base::Expected<void> keep(base::Expected<T> value, T& into) {
        return keep(std::move(value), into, [](const T&) -> base::Expected<void> { return {}; });
    }
    template <class Set> static base::Expected<void> seconds(const base::Reader& from, Set set) {
        auto number = from.number();
        if (!number) return std::move(number).error();
        if (*number < -most_seconds || *number > most_seconds) return from.error("is no time in seconds");
        set(*number);
        return {};
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
