// Tables as text: columns as wide as their widest cell, numbers right-aligned, no trailing spaces.
#pragma once

#include "base/terminal.hpp"

#include <string>
#include <vector>

namespace base {

class Table {
public:
    enum class Align { left, right };

    explicit Table(std::vector<std::string> heading)
        : heading_(std::move(heading)), align_(heading_.size(), Align::left), least_(heading_.size(), 0) {}
    void align(std::size_t column, Align align) { align_.at(column) = align; }
    // Minimum widths, from the first column on, so that consecutive tables line up.
    void at_least(const std::vector<std::size_t>& widths);
    void add(std::vector<std::string> cells, Tint tint = Tint::none) {
        rows_.push_back({std::move(cells), tint});
    }
    bool empty() const { return rows_.empty(); }

    // The heading as given, in capitals, two spaces between columns, a newline after each row. On a terminal
    // that is too narrow, the widest columns are narrowed and their cells wrapped.
    std::string print(const Look& look = {}) const;
    // Without the heading.
    std::string print_rows(const Look& look = {}) const;

private:
    struct Row {
        std::vector<std::string> cells;
        Tint tint = Tint::none;
    };

    std::vector<std::size_t> widths(std::size_t columns) const;
    std::string line(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths) const;
    std::string text(const Row& row, const std::vector<std::size_t>& widths, const Look& look) const;

    std::vector<std::string> heading_;
    std::vector<Align> align_;
    std::vector<std::size_t> least_;
    std::vector<Row> rows_;
};

} // namespace base
