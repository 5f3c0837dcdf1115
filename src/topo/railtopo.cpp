// railtopo(1): find, make, check and show fabrics.
#include "base/cli.hpp"
#include "base/file.hpp"
#include "base/json.hpp"
#include "base/table.hpp"
#include "topo/assemble.hpp"
#include "topo/check.hpp"
#include "topo/fabric_json.hpp"
#include "topo/ibnetdiscover.hpp"
#include "topo/ibsim_net.hpp"
#include "topo/loss.hpp"
#include "topo/mad_discover.hpp"
#include "topo/show.hpp"
#include "topo/synth.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace {

using base::Expected;

struct Options {
    std::string file, out, spec, from, ibsim;
    topo::MadPort port;
    bool json = false, every_unit = false, live = false, force = false;
};

// Writes a result where --out says; a file that holds these bytes already keeps its time stamp.
Expected<void> put(const std::string& out, std::string_view text) {
    if (out == "-") {
        fmt::print("{}", text);
        return {};
    }
    if (auto written = base::write_file_if_changed(out, text); !written) return std::move(written).error();
    return {};
}

boost::json::array to_json(const std::vector<std::string>& sentences) {
    return boost::json::array(sentences.begin(), sentences.end());
}

void print_summary(const Options& options, const topo::Fabric& fabric,
                   const std::vector<std::string>& missing, bool written) {
    if (!options.json) {
        constexpr std::size_t most = 20;
        for (std::size_t i = 0; i < std::min(missing.size(), most); ++i)
            fmt::print(stderr, "railtopo: {}\n", missing[i]);
        if (missing.size() > most)
            fmt::print(stderr, "railtopo: and {} more parts of the fabric; --json names them all\n",
                       missing.size() - most);
        return;
    }
    const auto text = base::to_pretty(boost::json::object{{"out", options.out},
                                                          {"written", written},
                                                          {"hosts", fabric.hosts.size()},
                                                          {"rails", fabric.rails},
                                                          {"units", fabric.units.size()},
                                                          {"pods", fabric.pods.size()},
                                                          {"switches", fabric.switches.size()},
                                                          {"links", fabric.links.size()},
                                                          {"missing", to_json(missing)}});
    fmt::print(options.out == "-" ? stderr : stdout, "{}", text);
}

Expected<topo::RawFabric> discover_raw(const Options& options) {
    if (options.from.empty()) return topo::discover_live(options.port);
    const auto text = base::read_file(options.from);
    if (!text) return text.error();
    return topo::parse_ibnetdiscover(*text, options.from == "-" ? "standard input" : options.from);
}

// Why the file that stands at --out should be kept; empty when it may be replaced.
Expected<std::vector<std::string>> reasons_to_keep(const Options& options, const topo::Fabric& fabric) {
    std::error_code ignored;
    if (options.force || options.out == "-" || !std::filesystem::is_regular_file(options.out, ignored) ||
        std::filesystem::file_size(options.out, ignored) == 0)
        return std::vector<std::string>();
    const auto before = topo::read_fabric(options.out);
    if (!before)
        return base::Error{
            before.error().code,
            fmt::format("{}: stands where the fabric should be written and is none; --force replaces it",
                        before.error().text)};
    return topo::losses(*before, fabric);
}

Expected<int> run_discover(const Options& options) {
    const auto raw = discover_raw(options);
    if (!raw) return raw.error();
    auto assembly = topo::assemble(*raw);
    if (!assembly) return std::move(assembly).error();
    auto& fabric = assembly->fabric;
    if (!options.from.empty()) fabric.source = fmt::format("ibnetdiscover, {}", raw->source);
    auto missing = assembly->missing;
    const auto lost = reasons_to_keep(options, fabric);
    if (!lost) return lost.error();
    missing.insert(missing.end(), lost->begin(), lost->end());
    if (!lost->empty()) {
        print_summary(options, fabric, missing, false);
        return base::Error{base::Code::unfit,
                           fmt::format("{}: not written: it shows more of the fabric than was seen now; "
                                       "--force replaces it all the same",
                                       options.out)};
    }
    if (auto done = put(options.out, topo::print_fabric(fabric)); !done) return std::move(done).error();
    print_summary(options, fabric, missing, true);
    return missing.empty() ? base::exit_done : base::exit_finding;
}

Expected<int> run_synth(const Options& options) {
    const auto spec = topo::parse_synth(options.spec);
    if (!spec) return spec.error();
    auto fabric = topo::synthesise(*spec);
    if (!fabric) return std::move(fabric).error();
    fabric->source = fmt::format("railtopo synth \"{}\"", options.spec);
    if (!options.ibsim.empty())
        if (auto done = put(options.ibsim, topo::print_ibsim_net(*fabric)); !done)
            return std::move(done).error();
    if (auto done = put(options.out, topo::print_fabric(*fabric)); !done) return std::move(done).error();
    return base::exit_done;
}

Expected<int> run_check(const Options& options) {
    const auto fabric = topo::read_fabric(options.file);
    if (!fabric) return fabric.error();
    const auto findings = topo::check(*fabric);
    const bool matters = std::any_of(findings.begin(), findings.end(), [](const topo::Finding& f) {
        return f.severity != topo::Severity::info;
    });
    const int status = matters ? base::exit_finding : base::exit_done;
    if (options.json) {
        boost::json::array list;
        for (const auto& finding : findings)
            list.push_back(boost::json::object{{"code", finding.code},
                                               {"severity", topo::to_string(finding.severity)},
                                               {"ends", to_json(finding.ends)},
                                               {"text", finding.text}});
        fmt::print("{}", base::to_pretty(boost::json::object{{"findings", std::move(list)}}));
        return status;
    }
    base::Table table({"SEVERITY", "CODE", "FINDING"});
    for (const auto& finding : findings)
        table.add({std::string(topo::to_string(finding.severity)), finding.code, finding.text});
    if (!table.empty()) fmt::print("{}", table.print());
    if (findings.empty())
        fmt::print("no findings: {} hosts, {} switches, {} links\n", fabric->hosts.size(),
                   fabric->switches.size(), fabric->links.size());
    return status;
}

Expected<int> run_show(const Options& options) {
    const auto fabric = topo::read_fabric(options.file);
    if (!fabric) return fabric.error();
    fmt::print("{}", options.json ? topo::show_json(*fabric) : topo::show(*fabric, {options.every_unit}));
    return base::exit_done;
}

} // namespace

int main(int argc, char** argv) {
    base::Cli cli("railtopo", "Find, make, check and show fabrics of hosts, rails, units and pods.",
                  "railtopo(1)");
    Options options;
    cli->require_subcommand(1);

    auto* discover = cli->add_subcommand("discover", "Find the fabric, live or from ibnetdiscover's text");
    auto* from = discover->add_option("--from", options.from,
                                      "Text of ibnetdiscover, plain or -p; - for standard input");
    discover->add_flag("--live", options.live, "Ask the fabric itself (the default)")->excludes(from);
    discover->add_option("--ca", options.port.ca, "HCA to ask through, such as mlx5_0")->excludes(from);
    discover->add_option("--port", options.port.port, "Port of that HCA")
        ->excludes(from)
        ->check(CLI::Range(1, 254));
    discover->add_option("--out", options.out, "Fabric file to write, - for standard output")->required();
    discover->add_flag("--force", options.force, "Replace a file that shows more than was seen now");
    discover->add_flag("--json", options.json, "Print what was found as JSON");

    auto* synth =
        cli->add_subcommand("synth", "Make a fabric from words such as \"pods=1 units=2 hosts=8 rails=8\"");
    synth->add_option("SPEC", options.spec, "What to make")->required();
    synth->add_option("--out", options.out, "Fabric file to write, - for standard output")->required();
    synth->add_option("--ibsim", options.ibsim, "Also write a net file for the simulator ibsim");

    auto* check = cli->add_subcommand("check", "Look for wrong cables, missing rails and slow links");
    check->add_option("FABRIC", options.file, "Fabric file, - for standard input")->required();
    check->add_flag("--json", options.json, "Print JSON");

    auto* show = cli->add_subcommand("show", "Draw a fabric as text");
    show->add_option("FABRIC", options.file, "Fabric file, - for standard input")->required();
    show->add_flag("--units", options.every_unit,
                   "Show each unit with its leaves instead of folding equal ones");
    show->add_flag("--json", options.json, "Print JSON");

    int status = 0;
    if (!cli.parse(argc, argv, status)) return status;
    const auto run = discover->parsed() ? run_discover
                     : synth->parsed()  ? run_synth
                     : check->parsed()  ? run_check
                                        : run_show;
    const auto done = run(options);
    if (!done) return cli.fail(done.error());
    return base::finish_output(cli, *done);
}
