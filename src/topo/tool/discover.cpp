// railtopo discover: creates a fabric file from a live fabric or the text of its tools.
#include "base/file.hpp"
#include "topo/fabric_json.hpp"
#include "topo/host/gather.hpp"
#include "topo/nameless.hpp"
#include "topo/names.hpp"
#include "topo/read/carry_over.hpp"
#include "topo/read/loss.hpp"
#include "topo/read/mad_discover.hpp"
#include "topo/read/source.hpp"
#include "topo/tool/command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>

namespace topo::tool {

using base::Expected;

namespace {

struct DiscoverOptions {
    std::string from, format = "auto", out, rules;
    MadPort port;
    bool json = false, live = false, force = false;
};

void print_summary(const DiscoverOptions& options, const Fabric& fabric,
                   const std::vector<std::string>& missing, const std::vector<std::string>& notes,
                   bool written) {
    if (!options.json) {
        for (const auto& note : notes)
            fmt::print(stderr, "railtopo: {}\n", note);
        constexpr std::size_t most = 20;
        for (std::size_t i = 0; i < std::min(missing.size(), most); ++i)
            fmt::print(stderr, "railtopo: {}\n", missing[i]);
        if (missing.size() > most)
            fmt::print(stderr, "railtopo: and {} more parts of the fabric; --json names them all\n",
                       missing.size() - most);
        return;
    }
    const auto unknown = count_nameless(fabric);
    const auto text = base::to_pretty(boost::json::object{{"out", options.out},
                                                          {"written", written},
                                                          {"hosts", fabric.hosts.size() - unknown},
                                                          {"hcas_of_no_known_host", unknown},
                                                          {"rails", fabric.rails},
                                                          {"units", fabric.units.size()},
                                                          {"pods", fabric.pods.size()},
                                                          {"switches", fabric.switches.size()},
                                                          {"links", fabric.links.size()},
                                                          {"missing", to_json(missing)},
                                                          {"notes", to_json(notes)}});
    fmt::print(options.out == "-" ? stderr : stdout, "{}", text);
}

Expected<Assembly> assemble_sources(const DiscoverOptions& options, const Rules* rules) {
    if (options.from.empty()) {
        const auto raw = discover_live(options.port);
        if (!raw) return raw.error();
        return assemble(*raw, rules);
    }
    const auto text = base::read_file(options.from);
    if (!text) return text.error();
    return read_source(*text, options.from == "-" ? "standard input" : options.from,
                       parse_source_format(options.format).value_or(SourceFormat::automatic), rules);
}

// The existing fabric file at --out; nothing if there is none, or with --force if it cannot be read.
Expected<std::optional<Fabric>> standing_file(const DiscoverOptions& options) {
    std::error_code ignored;
    if (options.out == "-" || !std::filesystem::is_regular_file(options.out, ignored) ||
        std::filesystem::file_size(options.out, ignored) == 0)
        return std::optional<Fabric>();
    auto before = read_fabric(options.out);
    if (before) return std::optional(*std::move(before));
    if (options.force) return std::optional<Fabric>();
    return base::Error{
        before.error().code,
        fmt::format("{}: stands where the fabric should be written and is none; --force replaces it",
                    before.error().text)};
}

Expected<int> run_discover(const DiscoverOptions& options) {
    Rules rules;
    if (!options.rules.empty()) {
        auto read = read_rules(options.rules);
        if (!read) return std::move(read).error();
        rules = *std::move(read);
    }
    auto assembly = assemble_sources(options, options.rules.empty() ? nullptr : &rules);
    if (!assembly) return std::move(assembly).error();
    auto& fabric = assembly->fabric;
    auto missing = assembly->missing;
    if (fabric.links.empty() && fabric.switches.empty() && !options.force) {
        print_summary(options, fabric, missing, assembly->notes, false);
        return base::Error{
            base::Code::unfit,
            fmt::format("{}: not written: no switch was seen, only {}; look at the port of the "
                        "HCA that was asked through (ibstat); --force writes it all the same",
                        options.out, counted(fabric.hosts.size(), "host", "hosts"))};
    }
    const auto before = standing_file(options);
    if (!before) return before.error();
    if (*before) {
        carry_over(**before, fabric, options.rules.empty());
        if (!options.rules.empty()) renumber_rails(fabric, &rules);
    }
    const auto lost = *before && !options.force ? losses(**before, fabric) : std::vector<std::string>();
    missing.insert(missing.end(), lost.begin(), lost.end());
    if (!lost.empty()) {
        print_summary(options, fabric, missing, assembly->notes, false);
        return base::Error{base::Code::unfit,
                           fmt::format("{}: not written: it shows more of the fabric than was seen now; "
                                       "--force replaces it all the same",
                                       options.out)};
    }
    if (auto done = put(options.out, print_fabric(fabric)); !done) return std::move(done).error();
    print_summary(options, fabric, missing, assembly->notes, true);
    return missing.empty() ? base::exit_done : base::exit_finding;
}

} // namespace

Command add_discover(base::Words& parent) {
    auto options = std::make_shared<DiscoverOptions>();
    auto* words = parent.add_subcommand("discover", "Find the fabric, live or from the text of other tools");
    auto* from = words->add_option("--from", options->from,
                                   "Text of another tool, such as ibnetdiscover; - for standard input");
    words->add_option("--format", options->format, "Of that text; by default seen from it")
        ->needs(from)
        ->one_of({"auto", "ibnetdiscover", "iblinkinfo", "ibsim", "opensm", "net_dump", "db_csv", "ufm",
                  "slurm", "lsf"});
    words->add_flag("--live", options->live, "Ask the fabric itself (the default)")->excludes(from);
    words->add_option("--ca", options->port.ca, "HCA to ask through, such as mlx5_0")->excludes(from);
    words->add_option("--port", options->port.port, "Port of that HCA")->excludes(from)->range(1, 254);
    words->add_option("--out", options->out, "Fabric file to write, - for standard output")->required();
    words->add_option("--rules", options->rules, "Rules for roles and rails, fabric-rules(5)");
    words->add_flag("--force", options->force, "Replace a file that shows more than was seen now");
    words->add_flag("--json", options->json, "Print what was found as JSON");
    return {words, [options] { return run_discover(*options); }};
}

} // namespace topo::tool
