// Common parts of readers of line-based text: lines, a cursor in a line, and the error at a token.
#pragma once

#include "topo/guid.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace topo {

// Thrown only inside the readers, by the cursor at an invalid token.
struct Unreadable {
    std::string text;
};

// A line being read from its front; every reader below consumes what it names or throws Unreadable.
class Cursor {
public:
    explicit Cursor(std::string_view rest) : rest_(rest) {}

    std::string_view rest() const { return rest_; }
    void skip_space();
    bool take(std::string_view prefix);
    void need(std::string_view prefix);
    bool at_end(); // after white space
    std::string_view word();
    // Up to the first of these characters, which is not consumed.
    std::string_view until(std::string_view any);
    std::uint64_t number(std::uint64_t most, int base, std::string_view what);
    std::uint8_t port();
    std::uint16_t lid();
    Guid guid(); // hexadecimal, 0x or not
    // The text between `quote` here and the last one in the line: descriptions may contain quotes.
    std::string_view quoted_to_last(char quote);
    [[noreturn]] void fail(std::string_view what) const;

private:
    std::string_view rest_;
};

// Lines one by one, without line ends.
class Lines {
public:
    explicit Lines(std::string_view text) : text_(text) {}
    bool next(std::string_view& line);
    std::uint32_t number() const { return number_; }
    // The line is the last one and has no newline: the text may be truncated.
    bool cut() const { return text_.empty() && !ended_; }

private:
    std::string_view text_;
    std::uint32_t number_ = 0;
    bool ended_ = true;
};

std::string_view trimmed(std::string_view text); // of blanks and tabs

// Ignores the case of ASCII letters.
bool same_word(std::string_view a, std::string_view b);

// A GUID for something that only has a name: the same for the same name, and not that of a device (guid.hpp).
Guid made_guid(Made what, std::string_view name);

} // namespace topo
