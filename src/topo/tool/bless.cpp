// railtopo bless: turns a fabric as it should be into the plan with which railtopo check --plan compares
// others.
#include "topo/check/check.hpp"
#include "topo/fabric_json.hpp"
#include "topo/read/outline.hpp"
#include "topo/read/plan_file.hpp"
#include "topo/tool/command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

namespace topo::tool {

namespace {

struct BlessOptions {
    std::string file, out, format = "json";
    bool force = false;
};

base::Expected<int> run_bless(const BlessOptions& options) {
    const auto fabric = read_fabric(options.file);
    if (!fabric) return fabric.error();
    if (is_outline(*fabric))
        return base::Error{base::Code::unfit, fmt::format("{}: tells units and no cables", options.file)};
    const auto findings = check(*fabric);
    const auto errors = std::count_if(findings.begin(), findings.end(), [](const Finding& finding) {
        return finding.severity == Severity::error;
    });
    if (errors > 0 && !options.force) {
        for (const Finding& finding : findings)
            if (finding.severity == Severity::error) fmt::print(stderr, "railtopo: {}\n", finding.text);
        return base::Error{
            base::Code::unfit,
            fmt::format("{}: not written: {}; mend them and discover again, or, if it should be so, "
                        "--force",
                        options.out, errors == 1 ? "there is an error" : "there are errors")};
    }
    const auto text = options.format == "csv" ? plan_csv(*fabric) : print_fabric(blessed(*fabric));
    if (auto done = put(options.out, text); !done) return std::move(done).error();
    return base::exit_done;
}

} // namespace

Command add_bless(base::Words& parent) {
    auto options = std::make_shared<BlessOptions>();
    auto* words =
        parent.add_subcommand("bless", "Make the cabling plan for check of a fabric that is as it should be");
    words->add_option("FABRIC", options->file, "Fabric file, - for standard input")->required();
    words->add_option("--out", options->out, "Plan to write, - for standard output")->required();
    words->add_option("--format", options->format, "A fabric file, or a table of ends")
        ->one_of({"json", "csv"});
    words->add_flag("--force", options->force, "Write it even if check finds errors in it");
    return {words, [options] { return run_bless(*options); }};
}

} // namespace topo::tool
