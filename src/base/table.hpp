// Tables as text: columns as wide as their widest cell, numbers to the right, nothing after the last.
#pragma once

#include <string>
#include <vector>

namespace base {

class Table {
public:
    enum class Align { left, right };

    explicit Table(std::vector<std::string> heading)
        : heading_(std::move(heading)), align_(heading_.size(), Align::left) {}
    void align(std::size_t column, Align align) { align_.at(column) = align; }
    void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
    bool empty() const { return rows_.empty(); }

    // Heading in capitals as given, two spaces between columns, a newline after each row.
    std::string print() const;

private:
    std::vector<std::string> heading_;
    std::vector<Align> align_;
    std::vector<std::vector<std::string>> rows_;
};

} // namespace base
