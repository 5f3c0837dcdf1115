#include "base/table.hpp"

#include <algorithm>

namespace base {
namespace {

// Columns a terminal gives to UTF-8 text without wide or combining characters.
std::size_t width(const std::string& text) {
    return static_cast<std::size_t>(std::count_if(
        text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

} // namespace

std::string Table::print() const {
    std::vector<std::size_t> widths(heading_.size(), 0);
    const auto measure = [&](const std::vector<std::string>& cells) {
        for (std::size_t i = 0; i < std::min(cells.size(), widths.size()); ++i)
            widths[i] = std::max(widths[i], width(cells[i]));
    };
    measure(heading_);
    for (const auto& row : rows_)
        measure(row);

    std::string out;
    const auto put = [&](const std::vector<std::string>& cells) {
        std::string line;
        for (std::size_t i = 0; i < std::min(cells.size(), widths.size()); ++i) {
            if (i > 0) line += "  ";
            const std::string fill(widths[i] - width(cells[i]), ' ');
            line += align_[i] == Align::right ? fill + cells[i] : cells[i] + fill;
        }
        line.erase(line.find_last_not_of(' ') + 1);
        out += line + '\n';
    };
    put(heading_);
    for (const auto& row : rows_)
        put(row);
    return out;
}

} // namespace base
