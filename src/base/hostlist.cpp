#include "base/hostlist.hpp"
#include "base/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iterator>

namespace base {
namespace {

constexpr std::size_t most_names = std::size_t{1} << 20;
constexpr std::size_t longest_name = 255; // of a name with brackets, not counting the numbers
constexpr int most_pairs = 8;

bool digit(char c) {
    return c >= '0' && c <= '9';
}

Error bad(std::string_view text, std::string_view why) {
    return {Code::input, fmt::format("host list \"{}\": {}", text, why)};
}

Error too_many(std::string_view text) {
    return bad(text, fmt::format("more than {} names", most_names));
}

// Adds each number of "001-003" or "7", keeping its width.
Expected<void> expand_range(std::string_view text, std::string_view range,
                            std::vector<std::string>& numbers) {
    const auto dash = range.find('-');
    const auto first = range.substr(0, dash);
    const auto last = dash == std::string_view::npos ? first : range.substr(dash + 1);
    if (first.size() > 18 || last.size() > 18)
        return bad(text, fmt::format("number too long in [{}]", range));
    const auto low = parse_count(first);
    const auto high = parse_count(last);
    if (!low || !high)
        return bad(text, fmt::format("[{}] is not a number or a range such as 001-016", range));
    if (*high < *low) return bad(text, fmt::format("the range [{}] runs backwards", range));
    if (*high - *low >= most_names - std::min(numbers.size(), most_names)) return too_many(text);
    for (auto n = *low; n <= *high; ++n)
        numbers.push_back(fmt::format("{:0{}}", n, first.size()));
    return {};
}

// The end of the item that starts at `from`: the next comma outside brackets.
std::size_t item_end(std::string_view text, std::size_t from) {
    int depth = 0;
    for (auto i = from; i < text.size(); ++i) {
        if (text[i] == '[') ++depth;
        if (text[i] == ']') --depth;
        if (text[i] == ',' && depth <= 0) return i;
    }
    return text.size();
}

// "001-003,7": the content of a pair of brackets.
Expected<std::vector<std::string>> expand_ranges(std::string_view text, std::string_view ranges) {
    std::vector<std::string> numbers;
    for (;;) {
        const auto comma = ranges.find(',');
        if (auto done = expand_range(text, ranges.substr(0, comma), numbers); !done)
            return std::move(done).error();
        if (comma == std::string_view::npos) return numbers;
        ranges.remove_prefix(comma + 1);
    }
}

// "rack[0-1]_blade[0-1]": every number of a bracket with every one of the next, the first changing last.
// Limits are checked first: a short text can expand to more than fits into memory.
Expected<void> expand_item(std::string_view text, std::string_view item, std::vector<std::string>& names) {
    if (item.empty()) return bad(text, "an empty name");
    std::vector<std::string> made{""};
    std::size_t length = 0;
    for (int pairs = 0;; ++pairs) {
        const auto open = std::min(item.find('['), item.size());
        const auto plain = item.substr(0, open);
        if (plain.find(']') != std::string_view::npos) return bad(text, "] without [");
        item.remove_prefix(open);
        length += plain.size();
        if (length > longest_name && (pairs > 0 || !item.empty())) return bad(text, "a name is too long");
        for (auto& name : made)
            name += plain;
        if (item.empty()) break;
        if (pairs == most_pairs)
            return bad(text, fmt::format("more than {} pairs of brackets in a name", most_pairs));
        const auto close = item.find(']');
        if (close == std::string_view::npos) return bad(text, "[ without ]");
        const auto numbers = expand_ranges(text, item.substr(1, close - 1));
        if (!numbers) return numbers.error();
        if (made.size() * numbers->size() > most_names) return too_many(text);
        std::vector<std::string> longer;
        longer.reserve(made.size() * numbers->size());
        for (const auto& name : made)
            for (const auto& number : *numbers)
                longer.push_back(name + number);
        made = std::move(longer);
        item.remove_prefix(close + 1);
    }
    if (made.size() > most_names - names.size()) return too_many(text);
    std::move(made.begin(), made.end(), std::back_inserter(names));
    return {};
}

// A name split into prefix and trailing number; width 0 means no number.
struct Numbered {
    std::string_view prefix;
    std::string_view digits;
    std::uint64_t number = 0;
};

Numbered split_number(std::string_view name) {
    auto cut = name.size();
    while (cut > 0 && digit(name[cut - 1]) && name.size() - cut < 18)
        --cut;
    Numbered result{name.substr(0, cut), name.substr(cut), 0};
    if (!result.digits.empty()) result.number = *parse_count(result.digits);
    return result;
}

// Whether `b` directly follows `a` in a folded range.
bool follows(const Numbered& a, const Numbered& b) {
    return !a.digits.empty() && !b.digits.empty() && a.prefix == b.prefix &&
           a.digits.size() == b.digits.size() && b.number == a.number + 1;
}

} // namespace

Expected<std::vector<std::string>> expand_hostlist(std::string_view text) {
    std::vector<std::string> names;
    if (text.empty()) return names;
    for (std::size_t from = 0;;) {
        const auto end = item_end(text, from);
        if (auto done = expand_item(text, text.substr(from, end - from), names); !done)
            return std::move(done).error();
        if (end == text.size()) return names;
        from = end + 1;
    }
}

std::string fold_hostlist(const std::vector<std::string>& names) {
    std::string out;
    for (std::size_t i = 0; i < names.size();) {
        const auto first = split_number(names[i]);
        // One pair of brackets holds all ranges of neighbours with the same prefix and width.
        std::string ranges;
        std::size_t in_bracket = 0;
        auto j = i;
        while (j < names.size()) {
            const auto start = split_number(names[j]);
            if (first.digits.empty() || start.prefix != first.prefix ||
                start.digits.size() != first.digits.size())
                break;
            auto last = start;
            auto k = j + 1;
            for (; k < names.size(); ++k) {
                const auto next = split_number(names[k]);
                if (!follows(last, next)) break;
                last = next;
            }
            if (!ranges.empty()) ranges += ',';
            ranges += start.digits;
            if (k - j > 1) fmt::format_to(std::back_inserter(ranges), "-{}", last.digits);
            in_bracket += k - j;
            j = k;
        }
        if (!out.empty()) out += ',';
        if (in_bracket > 1) {
            fmt::format_to(std::back_inserter(out), "{}[{}]", first.prefix, ranges);
            i = j;
        } else {
            out += names[i];
            ++i;
        }
    }
    return out;
}

bool natural_less(std::string_view a, std::string_view b) {
    std::size_t i = 0, j = 0;
    while (i < a.size() && j < b.size()) {
        if (digit(a[i]) && digit(b[j])) {
            auto i2 = i, j2 = j;
            while (i2 < a.size() && a[i2] == '0')
                ++i2;
            while (j2 < b.size() && b[j2] == '0')
                ++j2;
            auto i3 = i2, j3 = j2;
            while (i3 < a.size() && digit(a[i3]))
                ++i3;
            while (j3 < b.size() && digit(b[j3]))
                ++j3;
            if (i3 - i2 != j3 - j2) return i3 - i2 < j3 - j2;
            if (const int order = a.substr(i2, i3 - i2).compare(b.substr(j2, j3 - j2)); order != 0)
                return order < 0;
            i = i3;
            j = j3;
            continue;
        }
        if (a[i] != b[j]) return static_cast<unsigned char>(a[i]) < static_cast<unsigned char>(b[j]);
        ++i;
        ++j;
    }
    if ((i == a.size()) != (j == b.size())) return i == a.size();
    return a < b; // numerically equal: "n01" before "n1"
}

std::string fold_sorted(std::vector<std::string> names) {
    std::sort(names.begin(), names.end(), natural_less);
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return fold_hostlist(names);
}

} // namespace base
