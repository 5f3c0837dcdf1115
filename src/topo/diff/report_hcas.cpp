// HCAs that came, went, were replaced, renamed or given another rail; and what hosts report about themselves.
#include "topo/diff/report.hpp"

#include "base/hostlist.hpp"
#include "topo/guid.hpp"
#include "topo/names.hpp"

#include <fmt/format.h>

#include <map>
#include <tuple>

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

// HCAs of one host that came or went, in one sentence.
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

// HCAs with another GUID in the place of old ones; true for those.
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

// Equal changes of at least half of the hosts that have the device are one: someone changed a rule.
struct Relabelled {
    std::string old_name, new_name, old_rail, new_rail;
    auto operator<=>(const Relabelled&) const = default;
};

void report_relabelled(const Report& report, const std::map<Relabelled, std::vector<std::uint32_t>>& all) {
    std::map<std::string, std::size_t> with_device;
    for (const Host& host : report.before.hosts)
        for (const Hca& hca : host.hcas)
            ++with_device[called(hca)];
    const auto add = [&](const Relabelled& what, const std::vector<std::uint32_t>& hosts) {
        std::vector<std::string> ends;
        for (const auto h : hosts)
            ends.push_back(fmt::format("{} {}", report.after.hosts[h].name, what.new_name));
        const auto where = hosts.size() == 1
                               ? fmt::format("{} {}", report.after.hosts[hosts.front()].name, what.old_name)
                               : fmt::format("{} of {}", what.old_name, host_names(report.after, hosts));
        const bool renamed = what.old_name != what.new_name;
        const auto rails = what.old_rail == what.new_rail
                               ? what.new_rail
                               : fmt::format("{} instead of {}", what.new_rail, what.old_rail);
        report.add(renamed ? "hca.renamed" : "hca.rail", std::move(ends),
                   renamed ? fmt::format("{} is now called {} ({})", where, what.new_name, rails)
                           : fmt::format("{} is {}", where, rails));
    };
    for (const auto& [what, hosts] : all) {
        if (hosts.size() * 2 >= with_device[what.old_name]) {
            add(what, hosts);
            continue;
        }
        for (const auto h : hosts)
            add(what, {h});
    }
}

void report_moved(const Report& report, const Host& had, const Hca& old, const HcaAt& now) {
    const Host& has = report.after.hosts[at(now.host)];
    const Hca& hca = has.hcas[at(now.hca)];
    const auto was = fmt::format("{} {}", had.name, called(old)),
               is = fmt::format("{} {}", has.name, called(hca));
    if (has.name.starts_with("0x"))
        report.add("hca.nameless", {was, has.name},
                   fmt::format("{} ({}) is described as no host's any more; let rdma-ndd set its description",
                               was, format_guid(hca.guid)));
    else if (had.name.starts_with("0x"))
        report.add("hca.named", {is, had.name},
                   fmt::format("the HCA {}, which was described as no host's, is now {}",
                               format_guid(hca.guid), is));
    else
        report.add("hca.moved", {is, was},
                   fmt::format("the HCA {}, which was {}, is now {}", format_guid(hca.guid), was, is));
}

// What a host reports about its own devices, where both fabrics know it.
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
    std::map<Relabelled, std::vector<std::uint32_t>> relabelled;
    for (std::size_t h = 0; h < report.before.hosts.size(); ++h) {
        const Host& had = report.before.hosts[h];
        const int host = report.match.host_after[h];
        const auto& now = report.match.hca_after[h];
        for (std::size_t i = 0; i < now.size(); ++i) {
            if (now[i].host == none) continue;
            const Hca& old = had.hcas[i];
            const Hca& hca = report.after.hosts[at(now[i].host)].hcas[at(now[i].hca)];
            if (now[i].host != host) {
                report_moved(report, had, old, now[i]);
            } else if (old.guid == hca.guid) {
                Relabelled what{called(old), called(hca), rail_of(old), rail_of(hca)};
                if (what.old_name != what.new_name || what.old_rail != what.new_rail)
                    relabelled[std::move(what)].push_back(static_cast<std::uint32_t>(host));
            }
        }
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
