#include "restart/ctl/enable/commands.hpp"

#include "base/hostlist.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace restart::enable {
namespace {

std::string line(const std::vector<std::string>& words) {
    std::vector<std::string> safe;
    for (const auto& word : words)
        safe.push_back(quoted(word));
    return fmt::format("{}", fmt::join(safe, " "));
}

std::string ansible(const std::string& hosts) {
    return fmt::format("ansible all -i \"$(scontrol show hostnames {} | paste -sd,),\" -b", quoted(hosts));
}

} // namespace

std::string quoted(const std::string& word) {
    constexpr std::string_view plain = "_-./:=,@%+";
    if (!word.empty() && std::all_of(word.begin(), word.end(), [&](unsigned char c) {
            return std::isalnum(c) != 0 || plain.find(static_cast<char>(c)) != std::string_view::npos;
        }))
        return word;
    std::string safe = "'";
    for (const char c : word)
        safe += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return safe + "'";
}

std::vector<std::string> run_lines(const Wish& wish, const std::vector<std::string>& hosts,
                                   const std::vector<std::string>& words) {
    if (hosts.empty()) return {};
    const auto folded = base::fold_hostlist(hosts);
    const auto rest = line(words);
    if (!wish.run_on_hosts.empty()) return {fmt::format("{} {} {}", wish.run_on_hosts, quoted(folded), rest)};
    return {fmt::format("clush -w {} {}", quoted(folded), rest),
            fmt::format("pdsh -w {} {}", quoted(folded), rest),
            fmt::format("{} -m command -a {}", ansible(folded), quoted(rest))};
}

std::vector<std::string> copy_lines(const Wish& wish, const std::vector<std::string>& hosts,
                                    const std::vector<std::string>& files) {
    if (hosts.empty() || files.empty()) return {};
    const auto folded = base::fold_hostlist(hosts);
    const auto rest = line(files);
    if (!wish.copy_to_hosts.empty())
        return {fmt::format("{} {} {}", wish.copy_to_hosts, quoted(folded), rest)};
    std::vector<std::string> lines{fmt::format("clush -w {} --copy {}", quoted(folded), rest)};
    std::vector<std::string> pdcp, playbook;
    for (const auto& file : files) {
        pdcp.push_back(fmt::format("pdcp -w {} {} {}", quoted(folded), quoted(file), quoted(file)));
        playbook.push_back(fmt::format("{} -m copy -a {}", ansible(folded),
                                       quoted(fmt::format("src={} dest={}", file, file))));
    }
    lines.push_back(fmt::format("{}", fmt::join(pdcp, " && ")));
    lines.push_back(fmt::format("{}", fmt::join(playbook, " && ")));
    return lines;
}

} // namespace restart::enable
