#include "topo/host/gather.hpp"

#include "base/hostlist.hpp"
#include "topo/derive.hpp"
#include "topo/guid.hpp"
#include "topo/names.hpp"
#include "topo/read/raw_fabric.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

namespace topo {
namespace {

using base::Code;
using base::Error;
using base::Expected;

constexpr std::size_t most_quoted = 200; // characters quoted from a line without facts

std::string_view trimmed(std::string_view text) {
    const auto start = text.find_first_not_of(" \t\r");
    return start == std::string_view::npos ? std::string_view()
                                           : text.substr(start, text.find_last_not_of(" \t\r") - start + 1);
}

std::string_view short_name(std::string_view host) {
    return host.substr(0, host.find('.'));
}

// "UUID.CLIQUE", the form of NVML's domain names here: a name given by an administrator differs.
bool is_nvml_name(std::string_view name) {
    constexpr std::string_view form = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx.";
    return name.size() > form.size() &&
           std::equal(form.begin(), form.end(), name.begin(), [](char f, char c) {
               return f == 'x' ? (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') : f == c;
           });
}

struct Where {
    std::size_t host, hca;
};

class Merger {
public:
    Merger(Fabric& fabric, const Gathering& gathering, const Rules* rules)
        : fabric_(fabric), gathering_(gathering), rules_(rules), taken_(fabric.hosts.size(), nullptr) {}

    GatherReport run() {
        index();
        for (const auto& entry : gathering_.entries)
            take(entry);
        note_missing();
        make_models();
        for (std::size_t h = 0; h < taken_.size(); ++h)
            if (taken_[h] != nullptr) place(h);
        number();
        take_domains();
        if (rules_ != nullptr) derive_roles_again();
        derive(fabric_);
        return std::move(report_);
    }

private:
    // Hosts of one model: with the same PCI addresses of HCAs and GPUs.
    struct Model {
        const HostFacts* facts = nullptr; // of one of the hosts
        std::vector<std::size_t> hosts;
        std::vector<int> compute, storage; // by HCA of the facts: number of hosts
        std::vector<int> gpu, rail;        // by HCA of the facts
    };
    using Key = std::vector<std::string>;

    void index() {
        for (std::size_t h = 0; h < fabric_.hosts.size(); ++h) {
            const Host& host = fabric_.hosts[h];
            hosts_.emplace(host.name, h);
            hosts_.emplace(short_name(host.name), h); // the first one with that short name
            for (std::size_t i = 0; i < host.hcas.size(); ++i)
                by_guid_.emplace(host.hcas[i].guid, Where{h, i});
        }
    }

    // The ports report of ibnetdiscover only has port GUIDs: the lowest replaces the node's.
    static bool stands_in(const Hca& hca) { return !hca.ports.empty() && hca.ports.front().guid == hca.guid; }

    // The fabric's HCA for this HCA in the host's facts; none if the fabric does not contain it.
    int find_hca(std::size_t h, const HcaFacts& facts) const {
        const Host& host = fabric_.hosts[h];
        if (facts.guid != 0)
            if (const auto found = by_guid_.find(facts.guid); found != by_guid_.end())
                return found->second.host == h ? static_cast<int>(found->second.hca) : none;
        for (std::size_t i = 0; i < host.hcas.size(); ++i)
            if (host.hcas[i].device == facts.device && (facts.guid == 0 || stands_in(host.hcas[i])))
                return static_cast<int>(i);
        return none;
    }

    void take(const Gathering::Entry& entry) {
        const HostFacts& facts = entry.facts;
        auto found = hosts_.find(facts.host);
        if (found == hosts_.end()) found = hosts_.find(std::string(short_name(facts.host)));
        if (found == hosts_.end()) {
            for (const HcaFacts& hca : facts.hcas)
                if (const auto other = by_guid_.find(hca.guid); hca.guid != 0 && other != by_guid_.end()) {
                    contradict(entry, fmt::format("the fabric has no host {}, but shows its {} as {}",
                                                  facts.host, hca.device, hca_label(other->second)));
                    return;
                }
            unknown_.push_back(facts.host);
            return;
        }
        const auto h = found->second;
        for (const HcaFacts& hca : facts.hcas) {
            const auto other = by_guid_.find(hca.guid);
            if (hca.guid == 0) continue;
            if (other != by_guid_.end() && other->second.host != h) {
                contradict(entry,
                           fmt::format("{} says that {} ({}) is its own, but the fabric shows it as {}; "
                                       "two hosts may have each other's names",
                                       facts.host, hca.device, format_guid(hca.guid),
                                       hca_label(other->second)));
                return;
            }
            if (other != by_guid_.end()) continue;
            for (const Hca& mine : fabric_.hosts[h].hcas)
                if (mine.device == hca.device && !stands_in(mine) && !lists(facts, mine.guid)) {
                    contradict(entry,
                               fmt::format("{} {} is {}, but {} in the fabric; if the HCA was exchanged, "
                                           "discover again",
                                           facts.host, hca.device, format_guid(hca.guid),
                                           format_guid(mine.guid)));
                    return;
                }
        }
        if (taken_[h] != nullptr) {
            if (print_host_facts(taken_[h]->facts) != print_host_facts(facts))
                contradict(entry, fmt::format("{} gave other facts in line {}", facts.host, taken_[h]->line));
            return;
        }
        taken_[h] = &entry;
        ++report_.hosts;
    }

    static bool lists(const HostFacts& facts, Guid guid) {
        return std::any_of(facts.hcas.begin(), facts.hcas.end(),
                           [&](const HcaFacts& hca) { return hca.guid == guid; });
    }

    std::string hca_label(const Where& where) const {
        const Host& host = fabric_.hosts[where.host];
        return hca_name(host, host.hcas[where.hca]);
    }

    void contradict(const Gathering::Entry& entry, std::string_view what) {
        report_.contradictions.push_back(fmt::format("line {}: {}", entry.line, what));
    }

    void note_missing() {
        std::vector<std::string> silent;
        for (std::size_t h = 0; h < taken_.size(); ++h) {
            const Host& host = fabric_.hosts[h];
            const bool compute = std::any_of(host.hcas.begin(), host.hcas.end(),
                                             [](const Hca& hca) { return hca.role == Role::compute; });
            if (taken_[h] == nullptr && compute) silent.push_back(host.name);
        }
        note_several_domains();
        if (!silent.empty())
            report_.missing.push_back(fmt::format("{} {} given no facts: {}", silent.size(),
                                                  silent.size() == 1 ? "host has" : "hosts have",
                                                  base::fold_hostlist(silent)));
        if (unknown_.empty()) return;
        std::sort(unknown_.begin(), unknown_.end(), base::natural_less);
        report_.notes.push_back(
            fmt::format("{} not in the fabric: {}",
                        unknown_.size() == 1 ? "a host that gave facts is" : "hosts that gave facts are",
                        base::fold_hostlist(unknown_)));
    }

    void note_several_domains() {
        for (const auto* entry : taken_)
            if (entry != nullptr && entry->facts.domains.size() > 1)
                report_.missing.push_back(
                    fmt::format("GPUs of {} are in several NVLink domains, none is taken: {}",
                                entry->facts.host, fmt::join(entry->facts.domains, ", ")));
    }

    // The host's domain according to its facts; null if they give none, or several.
    const std::string* said_domain(std::size_t h) const {
        return taken_[h] != nullptr && taken_[h]->facts.domains.size() == 1
                   ? &taken_[h]->facts.domains.front()
                   : nullptr;
    }

    void take_domains() {
        std::vector<std::string> before;
        for (const Host& host : fabric_.hosts)
            before.push_back(host.domain);
        // Administrators' names by those in facts, and the reverse.
        std::map<std::string, std::set<std::string>> known, said;
        for (std::size_t h = 0; h < taken_.size(); ++h)
            if (const auto* domain = said_domain(h);
                domain != nullptr && !before[h].empty() && !is_nvml_name(before[h])) {
                known[*domain].insert(before[h]);
                said[before[h]].insert(*domain);
            }
        for (std::size_t h = 0; h < taken_.size(); ++h) {
            const auto* domain = said_domain(h);
            if (domain == nullptr) continue;
            const auto& names = known[*domain];
            const bool same = names.size() == 1 && said.at(*names.begin()).size() == 1;
            fabric_.hosts[h].domain = same ? *names.begin() : *domain;
        }
        if (rules_ != nullptr) name_domains(fabric_, *rules_);
    }

    void make_models() {
        std::map<Key, std::size_t> known;
        model_of_.assign(taken_.size(), 0);
        std::map<std::string, std::vector<std::string>> unseen; // device → hosts
        for (std::size_t h = 0; h < taken_.size(); ++h) {
            if (taken_[h] == nullptr) continue;
            const HostFacts& facts = taken_[h]->facts;
            Key key;
            for (const HcaFacts& hca : facts.hcas)
                key.push_back(hca.pci.empty() ? hca.device : hca.pci);
            key.emplace_back();
            for (const Gpu& gpu : facts.gpus)
                key.push_back(gpu.pci);
            const auto [at, fresh] = known.try_emplace(std::move(key), models_.size());
            model_of_[h] = at->second;
            if (fresh) {
                Model& model = models_.emplace_back();
                model.facts = &facts;
                model.compute.assign(facts.hcas.size(), 0);
                model.storage.assign(facts.hcas.size(), 0);
            }
            Model& model = models_[at->second];
            model.hosts.push_back(h);
            for (std::size_t f = 0; f < facts.hcas.size(); ++f) {
                const int i = find_hca(h, facts.hcas[f]);
                if (i == none)
                    unseen[facts.hcas[f].device].push_back(fabric_.hosts[h].name);
                else
                    ++(fabric_.hosts[h].hcas[topo::at(i)].role == Role::compute ? model.compute
                                                                                : model.storage)[f];
            }
        }
        std::map<std::string, std::vector<std::string>> alike; // hosts → devices
        for (const auto& [device, hosts] : unseen)
            alike[base::fold_hostlist(hosts)].push_back(device);
        for (auto& [hosts, devices] : alike) {
            std::sort(devices.begin(), devices.end(), base::natural_less);
            report_.notes.push_back(
                fmt::format("the fabric does not show {} of {}", base::fold_hostlist(devices), hosts));
        }
        for (Model& model : models_)
            number(model);
    }

    // Determines GPUs and rails for the compute HCAs of a model.
    void number(Model& model) const {
        const HostFacts& facts = *model.facts;
        std::vector<bool> compute(facts.hcas.size());
        std::vector<std::size_t> order;
        for (std::size_t f = 0; f < compute.size(); ++f) {
            compute[f] = model.compute[f] > model.storage[f];
            if (compute[f]) order.push_back(f);
        }
        model.gpu = pair_gpus(facts, compute);
        model.rail.assign(facts.hcas.size(), none);
        if (facts.gpus.empty() ||
            std::any_of(order.begin(), order.end(), [&](std::size_t f) { return model.gpu[f] == none; }))
            return;
        std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
            return std::pair(model.gpu[a], std::string_view(facts.hcas[a].pci)) <
                   std::pair(model.gpu[b], std::string_view(facts.hcas[b].pci));
        });
        const bool distinct =
            std::adjacent_find(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
                return model.gpu[a] == model.gpu[b];
            }) == order.end();
        const bool one_each = distinct && facts.gpus.size() == static_cast<std::size_t>(fabric_.rails);
        for (std::size_t r = 0; r < order.size(); ++r)
            model.rail[order[r]] = one_each ? model.gpu[order[r]] : static_cast<int>(r);
    }

    void place(std::size_t h) {
        const HostFacts& facts = taken_[h]->facts;
        const Model& model = models_[model_of_[h]];
        Host& host = fabric_.hosts[h];
        host.gpus = facts.gpus;
        for (std::size_t f = 0; f < facts.hcas.size(); ++f) {
            const int i = find_hca(h, facts.hcas[f]);
            if (i == none) continue;
            Hca& hca = host.hcas[at(i)];
            hca.pci = facts.hcas[f].pci;
            hca.numa = facts.hcas[f].numa;
            hca.gpu = hca.role == Role::compute ? model.gpu[f] : none;
        }
    }

    // The new rails of a host by HCA, from its facts or, without them, from hosts that had the same
    // numbering.
    std::vector<int> rails_from_facts(std::size_t h) const {
        std::vector<int> rails(fabric_.hosts[h].hcas.size(), none);
        const HostFacts& facts = taken_[h]->facts;
        for (std::size_t f = 0; f < facts.hcas.size(); ++f)
            if (const int i = find_hca(h, facts.hcas[f]); i != none)
                rails[at(i)] = models_[model_of_[h]].rail[f];
        return rails;
    }

    void number() {
        using Before = std::pair<std::string, int>; // device and old rail
        std::map<Before, std::map<int, std::size_t>> votes;
        std::vector<std::vector<int>> rails(fabric_.hosts.size());
        for (std::size_t h = 0; h < rails.size(); ++h) {
            if (taken_[h] == nullptr) continue;
            rails[h] = rails_from_facts(h);
            for (std::size_t i = 0; i < rails[h].size(); ++i) {
                const Hca& hca = fabric_.hosts[h].hcas[i];
                if (hca.rail != none && rails[h][i] != none) ++votes[{hca.device, hca.rail}][rails[h][i]];
            }
        }
        std::vector<std::string> kept;
        for (std::size_t h = 0; h < rails.size(); ++h) {
            Host& host = fabric_.hosts[h];
            if (rules_ != nullptr && rules_->gives_rails(host.name)) continue;
            if (taken_[h] == nullptr) {
                rails[h].assign(host.hcas.size(), none);
                for (std::size_t i = 0; i < host.hcas.size(); ++i)
                    if (const auto found = votes.find({host.hcas[i].device, host.hcas[i].rail});
                        found != votes.end())
                        rails[h][i] =
                            std::max_element(found->second.begin(), found->second.end(),
                                             [](const auto& a, const auto& b) { return a.second < b.second; })
                                ->first;
            }
            if (!renumber(host, rails[h]) && taken_[h] != nullptr) kept.push_back(host.name);
        }
        if (!kept.empty())
            report_.notes.push_back(fmt::format("rails are left as they were where GPUs do not tell them: {}",
                                                base::fold_hostlist(kept)));
    }

    // All compute HCAs of the host, or none of them.
    bool renumber(Host& host, const std::vector<int>& rails) {
        std::vector<int> given;
        for (std::size_t i = 0; i < host.hcas.size(); ++i) {
            if (host.hcas[i].role != Role::compute) continue;
            if (rails[i] == none) return false;
            given.push_back(rails[i]);
        }
        std::sort(given.begin(), given.end());
        if (std::adjacent_find(given.begin(), given.end()) != given.end()) return false;
        for (std::size_t i = 0; i < host.hcas.size(); ++i) {
            Hca& hca = host.hcas[i];
            if (hca.role != Role::compute || hca.rail == rails[i]) continue;
            hca.rail = rails[i];
            ++report_.rails_changed;
        }
        return true;
    }

    // Rules may contain PCI addresses, which are only known now: applies the rails that they give, and
    // storage.
    void derive_roles_again() {
        for (Host& host : fabric_.hosts) {
            const bool railed = rules_->gives_rails(host.name);
            std::vector<int> before;
            std::vector<int> given;
            for (Hca& hca : host.hcas) {
                before.push_back(hca.rail);
                const auto verdict = rules_->judge(host.name, hca.device, hca.pci);
                const bool rail = verdict.what == Verdict::What::rail &&
                                  std::find(given.begin(), given.end(), verdict.rail) == given.end();
                if (rail) given.push_back(verdict.rail);
                if (railed) {
                    hca.role = rail ? Role::compute : Role::storage;
                    hca.rail = rail ? verdict.rail : none;
                } else if (verdict.what == Verdict::What::storage) {
                    hca.role = Role::storage;
                    hca.rail = none;
                }
            }
            for (std::size_t i = 0; i < before.size(); ++i)
                if (host.hcas[i].rail != before[i]) ++report_.rails_changed;
        }
    }

    Fabric& fabric_;
    const Gathering& gathering_;
    const Rules* rules_;
    GatherReport report_;
    std::unordered_map<std::string, std::size_t> hosts_;
    std::unordered_map<Guid, Where> by_guid_;
    std::vector<const Gathering::Entry*> taken_; // by host of the fabric
    std::vector<std::size_t> model_of_;
    std::vector<Model> models_;
    std::vector<std::string> unknown_;
};

} // namespace

Expected<Gathering> parse_gathering(std::string_view text, std::string_view name) {
    Gathering gathering;
    std::uint32_t number = 0;
    while (!text.empty()) {
        const auto end = text.find('\n');
        const auto line = trimmed(text.substr(0, end));
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
        ++number;
        if (line.empty()) continue;
        const auto place = fmt::format("{}:{}", name, number);
        const auto brace = line.find('{');
        auto front = trimmed(line.substr(0, std::min(brace, line.size())));
        if (front.ends_with(':')) front.remove_suffix(1);
        if (brace == std::string_view::npos || front.find_first_of(" \t\"") != std::string_view::npos ||
            line.find("\"railyard_host\"") == std::string_view::npos) {
            gathering.other.push_back(
                fmt::format("{}: {}", place, trimmed_printable(line.substr(0, most_quoted))));
            continue;
        }
        auto facts = parse_host_facts(line.substr(brace));
        if (!facts) return std::move(facts).error().within(place);
        gathering.entries.push_back({*std::move(facts), std::string(front), number});
    }
    if (gathering.entries.empty())
        return Error{Code::input,
                     gathering.other.empty()
                         ? fmt::format("{}: holds no facts: run railtopo host --json on the hosts", name)
                         : fmt::format("{}: no facts: lines of railtopo host --json are wanted",
                                       gathering.other.front())};
    return gathering;
}

GatherReport merge_facts(Fabric& fabric, const Gathering& gathering, const Rules* rules) {
    return Merger(fabric, gathering, rules).run();
}

void renumber_rails(Fabric& fabric, const Rules* rules) {
    Gathering gathering;
    for (const Host& host : fabric.hosts) {
        if (host.gpus.empty()) continue;
        auto& facts = gathering.entries.emplace_back().facts;
        facts.host = host.name;
        facts.gpus = host.gpus;
        for (const Hca& hca : host.hcas)
            facts.hcas.push_back({hca.device, hca.guid, hca.pci, hca.numa, hca.gpu, {}});
    }
    if (!gathering.entries.empty()) merge_facts(fabric, gathering, rules);
}

} // namespace topo
