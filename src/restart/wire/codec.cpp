#include "restart/wire/codec.hpp"

#include "base/time_text.hpp"
#include "restart/wire/text_times.hpp"

namespace restart::codec {
namespace {

// Times and durations stay well inside what milliseconds in 64 bits can hold.
constexpr double most_seconds = 1e11;

base::Expected<double> seconds_of(const base::Reader& from) {
    auto number = from.number();
    if (!number) return std::move(number).error();
    if (*number < -most_seconds || *number > most_seconds) return from.error("is no time in seconds");
    return *number;
}

template <class T> base::Expected<void> keep(base::Expected<T> value, T& into) {
    if (!value) return std::move(value).error();
    into = *std::move(value);
    return {};
}

} // namespace

void Writer::put(std::string_view key, boost::json::value&& value) {
    object_[key] = std::move(value);
}

boost::json::value Writer::take() && {
    return std::move(object_);
}

boost::json::value Writer::value(std::string_view text) {
    return boost::json::string(text);
}

boost::json::value Writer::value(const boost::json::object& object) {
    return object;
}

boost::json::value Writer::value(base::JobId job) {
    return base::to_json(job);
}

boost::json::value Writer::value(const std::optional<base::JobId>& job) {
    return base::to_json(job);
}

boost::json::value Writer::value(base::Time time) {
    if (!TextTimes::now()) return base::to_seconds(time);
    return time == base::Time{} ? boost::json::value(nullptr) : value(base::iso_time(time));
}

boost::json::value Writer::value(base::Duration duration) {
    return base::to_seconds(duration);
}

boost::json::value Writer::value(std::chrono::microseconds duration) {
    return duration.count();
}

void Taker::take_member(std::string_view key, bool needed, void* into, std::size_t most, Take take_it) {
    if (failed_ || (!needed && !reader_.has(key))) return;
    auto at = reader_.at(key);
    if (!at)
        failed_ = std::move(at).error();
    else if (auto taken = take_it(*at, into, most); !taken)
        failed_ = std::move(taken).error();
}

base::Expected<void> Taker::done() && {
    if (failed_) return std::move(*failed_);
    return {};
}

base::Expected<void> Taker::take(const base::Reader& from, std::string& into, std::size_t most) {
    auto text = from.text();
    if (!text) return std::move(text).error();
    if (!AnyText::now()) {
        if (text->size() > most) return from.error("is longer than " + std::to_string(most) + " bytes");
        for (const char c : *text)
            if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
                return from.error("holds a control character");
    }
    into = *std::move(text);
    return {};
}

base::Expected<void> Taker::take(const base::Reader& from, boost::json::object& into, std::size_t) {
    if (!from.value().is_object()) return from.error("must be an object");
    into = from.value().get_object();
    return {};
}

base::Expected<void> Taker::take(const base::Reader& from, bool& into, std::size_t) {
    return keep(from.boolean(), into);
}

base::Expected<void> Taker::take(const base::Reader& from, double& into, std::size_t) {
    return keep(from.number(), into);
}

base::Expected<void> Taker::take(const base::Reader& from, base::JobId& into, std::size_t) {
    auto job = from.job_id();
    if (!job) return std::move(job).error();
    if (!*job) return from.error("must be above 0");
    into = **job;
    return {};
}

base::Expected<void> Taker::take(const base::Reader& from, std::optional<base::JobId>& into, std::size_t) {
    into.reset();
    if (from.value().is_null()) return {};
    return keep(from.job_id(), into);
}

base::Expected<void> Taker::take(const base::Reader& from, base::Time& into, std::size_t) {
    into = {};
    if (from.value().is_null()) return {};
    if (from.value().is_string()) {
        const auto time = base::parse_time(std::string_view(from.value().get_string()));
        if (!time) return from.error("is no time such as 2026-03-01T13:20:05.123Z");
        into = *time;
        return {};
    }
    const auto seconds = seconds_of(from);
    if (!seconds) return seconds.error();
    into = base::time_from_seconds(*seconds);
    return {};
}

base::Expected<void> Taker::take(const base::Reader& from, base::Duration& into, std::size_t) {
    const auto seconds = seconds_of(from);
    if (!seconds) return seconds.error();
    into = base::duration_from_seconds(*seconds);
    return {};
}

base::Expected<void> Taker::take(const base::Reader& from, std::chrono::microseconds& into, std::size_t) {
    std::int64_t count = 0;
    auto taken = take(from, count, unbounded);
    into = std::chrono::microseconds(count);
    return taken;
}

base::Expected<std::size_t> Taker::take_word(const base::Reader& from,
                                             std::span<const std::string_view> names) {
    const auto word = from.text();
    if (!word) return word.error();
    std::string allowed;
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (*word == names[i]) return i;
        allowed += (i == 0 ? "" : ", ") + std::string(names[i]);
    }
    return from.error("must be one of " + allowed);
}

base::Expected<std::vector<base::Reader>> Taker::items_of(const base::Reader& from, std::size_t most) {
    auto items = from.items();
    if (items && items->size() > most)
        return from.error("holds more than " + std::to_string(most) + " elements");
    return items;
}

base::Expected<std::vector<std::pair<std::string, base::Reader>>> Taker::members_of(const base::Reader& from,
                                                                                    std::size_t most) {
    auto members = from.members();
    if (members && members->size() > most)
        return from.error("holds more than " + std::to_string(most) + " members");
    return members;
}

base::Error Taker::bad_key(const base::Reader& from) {
    return from.error("a key is not a name of 1 to 64 bytes or not a number");
}

bool Taker::take_key(const std::string& key, std::string& into) {
    into = key;
    return AnyText::now() || (!key.empty() && key.size() <= 64);
}

bool Taker::take_key(const std::string& key, base::JobId& into) {
    const auto job = base::JobId::parse(key);
    if (job) into = *job;
    return job.has_value();
}

} // namespace restart::codec
