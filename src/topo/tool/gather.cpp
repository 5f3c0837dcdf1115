// railtopo gather: many hosts' facts into a fabric file.
#include "topo/host/gather.hpp"

#include "base/file.hpp"
#include "topo/fabric_json.hpp"
#include "topo/tool/command.hpp"

#include <fmt/format.h>

#include <memory>

namespace topo::tool {

namespace {

struct Options {
    std::string fabric, from = "-", out, rules;
    bool force = false, json = false;
};

void print_report(const Options& options, const GatherReport& report, const std::vector<std::string>& other,
                  bool written) {
    if (!options.json) {
        for (const auto& sentence : other)
            fmt::print(stderr, "railtopo: {}\n", sentence);
        for (const auto* list : {&report.contradictions, &report.missing, &report.notes})
            for (const auto& sentence : *list)
                fmt::print(stderr, "railtopo: {}\n", sentence);
        if (written && options.out != "-")
            fmt::print("{}: facts of {} hosts, {} rails changed\n", options.out, report.hosts,
                       report.rails_changed);
        return;
    }
    const auto text = base::to_pretty(boost::json::object{{"out", options.out},
                                                          {"written", written},
                                                          {"hosts", report.hosts},
                                                          {"rails_changed", report.rails_changed},
                                                          {"contradictions", to_json(report.contradictions)},
                                                          {"missing", to_json(report.missing)},
                                                          {"notes", to_json(report.notes)},
                                                          {"other_lines", to_json(other)}});
    fmt::print(options.out == "-" ? stderr : stdout, "{}", text);
}

base::Expected<int> run(Options& options) {
    if (options.out.empty()) options.out = options.fabric;
    if (options.fabric == "-" && options.from == "-")
        return base::Error{base::Code::usage,
                           "the fabric and the facts cannot both be standard input; name a "
                           "file with --from"};
    Rules rules;
    if (!options.rules.empty()) {
        auto read = read_rules(options.rules);
        if (!read) return std::move(read).error();
        rules = *std::move(read);
    }
    auto fabric = read_fabric(options.fabric);
    if (!fabric) return std::move(fabric).error();
    const auto text = base::read_file(options.from);
    if (!text) return text.error();
    const auto gathering = parse_gathering(*text, options.from == "-" ? "standard input" : options.from);
    if (!gathering) return gathering.error();
    const auto report = merge_facts(*fabric, *gathering, options.rules.empty() ? nullptr : &rules);
    if (!report.contradictions.empty() && !options.force) {
        print_report(options, report, gathering->other, false);
        return base::Error{
            base::Code::unfit,
            fmt::format("{}: not written: facts and fabric cannot both be right; --force leaves "
                        "those hosts' facts out",
                        options.out)};
    }
    if (auto done = put(options.out, print_fabric(*fabric)); !done) return std::move(done).error();
    print_report(options, report, gathering->other, true);
    return report.contradictions.empty() && report.missing.empty() ? base::exit_done : base::exit_finding;
}

} // namespace

Command add_gather(base::Words& parent) {
    auto options = std::make_shared<Options>();
    auto* words =
        parent.add_subcommand("gather", "Put hosts' facts, from pdsh, srun or ssh, into a fabric file");
    words->add_option("FABRIC", options->fabric, "Fabric file")->required();
    words->add_option("--from", options->from,
                      "What railtopo host --json printed on the hosts; - for standard input (the default)");
    words->add_option("--out", options->out, "Fabric file to write instead of FABRIC, - for standard output");
    words->add_option("--rules", options->rules, "Rules for roles and rails, fabric-rules(5)");
    words->add_flag("--force", options->force, "Write although facts contradict the fabric, without those");
    words->add_flag("--json", options->json, "Print what was found as JSON");
    return {words, [options] { return run(*options); }};
}

} // namespace topo::tool
