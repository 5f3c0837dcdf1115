// railtopo host: which of this host's HCAs is near which GPU, for users and for railtopo gather.
#include "topo/host/hwloc_facts.hpp"

#include "base/hostlist.hpp"
#include "base/table.hpp"
#include "base/units.hpp"
#include "probe/nvml_gpus.hpp"
#include "topo/guid.hpp"
#include "topo/tool/command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <future>
#include <map>
#include <memory>
#include <thread>

namespace topo::tool {

namespace {

constexpr base::Duration patience{10'000}; // for NVML: a hanging driver would block railtopo, and pdsh

struct HostOptions {
    HwlocSource source;
    std::string nvml;
    bool json = false;
};

std::string number(int value) {
    return value == none ? "-" : fmt::format("{}", value);
}

void print_devices(const HostFacts& facts) {
    const auto domains = facts.domains.empty()
                             ? std::string()
                             : fmt::format(", NVLink {} {}", facts.domains.size() == 1 ? "domain" : "domains",
                                           fmt::join(facts.domains, ", "));
    fmt::print("{}: {} HCAs, {} GPUs{}\n", facts.host, facts.hcas.size(), facts.gpus.size(), domains);
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

using Domains = base::Expected<std::vector<std::string>>; // of each GPU

// In a separate thread, which a hanging driver blocks for ever.
Domains ask_nvml(const std::string& library) {
    std::promise<Domains> promise;
    auto answer = promise.get_future();
    std::thread([library, promise = std::move(promise)]() mutable {
        const auto gpus = probe::NvmlGpus::open(library);
        promise.set_value(gpus ? Domains(gpus->nvlink_domains()) : Domains(gpus.error()));
    }).detach();
    if (answer.wait_for(patience) == std::future_status::ready) return answer.get();
    return base::Error{base::Code::unavailable,
                       fmt::format("NVML does not answer within {}", base::human_duration(patience))};
}

// The domains reported by the GPUs, each once; returns whether all report one, or none does.
bool take_domains(HostFacts& facts, const std::vector<std::string>& of_gpus) {
    facts.domains = of_gpus;
    std::sort(facts.domains.begin(), facts.domains.end());
    facts.domains.erase(std::unique(facts.domains.begin(), facts.domains.end()), facts.domains.end());
    const bool agreed = facts.domains.size() <= 1;
    std::erase(facts.domains, "");
    return agreed;
}

// Sets the facts' domains; returns the exit status.
int find_domains(const HostOptions& options, HostFacts& facts) {
    const bool here = options.source.xml.empty() && options.source.fsroot.empty() && !facts.gpus.empty();
    const auto library = options.nvml.empty() && here ? std::string("libnvidia-ml.so.1") : options.nvml;
    if (library.empty()) return base::exit_done;
    const auto domains = ask_nvml(library);
    if (!domains) {
        // A host without NVIDIA's driver has no domain; a library that was named must exist.
        if (domains.error().code == base::Code::not_found && options.nvml.empty()) return base::exit_done;
        fmt::print(stderr, "railtopo: {}: the NVLink domain is not known: {}\n", facts.host,
                   domains.error().text);
        return base::exit_finding;
    }
    if (take_domains(facts, *domains)) return base::exit_done;
    std::map<std::string, std::vector<std::string>> gpus; // by domain
    for (std::size_t g = 0; g < domains->size(); ++g)
        gpus[(*domains)[g]].push_back(fmt::format("GPU{}", g));
    std::vector<std::string> places;
    for (const auto& [domain, names] : gpus)
        places.push_back(
            fmt::format("{} in {}", base::fold_hostlist(names), domain.empty() ? "none" : domain));
    fmt::print(stderr, "railtopo: {}: its GPUs are not all in one NVLink domain: {}\n", facts.host,
               fmt::join(places, ", "));
    return base::exit_finding;
}

base::Expected<int> run_host(const HostOptions& options) {
    auto facts = read_hwloc_facts(options.source);
    if (!facts) return std::move(facts).error();
    const int status = find_domains(options, *facts);
    if (options.json)
        fmt::print("{}\n", print_host_facts(*facts));
    else
        print_devices(*facts);
    return status;
}

} // namespace

Command add_host(base::Words& parent) {
    auto options = std::make_shared<HostOptions>();
    auto* words =
        parent.add_subcommand("host", "Print this host's HCAs and GPUs and which are near each other");
    auto* xml =
        words->add_option("--xml", options->source.xml, "hwloc XML of another host; - for standard input");
    words->add_option("--fsroot", options->source.fsroot, "Directory with a copy of a host's /sys and /proc")
        ->excludes(xml);
    words->add_option("--host", options->source.host, "Name of the host, instead of the one that is found");
    words->add_option(
        "--nvml", options->nvml,
        "NVIDIA's library to ask for the NVLink domain; by default libnvidia-ml.so.1 of this host");
    words->add_flag("--json", options->json, "Print one line of JSON, as railtopo gather reads it");
    return {words, [options] { return run_host(*options); }};
}

} // namespace topo::tool
