#include "restart/watch/rules_file.hpp"

#include <fmt/format.h>

namespace restart {

std::filesystem::path rules_path(const base::Conf& conf, const std::string& named) {
    if (!named.empty()) return named;
    return (conf.file.empty() ? base::conf_path({}) : conf.file).parent_path() / "health.conf";
}

base::Expected<RuleSet> read_rules(const base::Conf& conf, const std::string& named) {
    const auto path = rules_path(conf, named);
    std::error_code ignored;
    if (!named.empty() && !std::filesystem::exists(path, ignored))
        return base::Error{base::Code::io, fmt::format("--rules: {}: there is no such file", path.string())};
    return RuleSet::from_file(path);
}

} // namespace restart
