// railtopo host: which of this host's HCAs is near which GPU, for people and for railtopo gather.
#include "topo/host/hwloc_facts.hpp"

#include "base/table.hpp"
#include "topo/guid.hpp"
#include "topo/tool/command.hpp"

#include <fmt/format.h>

#include <memory>

namespace topo::tool {

namespace {

struct Options {
    HwlocSource source;
    bool json = false;
};

std::string number(int value) {
    return value == none ? "-" : fmt::format("{}", value);
}

void print_table(const HostFacts& facts) {
    fmt::print("{}: {} HCAs, {} GPUs\n", facts.host, facts.hcas.size(), facts.gpus.size());
    if (facts.hcas.empty() && facts.gpus.empty()) return;
    base::Table table({"DEVICE", "PCI", "NUMA", "NODE GUID", "GPU", "GPU PCI", "GPU NUMA"});
    std::vector<bool> shown(facts.gpus.size(), false);
    for (const HcaFacts& hca : facts.hcas) {
        std::string pci = "-", numa = "-";
        if (hca.gpu != none) {
            const auto gpu = static_cast<std::size_t>(hca.gpu);
            pci = facts.gpus[gpu].pci;
            numa = number(facts.gpus[gpu].numa);
            shown[gpu] = true;
        }
        table.add({hca.device, hca.pci.empty() ? "-" : hca.pci, number(hca.numa),
                   hca.guid == 0 ? "-" : format_guid(hca.guid), number(hca.gpu), pci, numa});
    }
    for (std::size_t g = 0; g < facts.gpus.size(); ++g)
        if (!shown[g])
            table.add(
                {"-", "-", "-", "-", fmt::format("{}", g), facts.gpus[g].pci, number(facts.gpus[g].numa)});
    fmt::print("{}", table.print());
}

base::Expected<int> run(const Options& options) {
    const auto facts = read_hwloc_facts(options.source);
    if (!facts) return facts.error();
    if (options.json)
        fmt::print("{}\n", print_host_facts(*facts));
    else
        print_table(*facts);
    return base::exit_done;
}

} // namespace

Command add_host(base::Words& parent) {
    auto options = std::make_shared<Options>();
    auto* words =
        parent.add_subcommand("host", "Print this host's HCAs and GPUs and which are near each other");
    auto* xml =
        words->add_option("--xml", options->source.xml, "hwloc XML of another host; - for standard input");
    words->add_option("--fsroot", options->source.fsroot, "Directory with a copy of a host's /sys and /proc")
        ->excludes(xml);
    words->add_option("--host", options->source.host, "Name of the host, instead of the one that is found");
    words->add_flag("--json", options->json, "Print one line of JSON, as railtopo gather reads it");
    return {words, [options] { return run(*options); }};
}

} // namespace topo::tool
