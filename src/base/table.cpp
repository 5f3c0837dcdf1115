#include "base/table.hpp"

#include <algorithm>
#include <numeric>

namespace base {
namespace {

constexpr std::size_t gap = 2;       // between columns
constexpr std::size_t narrowest = 8; // minimum width of a column on a narrow terminal

bool begins_character(char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
}

// The columns that UTF-8 text without wide or combining characters takes on a terminal.
std::size_t width(std::string_view text) {
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), begins_character));
}

// The size in bytes of its first characters, at most `characters`.
std::size_t bytes_of(std::string_view text, std::size_t characters) {
    std::size_t at = 0;
    for (; at < text.size(); ++at)
        if (begins_character(text[at]) && characters-- == 0) break;
    return at;
}

// The cell split into lines of at most `most` characters: at blanks, else after commas, else anywhere.
std::vector<std::string> lines_of(std::string_view cell, std::size_t most) {
    std::vector<std::string> lines;
    while (width(cell) > most) {
        const auto room = bytes_of(cell, most);
        auto end = cell.rfind(' ', room);
        if (end == std::string_view::npos || end == 0) {
            const auto comma = cell.rfind(',', room - 1);
            end = comma == std::string_view::npos ? room : comma + 1;
        }
        lines.emplace_back(cell.substr(0, end));
        cell.remove_prefix(end);
        cell.remove_prefix(std::min(cell.find_first_not_of(' '), cell.size()));
    }
    lines.emplace_back(cell);
    return lines;
}

} // namespace

void Table::at_least(const std::vector<std::size_t>& widths) {
    std::copy_n(widths.begin(), std::min(widths.size(), least_.size()), least_.begin());
}

std::vector<std::size_t> Table::widths(std::size_t columns) const {
    auto widths = least_;
    const auto measure = [&](const std::vector<std::string>& cells) {
        for (std::size_t i = 0; i < std::min(cells.size(), widths.size()); ++i)
            widths[i] = std::max(widths[i], width(cells[i]));
    };
    measure(heading_);
    for (const auto& row : rows_)
        measure(row.cells);
    if (columns == 0 || widths.empty()) return widths;
    auto needed = std::accumulate(widths.begin(), widths.end(), gap * (widths.size() - 1));
    for (; needed > columns; --needed) {
        const auto widest = std::max_element(widths.begin(), widths.end());
        if (*widest <= narrowest) break;
        --*widest;
    }
    return widths;
}

std::string Table::line(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths) const {
    std::string line;
    for (std::size_t i = 0; i < std::min(cells.size(), widths.size()); ++i) {
        if (i > 0) line += std::string(gap, ' ');
        const std::string fill(widths[i] - std::min(widths[i], width(cells[i])), ' ');
        line += align_[i] == Align::right ? fill + cells[i] : cells[i] + fill;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    return line;
}

std::string Table::text(const Row& row, const std::vector<std::size_t>& widths, const Look& look) const {
    std::vector<std::vector<std::string>> columns;
    std::size_t height = 1;
    for (std::size_t i = 0; i < std::min(row.cells.size(), widths.size()); ++i) {
        columns.push_back(lines_of(row.cells[i], std::max<std::size_t>(widths[i], 1)));
        height = std::max(height, columns.back().size());
    }
    std::string out;
    for (std::size_t at = 0; at < height; ++at) {
        std::vector<std::string> cells;
        for (const auto& lines : columns)
            cells.push_back(at < lines.size() ? lines[at] : std::string());
        out += tinted(line(cells, widths), row.tint, look) + '\n';
    }
    return out;
}

std::string Table::print(const Look& look) const {
    return text({heading_, Tint::heading}, widths(look.columns), look) + print_rows(look);
}

std::string Table::print_rows(const Look& look) const {
    std::string out;
    const auto fitting = widths(look.columns);
    for (const auto& row : rows_)
        out += text(row, fitting, look);
    return out;
}

} // namespace base
