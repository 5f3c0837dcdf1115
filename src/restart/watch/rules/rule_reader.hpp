// Reads health.conf(5) on top of the built-in rules; for rule_set.cpp.
#pragma once

#include "base/toml.hpp"
#include "restart/watch/rules/fields.hpp"
#include "restart/watch/rules/rule_set.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace restart {

// The initial values of a row that is not built in.
Rule new_rule();

class RuleReader {
public:
    explicit RuleReader(std::string_view file) : file_(file) {}

    base::Expected<RuleSet> read(std::string_view text);

private:
    base::Error error(std::uint32_t line, std::string_view what) const;
    base::Expected<void> read_row(const base::TomlTable& table);
    base::Expected<void> read_field(Rule& rule, const RuleField& field, const base::TomlValue& value);
    // Checks a row, field by field; the line is that of the field if the file has it.
    base::Expected<void> check(const Rule& rule, const base::TomlTable& table) const;
    std::string_view keep(std::string text);

    std::string file_;
    RuleSet rules_;
    std::vector<Rule> fresh_;
    std::map<std::string, std::uint32_t, std::less<>> lines_; // of the rows in the file
};

} // namespace restart
