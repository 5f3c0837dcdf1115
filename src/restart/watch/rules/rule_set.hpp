// The rules in force: those of the program (table.hpp), and what a site's health.conf(5) changes and adds.
#pragma once

#include "base/expected.hpp"
#include "restart/watch/rules/rule.hpp"

#include <deque>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace restart {

class RuleSet {
public:
    RuleSet(); // the program's

    // A file's over the program's: fields of a row whose name the program has, or a new row, which comes
    // before the program's. Errors (Code::input) say "FILE:LINE: ROW: FIELD: …" for text that is not TOML,
    // unknown fields, words and signals, and what makes no sense together; Code::io when it cannot be read.
    static base::Expected<RuleSet> from_text(std::string_view text, std::string_view file_name);
    // Without such a file: the program's.
    static base::Expected<RuleSet> from_file(const std::filesystem::path& path);

    std::span<const Rule> rows() const { return rows_; }
    const Rule* find(std::string_view name) const; // null: there is none

    // The row of that name by itself.
    RuleSet only(std::string_view name) const;

    // Every row as a file that from_text reads back. Fields at their default are left out.
    std::string print() const;

    // What keeps the texts of rows alive, for who copies rows.
    std::shared_ptr<const void> texts() const { return texts_; }

private:
    friend class RuleReader;
    std::vector<Rule> rows_;
    std::shared_ptr<std::deque<std::string>> texts_; // of the file
};

} // namespace restart
