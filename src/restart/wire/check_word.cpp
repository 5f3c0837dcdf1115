#include "restart/wire/check_word.hpp"

#include "base/utf8.hpp"
#include "restart/wire/report_fields.hpp"

namespace restart {
namespace {

constexpr std::size_t longest_name = 64, longest_says = 160;

void cut(std::string& text, std::size_t most) {
    text = base::printable(text, most);
}

} // namespace

std::string_view to_string(CheckVerdict verdict) {
    return codec::Names<CheckVerdict>::names.at(static_cast<std::size_t>(verdict));
}

std::optional<double> CheckWord::share() const {
    if (!value || !expected || *expected <= 0) return {};
    return *value / *expected;
}

std::string to_line(CheckWord word) {
    for (auto* name : {&word.host, &word.check, &word.component})
        cut(*name, longest_name);
    cut(word.unit, 16);
    cut(word.says, longest_says);
    return codec::write(word) + '\n';
}

base::Expected<CheckWord> read_check_word(std::string_view line) {
    return codec::read<CheckWord>(line);
}

} // namespace restart
