// The files through which LSF and an esub communicate (LSF 10.1, "Job submission and execution controls"):
// NAME=value lines, with numbers, Y or SUB_RESET as they are, text in quotation marks. LSB_SUB_PARM_FILE
// describes the submission; the values in LSB_SUB_MODIFY_FILE replace it. They look like shell code and
// contain what users type: they are parsed and never executed. Pure.
#pragma once

#include "base/expected.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sched::lsf {

class Parameters {
public:
    // A command may span several lines: a line that does not begin with LSB_SUB_NAME= continues the previous
    // one. Errors (Code::input) give `file` and the line: text before the first name, or a name that occurs
    // twice, as when a line of a command looks like a parameter.
    static base::Expected<Parameters> parse(std::string_view text, std::string_view file);

    bool has(std::string_view name) const; // whatever its value, including SUB_RESET

    // Without quotation marks, and without the \ that LSF puts before those inside; the command line, where
    // LSF does not do so, is returned as is. Nothing: it is missing, or reset.
    std::optional<std::string> text(std::string_view name) const;
    bool yes(std::string_view name) const;
    // Nothing: it is missing, or reset. Errors (Code::input): not a whole number.
    base::Expected<std::optional<std::uint64_t>> number(std::string_view name) const;

    // Replaces or adds it; `value` must not contain a quotation mark.
    void set_text(std::string_view name, std::string_view value);
    void set_yes(std::string_view name);
    // Replaces or adds the parameters of `later`.
    void put(const Parameters& later);

    std::string print() const; // in LSF's format
    bool empty() const { return entries_.empty(); }

private:
    struct Entry {
        std::string name, value; // as in the file
    };
    const Entry* find(std::string_view name) const;
    void set(std::string_view name, std::string value);

    std::vector<Entry> entries_;
};

} // namespace sched::lsf
