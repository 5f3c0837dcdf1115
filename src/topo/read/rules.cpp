#include "topo/read/rules.hpp"

#include "base/file.hpp"
#include "base/hostlist.hpp"
#include "base/toml.hpp"
#include "topo/names.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace topo {
namespace {

using base::Code;
using base::Error;
using base::Expected;

constexpr int most_rails = 1024; // as in fabric.json(5)
constexpr std::size_t most_names = std::size_t{1} << 20;

// '*' and '?' by backtracking to the last star only: linear in practice, length x length at worst.
bool glob(std::string_view pattern, std::string_view name) {
    std::size_t p = 0, n = 0, star = std::string_view::npos, held = 0;
    while (n < name.size()) {
        if (p < pattern.size() && pattern[p] == '*') {
            star = p++;
            held = n;
        } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == name[n])) {
            ++p;
            ++n;
        } else if (star != std::string_view::npos) {
            p = star + 1;
            n = ++held;
        } else {
            return false;
        }
    }
    while (p < pattern.size() && pattern[p] == '*')
        ++p;
    return p == pattern.size();
}

std::size_t find(const Patterns& patterns, std::string_view device, std::string_view pci) {
    return std::min(patterns.find(device), pci.empty() ? patterns.size() : patterns.find(pci));
}

class RulesReader {
public:
    explicit RulesReader(std::string_view name) { rules_.name = name; }

    Expected<Rules> read(std::string_view text) {
        const auto tables = base::parse_toml(text, rules_.name);
        if (!tables) return tables.error();
        for (const auto& table : *tables) {
            if (table.name != "rule")
                return error(table.line, fmt::format("unknown table [{}]; there is [[rule]]", table.name));
            if (auto done = add(table); !done) return std::move(done).error();
        }
        return std::move(rules_);
    }

private:
    Error error(std::uint32_t line, std::string_view what) const {
        return {Code::input, fmt::format("{}:{}: {}", rules_.name, line, what)};
    }

    Expected<void> add(const base::TomlTable& table) {
        Rule& rule = rules_.rules.emplace_back();
        rule.line = table.line;
        for (const auto& value : table.values) {
            if (value.key == "domain") {
                const auto* one = std::get_if<std::string>(&value.value);
                if (one == nullptr || one->empty() || std::any_of(one->begin(), one->end(), [](char c) {
                        return static_cast<unsigned char>(c) < 0x20;
                    }))
                    return error(value.line, "domain: the name of an NVLink domain is wanted");
                rule.domain = *one;
                continue;
            }
            Patterns* into = value.key == "hosts"     ? &rule.hosts
                             : value.key == "rails"   ? &rule.rails
                             : value.key == "compute" ? &rule.compute
                             : value.key == "storage" ? &rule.storage
                             : value.key == "ignore"  ? &rule.ignored
                                                      : nullptr;
            if (into == nullptr)
                return error(value.line,
                             fmt::format("unknown key {}; a rule has hosts, domain, rails, compute, "
                                         "storage and ignore",
                                         value.key));
            std::vector<std::string> patterns;
            if (const auto* one = std::get_if<std::string>(&value.value))
                patterns = {*one};
            else if (const auto* list = std::get_if<std::vector<std::string>>(&value.value))
                patterns = *list;
            else
                return error(value.line,
                             fmt::format("{}: a pattern or a list of patterns is wanted", value.key));
            for (const auto& pattern : patterns) {
                if (names_ > most_names)
                    return error(value.line, "the file names more than a million things");
                const auto before = into->size();
                if (auto done = into->add(pattern); !done)
                    return error(value.line, fmt::format("{}: {}", value.key, done.error().text));
                names_ += into->size() - before;
            }
            if (into->empty()) return error(value.line, fmt::format("{}: the list is empty", value.key));
        }
        if (rule.rails.size() > static_cast<std::size_t>(most_rails))
            return error(table.line, fmt::format("rails: more than {} rails", most_rails));
        if (!rule.domain.empty() && rule.hosts.empty())
            return error(table.line, "the rule gives all hosts one NVLink domain: say which with hosts");
        if (rule.domain.empty() && rule.rails.empty() && rule.compute.empty() && rule.storage.empty() &&
            rule.ignored.empty())
            return error(table.line,
                         "the rule says nothing of any device: give rails, compute, storage or ignore");
        return {};
    }

    Rules rules_;
    std::size_t names_ = 0;
};

} // namespace

Expected<void> Patterns::add(std::string_view pattern) {
    if (pattern.empty()) return Error{Code::input, "an empty pattern"};
    const auto names = base::expand_hostlist(pattern);
    if (!names) return names.error();
    for (const auto& name : *names) {
        if (name.find_first_of("*?") == std::string::npos)
            exact_.try_emplace(name, count_);
        else
            globs_.emplace_back(name, count_);
        ++count_;
    }
    return {};
}

std::size_t Patterns::find(std::string_view name) const {
    std::size_t best = count_;
    if (const auto found = exact_.find(std::string(name)); found != exact_.end()) best = found->second;
    for (const auto& [pattern, position] : globs_)
        if (position < best && glob(pattern, name)) return position;
    return best;
}

Verdict Rules::judge(std::string_view host, std::string_view device, std::string_view pci,
                     std::vector<bool>* used) const {
    bool railed = false;
    for (std::size_t i = 0; i < rules.size(); ++i) {
        const Rule& rule = rules[i];
        if (!rule.hosts.empty() && !rule.hosts.match(host)) continue;
        const auto says = [&](const Patterns& patterns) {
            if (find(patterns, device, pci) >= patterns.size()) return false;
            if (used != nullptr) (*used)[i] = true;
            return true;
        };
        if (says(rule.ignored)) return {Verdict::What::ignored, none};
        if (says(rule.storage)) return {Verdict::What::storage, none};
        if (says(rule.rails)) return {Verdict::What::rail, static_cast<int>(find(rule.rails, device, pci))};
        if (says(rule.compute)) return {Verdict::What::compute, none};
        railed = railed || !rule.rails.empty();
    }
    return {railed ? Verdict::What::storage : Verdict::What::nothing, none};
}

bool Rules::gives_rails(std::string_view host) const {
    return std::any_of(rules.begin(), rules.end(), [&](const Rule& rule) {
        return !rule.rails.empty() && (rule.hosts.empty() || rule.hosts.match(host));
    });
}

Expected<Rules> parse_rules(std::string_view text, std::string_view name) {
    return RulesReader(name).read(text);
}

Expected<Rules> read_rules(const std::filesystem::path& path) {
    const auto text = base::read_file(path, std::size_t{1} << 24);
    if (!text) return text.error();
    return parse_rules(*text, path == "-" ? "standard input" : path.string());
}

void name_domains(Fabric& fabric, const Rules& rules) {
    for (Host& host : fabric.hosts) {
        const auto rule = std::find_if(rules.rules.begin(), rules.rules.end(), [&](const Rule& r) {
            return !r.domain.empty() && r.hosts.match(host.name);
        });
        if (rule != rules.rules.end()) host.domain = rule->domain;
    }
}

std::vector<std::string> drop_ignored(Fabric& fabric, const Rules& rules) {
    std::vector<bool> used(rules.rules.size(), false);
    std::vector<int> host_now(fabric.hosts.size(), none);
    std::vector<std::vector<int>> hca_now(fabric.hosts.size());
    std::vector<Host> kept;
    for (std::size_t h = 0; h < fabric.hosts.size(); ++h) {
        Host& host = fabric.hosts[h];
        std::vector<Hca> hcas;
        for (Hca& hca : host.hcas) {
            const bool ignored =
                rules.judge(host.name, hca.device, hca.pci, &used).what == Verdict::What::ignored;
            hca_now[h].push_back(ignored ? none : static_cast<int>(hcas.size()));
            if (!ignored) hcas.push_back(std::move(hca));
        }
        for (std::size_t i = 0; i < rules.rules.size(); ++i)
            if (!rules.rules[i].domain.empty() && rules.rules[i].hosts.match(host.name)) used[i] = true;
        host.hcas = std::move(hcas);
        if (host.hcas.empty()) continue;
        host_now[h] = static_cast<int>(kept.size());
        kept.push_back(std::move(host));
    }
    fabric.hosts = std::move(kept);
    std::erase_if(fabric.links, [&](Link& link) {
        for (End* end : {&link.a, &link.b}) {
            if (end->host == none) continue;
            const auto h = at(end->host);
            end->hca = hca_now[h][at(end->hca)];
            if (end->hca == none) return true;
            end->host = host_now[h];
        }
        return false;
    });
    std::vector<std::string> sentences;
    for (std::size_t i = 0; i < used.size(); ++i)
        if (!used[i])
            sentences.push_back(fmt::format("{}:{}: the rule names no {} of this fabric", rules.name,
                                            rules.rules[i].line,
                                            rules.rules[i].domain.empty() ? "HCA" : "host"));
    return sentences;
}

} // namespace topo
