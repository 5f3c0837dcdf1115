#include "sched/why_comment.hpp"

#include "sched/words.hpp"

#include <algorithm>
#include <optional>

namespace sched {
namespace {

constexpr std::size_t longest = 400;

// Where the part stands: its separator and blanks before it included.
struct Place {
    std::size_t begin = 0; // of the separator, or of the comment
    std::size_t text = 0;  // behind the label
    std::size_t end = 0;   // the next separator, or the comment's end
};

std::optional<Place> find(std::string_view comment, std::string_view label) {
    for (std::size_t begin = 0;;) {
        const auto first = comment.find_first_not_of("; \t", begin);
        if (first == std::string_view::npos) return {};
        const auto end = std::min(comment.find(';', first), comment.size());
        if (comment.substr(first).starts_with(label)) {
            const auto separator = comment.rfind(';', first);
            return Place{separator == std::string_view::npos ? 0 : separator, first + label.size(), end};
        }
        if (end == comment.size()) return {};
        begin = end;
    }
}

} // namespace

std::string_view part_in(std::string_view comment, std::string_view label) {
    const auto place = find(comment, label);
    if (!place) return {};
    auto text = comment.substr(place->text, place->end - place->text);
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    return text;
}

std::string with_part(std::string_view comment, std::string_view label, std::string_view text) {
    const auto place = find(comment, label);
    auto before = place ? comment.substr(0, place->begin) : comment;
    auto after = place ? comment.substr(place->end) : std::string_view();
    std::string out(before);
    if (!text.empty()) {
        if (!out.empty()) out += "; ";
        out += label;
        out += ' ';
        out += as_phrase(text, longest);
    } else if (out.empty()) { // the part was the first: the next one begins the comment
        after.remove_prefix(std::min(after.find_first_not_of("; "), after.size()));
    }
    out += after;
    return out;
}

std::string_view why_in(std::string_view comment) {
    return part_in(comment, why_label);
}

std::string with_why(std::string_view comment, std::string_view text) {
    return with_part(comment, why_label, text);
}

} // namespace sched
