// The files by which LSF and an esub talk (LSF 10.1, "Job submission and execution controls"): NAME=value
// lines, a number, Y or SUB_RESET as they are, text in quotation marks. LSB_SUB_PARM_FILE says what is
// submitted; what stands in LSB_SUB_MODIFY_FILE replaces it. They are shell code by their looks, and what
// users type stands in them: they are parsed and never executed. Pure.
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
    // A command may have several lines: what begins with no LSB_SUB_NAME= goes on with the line before it.
    // Errors (Code::input) name `file` and the line: text before the first name, or a name that comes twice,
    // as it does where a line of a command looks like a parameter.
    static base::Expected<Parameters> parse(std::string_view text, std::string_view file);

    bool has(std::string_view name) const; // whatever its value, SUB_RESET as well

    // Without quotation marks, and without the \ that LSF puts before those within; of the command line,
    // where it does not, as it stands. Nothing: it is not there, or reset.
    std::optional<std::string> text(std::string_view name) const;
    bool yes(std::string_view name) const;
    // Nothing: it is not there, or reset. Errors (Code::input): it is no whole number.
    base::Expected<std::optional<std::uint64_t>> number(std::string_view name) const;

    // Replaces or adds; `value` must hold no quotation mark.
    void set_text(std::string_view name, std::string_view value);
    void set_yes(std::string_view name);
    // Replaces and adds what `later` has.
    void put(const Parameters& later);

    std::string print() const; // as LSF reads it back
    bool empty() const { return entries_.empty(); }

private:
    struct Entry {
        std::string name, value; // as it stands in the file
    };
    const Entry* find(std::string_view name) const;
    void set(std::string_view name, std::string value);

    std::vector<Entry> entries_;
};

} // namespace sched::lsf
