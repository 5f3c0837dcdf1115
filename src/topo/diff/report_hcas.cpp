// HCAs that were added, removed, replaced, renamed or given another rail; and hosts' reports about
// themselves.
#include "topo/diff/report.hpp"

#include "base/hostlist.hpp"
#include "topo/guid.hpp"
#include "topo/nameless.hpp"
#include "topo/names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace topo::drift {
namespace {

std::string rail_of(const Hca& hca) {
    if (hca.role == Role::storage) return "storage";
    return hca.rail == none ? "no rail" : fmt::format("rail {}", hca.rail);
}

std::string called(const Hca& hca) {
    return hca.device.empty() ? format_guid(hca.guid) : hca.device;
}

std::vector<std::string> ends_of(const Host& host, const std::vector<const Hca*>& hcas) {
    std::vector<std::string> ends;
    for (const Hca* hca : hcas)
        ends.push_back(fmt::format("{} {}", host.name, called(*hca)));
    return ends;
}

std::string list_of(const std::vector<const Hca*>& hcas) {
    if (hcas.size() == 1) return fmt::format("{} ({})", called(*hcas.front()), rail_of(*hcas.front()));
    std::vector<std::string> devices;
    for (const Hca* hca : hcas)
        devices.push_back(called(*hca));
    return fmt::format("{} HCAs, {},", hcas.size(), base::fold_hostlist(devices));
}

// HCAs of one host that were added or removed, in one sentence.
void report_missing(const Report& report, const Fabric& fabric, const std::vector<int>& there,
                    const std::vector<std::vector<HcaAt>>& hcas_there, bool gone) {
    for (std::size_t h = 0; h < fabric.hosts.size(); ++h) {
        if (there[h] == none) continue;
        std::vector<const Hca*> missing;
        for (std::size_t i = 0; i < fabric.hosts[h].hcas.size(); ++i)
            if (hcas_there[h][i].host == none) missing.push_back(&fabric.hosts[h].hcas[i]);
        if (missing.empty()) continue;
        const auto& name = report.after.hosts[gone ? at(there[h]) : h].name;
        report.add(gone ? "hca.removed" : "hca.added",
                   ends_of(report.after.hosts[gone ? at(there[h]) : h], missing),
                   fmt::format("{}: {} {} {}", name, list_of(missing), missing.size() == 1 ? "is" : "are",
                               gone ? "gone" : "new"));
    }
}

// HCAs with another GUID in place of old ones; true for those.
void report_replaced(const Report& report, const Host& had, const Host& has, const std::vector<HcaAt>& now) {
    std::vector<const Hca*> replaced;
    std::vector<const Hca*> old;
    for (std::size_t i = 0; i < now.size(); ++i)
        if (now[i].host != none && had.hcas[i].guid != has.hcas[at(now[i].hca)].guid) {
            replaced.push_back(&has.hcas[at(now[i].hca)]);
            old.push_back(&had.hcas[i]);
        }
    if (replaced.empty()) return;
    if (replaced.size() > 1 && replaced.size() == has.hcas.size()) {
        report.add("host.replaced", {has.name},
                   fmt::format("{}: all {} HCAs are others: this is another machine under the same name",
                               has.name, replaced.size()));
        return;
    }
    std::string text =
        fmt::format("{}: {} {} replaced", has.name, list_of(replaced), replaced.size() == 1 ? "was" : "were");
    if (replaced.size() == 1) {
        const Hca &a = *old.front(), &b = *replaced.front();
        text += fmt::format(": GUID {} instead of {}", format_guid(b.guid), format_guid(a.guid));
        if (called(a) != called(b)) text += fmt::format("; it was {}", called(a));
        if (rail_of(a) != rail_of(b)) text += fmt::format("; it was {}", rail_of(a));
    }
    report.add("hca.replaced", ends_of(has, replaced), std::move(text));
}

// A different name or rail of an existing HCA.
struct Relabelled {
    std::string old_name, new_name, old_rail, new_rail;
    auto operator<=>(const Relabelled&) const = default;

    bool renamed() const { return old_name != new_name; }
    // "mlx5_8 (rail 2 instead of storage)", "rail 2 instead of storage".
    std::string now() const {
        const auto rail =
            old_rail == new_rail ? new_rail : fmt::format("{} instead of {}", new_rail, old_rail);
        return renamed() ? fmt::format("{} ({})", new_name, rail) : rail;
    }
};

// Such changes of a host, and the hosts with exactly these changes: a rule or driver was changed there.
using RelabelledHosts = std::map<std::vector<Relabelled>, std::vector<std::uint32_t>>;

void report_relabelled(const Report& report, const RelabelledHosts& all) {
    std::map<std::string, std::size_t> with_device;
    for (const Host& host : report.before.hosts)
        for (const Hca& hca : host.hcas)
            ++with_device[called(hca)];
    const auto add = [&](const std::vector<Relabelled>& changes, const std::vector<std::uint32_t>& hosts) {
        std::vector<std::string> ends, each;
        for (const Relabelled& what : changes) {
            for (const auto h : hosts)
                ends.push_back(fmt::format("{} {}", report.after.hosts[h].name, what.new_name));
            each.push_back(
                fmt::format("{} is {}{}", what.old_name, what.renamed() ? "now called " : "", what.now()));
        }
        const bool renamed = std::any_of(changes.begin(), changes.end(),
                                         [](const Relabelled& what) { return what.renamed(); });
        const auto where = host_names(report.after, hosts);
        const Relabelled& first = changes.front();
        auto text = changes.size() > 1
                        ? fmt::format("{} HCAs of {} have other {}: {}", changes.size(), where,
                                      renamed ? "names" : "rails", fmt::join(each, ", "))
                        : fmt::format("{} is {}{}",
                                      hosts.size() == 1 ? fmt::format("{} {}", where, first.old_name)
                                                        : fmt::format("{} of {}", first.old_name, where),
                                      renamed ? "now called " : "", first.now());
        report.add(renamed ? "hca.renamed" : "hca.rail", std::move(ends), std::move(text));
    };
    for (const auto& [changes, hosts] : all) {
        // A single HCA with another description is a fault of its host, unless half of all have it.
        if (changes.size() > 1 || hosts.size() * 2 >= with_device[changes.front().old_name]) {
            add(changes, hosts);
            continue;
        }
        for (const auto h : hosts)
            add(changes, {h});
    }
}

// An HCA that is now in another host.
struct Moved {
    const Hca* old;
    const Hca* now;
};
// By host of `before` and host of `after`.
using MovedHcas = std::map<std::pair<int, int>, std::vector<Moved>>;

void report_moved(const Report& report, const Host& had, const Host& has, const Moved& moved) {
    const auto was = fmt::format("{} {}", had.name, called(*moved.old)),
               is = fmt::format("{} {}", has.name, called(*moved.now));
    report.add("hca.moved", {is, was},
               fmt::format("the HCA {}, which was {}, is now {}", format_guid(moved.now->guid), was, is));
}

// HCAs of one host that have no host name, or another host's, in one of the fabrics.
struct Unnamed {
    std::vector<const Hca*> hcas; // with their names in the other
    std::vector<std::string> guids;

    void add(const Hca& hca, const Host& unnamed) {
        hcas.push_back(&hca);
        guids.push_back(unnamed.name);
    }
    // "8 HCAs of n018 (mlx5_[0-7])", "all 8 HCAs of n018", "n018 mlx5_3 (0x946dae0000120040)".
    std::string of(const Host& host) const {
        if (hcas.size() == 1) return fmt::format("{} {} ({})", host.name, called(*hcas[0]), guids[0]);
        if (hcas.size() == host.hcas.size()) return fmt::format("all {} HCAs of {}", hcas.size(), host.name);
        std::vector<std::string> devices;
        for (const Hca* hca : hcas)
            devices.push_back(called(*hca));
        return fmt::format("{} HCAs of {} ({})", hcas.size(), host.name, base::fold_hostlist(devices));
    }
    std::vector<std::string> ends(const Host& host) const {
        auto ends = hcas.size() == host.hcas.size() ? std::vector{host.name} : ends_of(host, hcas);
        ends.insert(ends.end(), guids.begin(), guids.end());
        return ends;
    }
};
// By the host that has them by name, and the host whose name they have; empty for none.
using UnnamedHcas = std::map<std::pair<int, std::string>, Unnamed>;

void report_lost_names(const Report& report, const UnnamedHcas& all) {
    for (const auto& [where, unnamed] : all) {
        const Host& had = report.before.hosts[at(where.first)];
        const auto& twin = where.second;
        const bool one = unnamed.hcas.size() == 1;
        if (twin.empty()) {
            report.add("hca.nameless", unnamed.ends(had),
                       fmt::format("{} {} described as no host's any more; let rdma-ndd set {}",
                                   unnamed.of(had), one ? "is" : "are",
                                   one ? "its description" : "their descriptions"));
            continue;
        }
        auto ends = unnamed.ends(had);
        ends.insert(ends.begin(), twin);
        report.add("host.merged", std::move(ends),
                   fmt::format("{} {} described as {}'s now, beside its own: two hosts have one name",
                               unnamed.of(had), one ? "is" : "are", twin));
    }
}

void report_new_names(const Report& report, const UnnamedHcas& all) {
    for (const auto& [where, unnamed] : all) {
        const Host& has = report.after.hosts[at(where.first)];
        const auto& twin = where.second;
        const bool one = unnamed.hcas.size() == 1;
        const auto as = twin.empty() ? std::string("no host's") : twin + "'s";
        report.add(twin.empty() ? "hca.named" : "host.parted", unnamed.ends(has),
                   one ? fmt::format("the HCA {}, which was described as {}, is now {} {}", unnamed.guids[0],
                                     as, has.name, called(*unnamed.hcas[0]))
                       : fmt::format("{} were described as {}", unnamed.of(has), as));
    }
}

// All HCAs of one host that are now in another, in one sentence; otherwise individually.
void report_moved(const Report& report, const MovedHcas& all) {
    UnnamedHcas lost, found;
    for (const auto& [hosts, moved] : all) {
        const Host &had = report.before.hosts[at(hosts.first)], &has = report.after.hosts[at(hosts.second)];
        if (nameless(has)) {
            for (const Moved& one : moved)
                lost[{hosts.first, namesake(report.after, has)}].add(*one.old, has);
            continue;
        }
        if (nameless(had)) {
            for (const Moved& one : moved)
                found[{hosts.second, namesake(report.before, had)}].add(*one.now, had);
            continue;
        }
        if (moved.size() == 1) {
            report_moved(report, had, has, moved.front());
            continue;
        }
        const auto hcas = counted(moved.size(), "HCA", "HCAs");
        const bool gone = report.match.host_after[at(hosts.first)] == none;
        const bool fresh = report.match.host_before[at(hosts.second)] == none;
        if (gone && moved.size() == had.hcas.size() && !fresh)
            report.add(
                "host.merged", {has.name, had.name},
                fmt::format("all {} of {} are described as {}'s now, beside its own: two hosts have one "
                            "name",
                            hcas, had.name, has.name));
        else if (fresh && moved.size() == has.hcas.size())
            report.add("host.parted", {has.name, had.name},
                       fmt::format("{} that were described as {}'s are {}'s now", hcas, had.name, has.name));
        else
            report.add("hca.moved", {has.name, had.name},
                       fmt::format("{} that were {}'s are {}'s now", hcas, had.name, has.name));
    }
    report_lost_names(report, lost);
    report_new_names(report, found);
}

// A host's report about its own devices, if both fabrics have it.
void report_facts(const Report& report, const Host& had, const Host& has, const std::vector<HcaAt>& now) {
    std::string text;
    const auto note = [&](const Hca& hca, std::string_view what, const auto& old, const auto& fresh) {
        text +=
            fmt::format("{}{} {} {} instead of {}", text.empty() ? "" : "; ", called(hca), what, fresh, old);
    };
    for (std::size_t i = 0; i < now.size(); ++i) {
        if (now[i].host == none || &report.after.hosts[at(now[i].host)] != &has) continue;
        const Hca &old = had.hcas[i], &hca = has.hcas[at(now[i].hca)];
        if (!old.pci.empty() && !hca.pci.empty() && old.pci != hca.pci) note(hca, "at", old.pci, hca.pci);
        if (old.numa != none && hca.numa != none && old.numa != hca.numa)
            note(hca, "in NUMA node", old.numa, hca.numa);
        if (old.gpu != none && hca.gpu != none && old.gpu != hca.gpu)
            note(hca, "nearest to GPU", old.gpu, hca.gpu);
    }
    if (!text.empty()) report.add("host.facts", {has.name}, fmt::format("{}: {}", has.name, text));
    if (had.gpus.empty() || has.gpus.empty()) return;
    std::map<std::string_view, int> places; // +1 had, +2 has
    for (const Gpu& gpu : had.gpus)
        places[gpu.pci] |= 1;
    for (const Gpu& gpu : has.gpus)
        places[gpu.pci] |= 2;
    std::vector<std::string_view> gone, fresh;
    for (const auto& [pci, where] : places)
        if (where != 3) (where == 1 ? gone : fresh).push_back(pci);
    if (gone.empty() && fresh.empty() && had.gpus.size() == has.gpus.size()) return;
    text = fmt::format("{}: {} instead of {}", has.name, counted(has.gpus.size(), "GPU", "GPUs"),
                       had.gpus.size());
    if (!gone.empty()) text += fmt::format("; gone: {}", fmt::join(gone, ", "));
    if (!fresh.empty()) text += fmt::format("; new: {}", fmt::join(fresh, ", "));
    report.add("host.gpus", {has.name}, std::move(text));
}

} // namespace

void report_hcas(const Report& report) {
    report_missing(report, report.before, report.match.host_after, report.match.hca_after, true);
    report_missing(report, report.after, report.match.host_before, report.match.hca_before, false);
    MovedHcas moved;
    for (std::size_t h = 0; h < report.before.hosts.size(); ++h)
        for (std::size_t i = 0; i < report.match.hca_after[h].size(); ++i) {
            const HcaAt now = report.match.hca_after[h][i];
            if (now.host == none || now.host == report.match.host_after[h]) continue;
            moved[{static_cast<int>(h), now.host}].push_back(
                {&report.before.hosts[h].hcas[i], &report.after.hosts[at(now.host)].hcas[at(now.hca)]});
        }
    report_moved(report, moved);
    // Several HCAs from another host besides its own give a host's devices other names and rails.
    std::vector<char> mixed(report.before.hosts.size(), 0);
    for (const auto& [hosts, list] : moved) {
        if (list.size() < 2) continue;
        mixed[at(hosts.first)] = 1;
        if (const int old = report.match.host_before[at(hosts.second)]; old != none) mixed[at(old)] = 1;
    }
    RelabelledHosts relabelled;
    for (std::size_t h = 0; h < report.before.hosts.size(); ++h) {
        const Host& had = report.before.hosts[h];
        const int host = report.match.host_after[h];
        const auto& now = report.match.hca_after[h];
        std::vector<Relabelled> changes;
        for (std::size_t i = 0; i < now.size(); ++i) {
            if (now[i].host == none) continue;
            const Hca& old = had.hcas[i];
            const Hca& hca = report.after.hosts[at(now[i].host)].hcas[at(now[i].hca)];
            if (now[i].host == host && mixed[h] == 0 && old.guid == hca.guid) {
                Relabelled what{called(old), called(hca), rail_of(old), rail_of(hca)};
                if (what.old_name != what.new_name || what.old_rail != what.new_rail)
                    changes.push_back(std::move(what));
            }
        }
        if (!changes.empty()) relabelled[std::move(changes)].push_back(static_cast<std::uint32_t>(host));
        if (host == none) continue;
        std::vector<HcaAt> here = now; // those that are still in this host
        for (HcaAt& hca : here)
            if (hca.host != host) hca = {};
        report_replaced(report, had, report.after.hosts[at(host)], here);
        report_facts(report, had, report.after.hosts[at(host)], here);
    }
    report_relabelled(report, relabelled);
}

} // namespace topo::drift
