// Parsing text from its front: each call removes a part, and leaves the rest in `text`.
#pragma once

#include <algorithm>
#include <string_view>

namespace base {

// The part before `separator`, removed as well; all if there is none.
inline std::string_view next_part(std::string_view& text, char separator) {
    const auto part = text.substr(0, text.find(separator));
    text.remove_prefix(std::min(part.size() + 1, text.size()));
    return part;
}

// Without its newline.
inline std::string_view next_line(std::string_view& text) {
    return next_part(text, '\n');
}

// Between blanks, leading ones removed; empty: there is none.
inline std::string_view next_word(std::string_view& text) {
    constexpr std::string_view blanks = " \t\r";
    text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
    const auto word = text.substr(0, text.find_first_of(blanks));
    text.remove_prefix(word.size());
    return word;
}

} // namespace base
