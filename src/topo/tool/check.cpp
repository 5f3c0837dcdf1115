// railtopo check: findings as a table or JSON, and an exit status by severity.
#include "topo/check/check.hpp"
#include "topo/check/against_plan.hpp"

#include "base/file.hpp"
#include "base/table.hpp"
#include "topo/fabric_json.hpp"
#include "topo/meeting.hpp"
#include "topo/read/plan_file.hpp"
#include "topo/tool/command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

namespace topo::tool {

namespace {

struct CheckOptions {
    std::string file, plan;
    bool json = false;
};

void print_json(const Fabric& fabric, const std::vector<Finding>& findings) {
    boost::json::array list;
    for (const auto& finding : findings)
        list.push_back(boost::json::object{{"code", finding.code},
                                           {"severity", to_string(finding.severity)},
                                           {"ends", to_json(finding.ends)},
                                           {"text", finding.text},
                                           {"evidence", finding.evidence},
                                           {"fix", finding.fix}});
    fmt::print(
        "{}", base::to_pretty(boost::json::object{
                  {"findings", std::move(list)}, {"rails_meet", rails_meeting_json(rails_meeting(fabric))}}));
}

void print_findings(const Fabric& fabric, const std::vector<Finding>& findings) {
    base::Table table({"SEVERITY", "CODE", "FINDING"});
    for (const auto& finding : findings)
        table.add({std::string(to_string(finding.severity)), finding.code, finding.text});
    if (!table.empty())
        fmt::print("{}", table.print());
    else
        fmt::print("no findings: {} hosts, {} switches, {} links\n", fabric.hosts.size(),
                   fabric.switches.size(), fabric.links.size());
    if (const auto text = rails_meeting_text(rails_meeting(fabric)); !text.empty()) fmt::print("{}\n", text);
}

base::Expected<std::vector<Finding>> findings_of(const CheckOptions& options, const Fabric& fabric) {
    if (options.plan.empty()) {
        if (!options.json && fabric.hosts.size() > 1)
            fmt::print(stderr,
                       "railtopo: without a plan (--plan) hosts are held to their siblings: hosts in each "
                       "other's places, cables on the right leaf but another port, and units behind the last "
                       "are not found\n");
        return check(fabric);
    }
    const auto text = base::read_file(options.plan);
    if (!text) return text.error();
    const auto plan = read_plan(*text, options.plan == "-" ? "standard input" : options.plan, fabric);
    if (!plan) return plan.error();
    for (const auto& note : plan->notes)
        fmt::print(stderr, "railtopo: {}\n", note);
    return check_against(plan->fabric, fabric);
}

base::Expected<int> run_check(const CheckOptions& options) {
    if (options.file == "-" && options.plan == "-")
        return base::Error{base::Code::usage, "FABRIC and --plan cannot both be standard input"};
    const auto fabric = read_fabric(options.file);
    if (!fabric) return fabric.error();
    const auto found = findings_of(options, *fabric);
    if (!found) return found.error();
    const auto& findings = *found;
    if (options.json)
        print_json(*fabric, findings);
    else
        print_findings(*fabric, findings);
    const bool matters = std::any_of(findings.begin(), findings.end(),
                                     [](const Finding& f) { return f.severity != Severity::info; });
    return matters ? base::exit_finding : base::exit_done;
}

} // namespace

Command add_check(base::Words& parent) {
    auto options = std::make_shared<CheckOptions>();
    auto* words = parent.add_subcommand("check", "Look for wrong cables, missing rails and slow links");
    words->add_option("FABRIC", options->file, "Fabric file, - for standard input")->required();
    words->add_option(
        "--plan", options->plan,
        "Cabling plan to hold it to, CSV or YAML of ends or of railtopo bless; - for standard input");
    words->add_flag("--json", options->json, "Print JSON");
    return {words, [options] { return run_check(*options); }};
}

} // namespace topo::tool
