// The rules in effect: the built-in ones (table.hpp), with the changes and additions of a site's
// health.conf(5).
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
    RuleSet(); // the built-in ones

    // The built-in rules with a file's changes: fields of a row with a built-in name, or a new row, which
    // comes before the built-in ones. Errors (Code::input) have the form "FILE:LINE: ROW: FIELD: …" for text
    // that is not TOML, unknown fields, words and signals, and combinations that make no sense; Code::io when
    // it cannot be read.
    static base::Expected<RuleSet> from_text(std::string_view text, std::string_view file_name);
    // If there is no such file: the built-in rules.
    static base::Expected<RuleSet> from_file(const std::filesystem::path& path);

    std::span<const Rule> rows() const { return rows_; }
    const Rule* find(std::string_view name) const; // null: none

    // Only the row of that name.
    RuleSet only(std::string_view name) const;

    // All rows in a form that from_text can read. Fields at their default are omitted.
    std::string print() const;

    // Owns the texts of rows; keep it along with copies of rows.
    std::shared_ptr<const void> texts() const { return texts_; }

private:
    friend class RuleReader;
    std::vector<Rule> rows_;
    std::shared_ptr<std::deque<std::string>> texts_; // from the file
};

} // namespace restart
