// Boost.JSON with errors that name the place: Reader walks a document and says "hosts[3].name: …".
//
// Boost.JSON is compiled once, in json.cpp, so that no plugin needs a Boost library at run time.
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

// Whether a text can be an object at all, for what is given as JSON or in a form of lines.
bool is_object(std::string_view text);

// A document from text, at most `depth` levels deep. Errors (Code::input) say line and column.
Expected<boost::json::value> parse_json(std::string_view text, std::size_t depth = 32);

// The value as text: compact on one line, or indented by two spaces with a final newline for files.
std::string to_text(const boost::json::value& value);
std::string to_pretty(const boost::json::value& value);

// A job as JSON: a plain number, of an array's element the text "12[3]"; 0 for none.
boost::json::value to_json(const std::optional<JobId>& job);

// One value and its path. Each getter returns Code::input naming the path, what is wanted and what is there.
// A Reader views the document; it must not outlive it.
class Reader {
public:
    explicit Reader(const boost::json::value& value, std::string path = {})
        : value_(&value), path_(std::move(path)) {}

    const std::string& path() const { return path_; }
    const boost::json::value& value() const { return *value_; }
    bool has(std::string_view key) const; // an object that carries `key` with a value other than null

    Expected<Reader> at(std::string_view key) const;                       // a member that must be there
    Expected<std::vector<Reader>> items() const;                           // the elements of an array
    Expected<std::vector<std::pair<std::string, Reader>>> members() const; // of an object, in order

    Expected<std::string> text() const;
    Expected<double> number() const; // finite
    Expected<std::int64_t> integer() const;
    Expected<std::int64_t> integer_in(std::int64_t low, std::int64_t high) const;
    // A job as to_json() has it; nothing for 0, which stands for none.
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
