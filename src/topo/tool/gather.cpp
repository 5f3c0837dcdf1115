// railtopo gather: merges many hosts' facts, and NVLink domains, into a fabric file.
#include "topo/host/gather.hpp"

#include "base/file.hpp"
#include "topo/derive.hpp"
#include "topo/fabric_json.hpp"
#include "topo/read/blocks.hpp"
#include "topo/read/source.hpp"
#include "topo/tool/command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

namespace topo::tool {

namespace {

struct GatherOptions {
    std::string fabric, from, blocks, out, rules;
    bool force = false, json = false;
};

// The results.
struct Outcome {
    GatherReport report;
    std::vector<std::string> other;  // lines without facts
    std::size_t domains_changed = 0; // hosts whose NVLink domain has changed
    bool has_facts = false, written = false;
};

void print_report(const GatherOptions& options, const Outcome& outcome) {
    const auto& report = outcome.report;
    if (!options.json) {
        for (const auto* list : {&outcome.other, &report.contradictions, &report.missing, &report.notes})
            for (const auto& sentence : *list)
                fmt::print(stderr, "railtopo: {}\n", sentence);
        if (!outcome.written || options.out == "-") return;
        std::vector<std::string> parts;
        if (outcome.has_facts)
            parts.push_back(
                fmt::format("facts of {} hosts, {} rails changed", report.hosts, report.rails_changed));
        if (!outcome.has_facts || outcome.domains_changed != 0)
            parts.push_back(fmt::format("NVLink domains of {} hosts changed", outcome.domains_changed));
        fmt::print("{}: {}\n", options.out, fmt::join(parts, ", "));
        return;
    }
    const auto text = base::to_pretty(boost::json::object{{"out", options.out},
                                                          {"written", outcome.written},
                                                          {"hosts", report.hosts},
                                                          {"rails_changed", report.rails_changed},
                                                          {"domains_changed", outcome.domains_changed},
                                                          {"contradictions", to_json(report.contradictions)},
                                                          {"missing", to_json(report.missing)},
                                                          {"notes", to_json(report.notes)},
                                                          {"other_lines", to_json(outcome.other)}});
    fmt::print(options.out == "-" ? stderr : stdout, "{}", text);
}

std::string name_of_source(const std::string& file) {
    return file == "-" ? "standard input" : file;
}

std::vector<std::string> domains_of(const Fabric& fabric) {
    std::vector<std::string> domains;
    for (const Host& host : fabric.hosts)
        domains.push_back(host.domain);
    return domains;
}

// Blocks first, so that the facts take precedence, and the domains keep the blocks' names.
base::Expected<Outcome> merge(const GatherOptions& options, Fabric& fabric, const Rules* rules) {
    Outcome outcome;
    std::vector<std::string> notes;
    if (!options.blocks.empty()) {
        const auto text = base::read_file(options.blocks);
        if (!text) return text.error();
        const auto blocks = read_blocks(*text, name_of_source(options.blocks));
        if (!blocks) return blocks.error();
        notes = name_domains(fabric, *blocks);
    }
    if (outcome.has_facts = !options.from.empty(); outcome.has_facts) {
        const auto text = base::read_file(options.from);
        if (!text) return text.error();
        auto gathering = parse_gathering(*text, name_of_source(options.from));
        if (!gathering) return std::move(gathering).error();
        outcome.report = merge_facts(fabric, *gathering, rules);
        outcome.other = std::move(gathering->other);
    } else if (rules != nullptr) {
        name_domains(fabric, *rules);
        derive(fabric);
    }
    outcome.report.notes.insert(outcome.report.notes.begin(), notes.begin(), notes.end());
    return outcome;
}

base::Expected<int> run_gather(GatherOptions& options) {
    if (options.out.empty()) options.out = options.fabric;
    if (options.from.empty() && options.blocks.empty()) options.from = "-";
    const auto inputs = {&options.fabric, &options.from, &options.blocks};
    if (std::count_if(inputs.begin(), inputs.end(), [](const auto* file) { return *file == "-"; }) > 1)
        return base::Error{
            base::Code::usage,
            "only one of the fabric, the facts and the blocks can be standard input; name files "
            "with --from and --blocks"};
    Rules rules;
    if (!options.rules.empty()) {
        auto read = read_rules(options.rules);
        if (!read) return std::move(read).error();
        rules = *std::move(read);
    }
    auto fabric = read_fabric(options.fabric);
    if (!fabric) return std::move(fabric).error();
    const auto before = domains_of(*fabric);
    auto outcome = merge(options, *fabric, options.rules.empty() ? nullptr : &rules);
    if (!outcome) return std::move(outcome).error();
    const auto after = domains_of(*fabric);
    for (std::size_t h = 0; h < after.size(); ++h)
        if (after[h] != before[h]) ++outcome->domains_changed;
    const auto& report = outcome->report;
    if (!report.contradictions.empty() && !options.force) {
        print_report(options, *outcome);
        return base::Error{
            base::Code::unfit,
            fmt::format("{}: not written: facts and fabric cannot both be right; --force leaves "
                        "those hosts' facts out",
                        options.out)};
    }
    if (auto done = put(options.out, print_fabric(*fabric)); !done) return std::move(done).error();
    outcome->written = true;
    print_report(options, *outcome);
    return report.contradictions.empty() && report.missing.empty() ? base::exit_done : base::exit_finding;
}

} // namespace

Command add_gather(base::Words& parent) {
    auto options = std::make_shared<GatherOptions>();
    auto* words = parent.add_subcommand(
        "gather", "Put hosts' facts, from pdsh, srun or ssh, or Slurm's blocks into a fabric file");
    words->add_option("FABRIC", options->fabric, "Fabric file")->required();
    words->add_option("--from", options->from,
                      "What railtopo host --json printed on the hosts; - for standard input, the default "
                      "without --blocks");
    words->add_option(
        "--blocks", options->blocks,
        "Slurm's topology.conf or topology.yaml, or what scontrol show topology prints: its blocks "
        "are NVLink domains");
    words->add_option("--out", options->out, "Fabric file to write instead of FABRIC, - for standard output");
    words->add_option("--rules", options->rules, "Rules for roles and rails, fabric-rules(5)");
    words->add_flag("--force", options->force, "Write although facts contradict the fabric, without those");
    words->add_flag("--json", options->json, "Print what was found as JSON");
    return {words, [options] { return run_gather(*options); }};
}

} // namespace topo::tool
