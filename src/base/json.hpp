// Boost.JSON with errors that name the place: Reader walks a document and reports "hosts[3].name: …".
//
// Boost.JSON is compiled once, in json.cpp, so plugins need no Boost library at run time.
#pragma once

#include "base/expected.hpp"
#include "base/job_id.hpp"

#include <boost/json.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace base {

// Whether a text can be a JSON object at all, for input that is either JSON or a line format.
bool is_object(std::string_view text);

// Parses a document, at most `depth` levels deep. Errors (Code::input) give line and column.
Expected<boost::json::value> parse_json(std::string_view text, std::size_t depth = 32);

// The value as text: compact on one line, or indented by two spaces with a final newline for files.
std::string to_text(const boost::json::value& value);
std::string to_pretty(const boost::json::value& value);

// A job as JSON: a plain number, or the text "12[3]" for an array element; 0 for no job.
boost::json::value to_json(const std::optional<JobId>& job);

// One value and its path. Each getter returns Code::input naming the path, what is expected and what was
// found. A Reader is a view of the document and must not outlive it.
class Reader {
public:
    explicit Reader(const boost::json::value& value, std::string path = {})
        : value_(&value), path_(std::move(path)) {}

    const std::string& path() const { return path_; }
    const boost::json::value& value() const { return *value_; }
    bool has(std::string_view key) const; // an object with this key and a value other than null

    Expected<Reader> at(std::string_view key) const;                       // a required member
    Expected<std::vector<Reader>> items() const;                           // the elements of an array
    Expected<std::vector<std::pair<std::string, Reader>>> members() const; // of an object, in order

    Expected<std::string> text() const;
    Expected<double> number() const; // finite
    Expected<std::int64_t> integer() const;
    Expected<std::int64_t> integer_in(std::int64_t low, std::int64_t high) const;
    // A job as written by to_json(); nothing for 0, which means no job.
    Expected<std::optional<JobId>> job_id() const;
    Expected<bool> boolean() const;

    Expected<std::string> text(std::string_view key) const;
    Expected<double> number(std::string_view key) const;
    Expected<std::int64_t> integer(std::string_view key) const;
    Expected<std::int64_t> integer_in(std::string_view key, std::int64_t low, std::int64_t high) const;
    Expected<bool> boolean(std::string_view key) const;

    // An error at this place of the document.
    Error error(std::string_view what) const;

private:
    Error wanted(std::string_view what) const;

    const boost::json::value* value_;
    std::string path_;
};

} // namespace base
