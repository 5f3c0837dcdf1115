#include "base/json.hpp"

#include <boost/json/basic_parser_impl.hpp>
#include <boost/json/src.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

namespace base {
namespace json = boost::json;
namespace {

std::string_view kind_name(const json::value& value) {
    switch (value.kind()) {
    case json::kind::null: return "null";
    case json::kind::bool_: return "a boolean";
    case json::kind::int64:
    case json::kind::uint64:
    case json::kind::double_: return "a number";
    case json::kind::string: return "a string";
    case json::kind::array: return "an array";
    case json::kind::object: break;
    }
    return "an object";
}

void pretty(const json::value& value, std::string& out, std::size_t indent) {
    const auto open = [&](char bracket) {
        out += bracket;
        out += '\n';
    };
    const auto close = [&](char bracket) {
        out += '\n';
        out.append(indent, ' ');
        out += bracket;
    };
    if (const auto* object = value.if_object(); object && !object->empty()) {
        open('{');
        for (bool first = true; const auto& [key, member] : *object) {
            if (!first) out += ",\n";
            first = false;
            out.append(indent + 2, ' ');
            out += json::serialize(key);
            out += ": ";
            pretty(member, out, indent + 2);
        }
        close('}');
    } else if (const auto* array = value.if_array(); array && !array->empty()) {
        // Arrays of plain values stay on one line.
        const bool flat = std::none_of(array->begin(), array->end(),
                                       [](const json::value& v) { return v.is_structured(); });
        if (flat) {
            out += json::serialize(*array);
            return;
        }
        open('[');
        for (bool first = true; const auto& element : *array) {
            if (!first) out += ",\n";
            first = false;
            out.append(indent + 2, ' ');
            pretty(element, out, indent + 2);
        }
        close(']');
    } else {
        out += json::serialize(value);
    }
}

// Builds a value like Boost's own parser, except for numbers: before Boost 1.82, it reads a tenth of them
// inexactly.
struct Builder {
    using Failed = json::error_code;
    static constexpr auto max_object_size = json::object::max_size();
    static constexpr auto max_array_size = json::array::max_size();
    static constexpr auto max_key_size = json::string::max_size();
    static constexpr auto max_string_size = json::string::max_size();

    json::value_stack stack{};
    std::string number{}; // parts of a number received so far

    // NOLINTBEGIN(readability-convert-member-functions-to-static): the parser's names
    bool on_document_begin(Failed&) { return true; }
    bool on_document_end(Failed&) { return true; }
    bool on_object_begin(Failed&) { return true; }
    bool on_object_end(std::size_t members, Failed&) { return stack.push_object(members), true; }
    bool on_array_begin(Failed&) { return true; }
    bool on_array_end(std::size_t elements, Failed&) { return stack.push_array(elements), true; }
    bool on_key_part(json::string_view text, std::size_t, Failed&) { return stack.push_chars(text), true; }
    bool on_key(json::string_view text, std::size_t, Failed&) { return stack.push_key(text), true; }
    bool on_string_part(json::string_view text, std::size_t, Failed&) { return stack.push_chars(text), true; }
    bool on_string(json::string_view text, std::size_t, Failed&) { return stack.push_string(text), true; }
    bool on_number_part(json::string_view text, Failed&) {
        number.append(text.data(), text.size());
        return true;
    }
    bool on_int64(std::int64_t value, json::string_view, Failed&) {
        number.clear();
        return stack.push_int64(value), true;
    }
    bool on_uint64(std::uint64_t value, json::string_view, Failed&) {
        number.clear();
        return stack.push_uint64(value), true;
    }
    bool on_double(double value, json::string_view rest, Failed&) {
        number.append(rest.data(), rest.size());
        std::from_chars(number.data(), number.data() + number.size(), value); // out of range: unchanged
        number.clear();
        return stack.push_double(value), true;
    }
    bool on_bool(bool value, Failed&) { return stack.push_bool(value), true; }
    bool on_null(Failed&) { return stack.push_null(), true; }
    bool on_comment_part(json::string_view, Failed&) { return true; }
    bool on_comment(json::string_view, Failed&) { return true; }
    // NOLINTEND(readability-convert-member-functions-to-static)
};

} // namespace

bool is_object(std::string_view text) {
    const auto first = text.find_first_not_of(" \t\r\n");
    return first != std::string_view::npos && text[first] == '{';
}

Expected<json::value> parse_json(std::string_view text, std::size_t depth) {
    json::parse_options options;
    options.max_depth = depth;
    // A large document is built in a few large blocks that are freed together: with its hundred thousand
    // small values, allocation would take most of the time.
    constexpr std::size_t large = 1U << 18U;
    const auto storage = text.size() < large
                             ? json::storage_ptr()
                             : json::make_shared_resource<json::monotonic_resource>(text.size() / 2);
    json::basic_parser<Builder> parser(options);
    auto& stack = parser.handler().stack;
    stack.reset(storage);
    json::error_code failed;
    auto read = parser.write_some(true, text.data(), text.size(), failed);
    if (!failed && read < text.size()) {
        // Only white space may follow the document.
        const auto rest = text.find_first_not_of(" \t\r\n", read);
        if (rest != std::string_view::npos) {
            read = rest;
            failed = json::error::extra_data;
        }
    }
    if (!failed) parser.write_some(false, nullptr, 0, failed);
    if (failed) {
        const auto before = text.substr(0, std::min(read, text.size()));
        const auto line = 1 + std::count(before.begin(), before.end(), '\n');
        const auto column =
            before.size() - (before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1) + 1;
        return Error{Code::input,
                     fmt::format("line {}, column {}: not JSON: {}", line, column, failed.message())};
    }
    return stack.release();
}

std::string to_text(const json::value& value) {
    return json::serialize(value);
}

std::string to_pretty(const json::value& value) {
    std::string out;
    pretty(value, out, 0);
    out += '\n';
    return out;
}

bool Reader::has(std::string_view key) const {
    const auto* object = value_->if_object();
    if (object == nullptr) return false;
    const auto* member = object->if_contains(key);
    return member != nullptr && !member->is_null();
}

Error Reader::error(std::string_view what) const {
    return {Code::input, fmt::format("{}: {}", path_.empty() ? "top level" : path_, what)};
}

Error Reader::wanted(std::string_view what) const {
    return error(fmt::format("{} is wanted, not {}", what, kind_name(*value_)));
}

Expected<Reader> Reader::at(std::string_view key) const {
    const auto* object = value_->if_object();
    if (object == nullptr) return wanted("an object");
    const auto* member = object->if_contains(key);
    auto path = path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key);
    if (member == nullptr) return Error{Code::input, fmt::format("{}: is missing", path)};
    return Reader(*member, std::move(path));
}

Expected<std::vector<Reader>> Reader::items() const {
    const auto* array = value_->if_array();
    if (array == nullptr) return wanted("an array");
    std::vector<Reader> result;
    result.reserve(array->size());
    for (std::size_t i = 0; i < array->size(); ++i)
        result.emplace_back((*array)[i], fmt::format("{}[{}]", path_, i));
    return result;
}

Expected<std::vector<std::pair<std::string, Reader>>> Reader::members() const {
    const auto* object = value_->if_object();
    if (object == nullptr) return wanted("an object");
    std::vector<std::pair<std::string, Reader>> result;
    for (const auto& [key, member] : *object) {
        const std::string_view name(key.data(), key.size());
        result.emplace_back(
            std::string(name),
            Reader(member, path_.empty() ? std::string(name) : fmt::format("{}.{}", path_, name)));
    }
    return result;
}

Expected<std::string> Reader::text() const {
    const auto* text = value_->if_string();
    if (text == nullptr) return wanted("a string");
    return std::string(text->data(), text->size());
}

Expected<double> Reader::number() const {
    json::error_code failed;
    const auto number = value_->to_number<double>(failed);
    if (failed || !std::isfinite(number)) return wanted("a number");
    return number;
}

Expected<std::int64_t> Reader::integer() const {
    return integer_in(std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max());
}

Expected<std::int64_t> Reader::integer_in(std::int64_t low, std::int64_t high) const {
    json::error_code failed;
    const auto number = value_->to_number<std::int64_t>(failed);
    if (failed) return wanted("a whole number");
    if (number < low || number > high)
        return error(fmt::format("{} is not between {} and {}", number, low, high));
    return number;
}

Expected<std::optional<JobId>> Reader::job_id() const {
    std::optional<JobId> job;
    if (const auto* words = value_->if_string()) {
        job = JobId::parse(std::string_view(words->data(), words->size()));
        if (!job || job->index() == 0)
            return wanted("a whole number, or of an array's element a text such as \"12[3]\",");
        return job;
    }
    const auto number = integer_in(0, static_cast<std::int64_t>(JobId::most));
    if (!number) return number.error();
    if (*number != 0) job.emplace(static_cast<std::uint64_t>(*number));
    return job;
}

Expected<bool> Reader::boolean() const {
    const auto* boolean = value_->if_bool();
    if (boolean == nullptr) return wanted("true or false");
    return *boolean;
}

namespace {
template <class Get>
auto member(const Reader& reader, std::string_view key, Get get) -> decltype(get(reader)) {
    auto at = reader.at(key);
    if (!at) return std::move(at).error();
    return get(*at);
}
} // namespace

Expected<std::string> Reader::text(std::string_view key) const {
    return member(*this, key, [](const Reader& r) { return r.text(); });
}
Expected<double> Reader::number(std::string_view key) const {
    return member(*this, key, [](const Reader& r) { return r.number(); });
}
Expected<std::int64_t> Reader::integer(std::string_view key) const {
    return member(*this, key, [](const Reader& r) { return r.integer(); });
}
Expected<std::int64_t> Reader::integer_in(std::string_view key, std::int64_t low, std::int64_t high) const {
    return member(*this, key, [&](const Reader& r) { return r.integer_in(low, high); });
}
Expected<bool> Reader::boolean(std::string_view key) const {
    return member(*this, key, [](const Reader& r) { return r.boolean(); });
}

json::value to_json(const std::optional<JobId>& job) {
    if (!job) return 0;
    if (job->index() == 0) return job->number();
    return json::string(to_string(*job));
}

} // namespace base
