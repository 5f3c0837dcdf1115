// railtopo(1): find, make, check and show fabrics.
#include "base/cli.hpp"
#include "base/file.hpp"
#include "topo/fabric_json.hpp"
#include "topo/show.hpp"
#include "topo/synth.hpp"

#include <fmt/format.h>

namespace {

struct Options {
    std::string file, out, spec;
    bool json = false, every_unit = false;
};

// Writes a result where --out says; a file that holds these bytes already keeps its time stamp.
base::Expected<void> put(const std::string& out, std::string_view text) {
    if (out == "-") {
        fmt::print("{}", text);
        return {};
    }
    if (auto written = base::write_file_if_changed(out, text); !written) return std::move(written).error();
    return {};
}

base::Expected<int> run_synth(const Options& options) {
    const auto spec = topo::parse_synth(options.spec);
    if (!spec) return spec.error();
    auto fabric = topo::synthesise(*spec);
    if (!fabric) return std::move(fabric).error();
    fabric->source = fmt::format("railtopo synth \"{}\"", options.spec);
    if (auto done = put(options.out, topo::print_fabric(*fabric)); !done) return std::move(done).error();
    return base::exit_done;
}

base::Expected<int> run_show(const Options& options) {
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

    auto* synth =
        cli->add_subcommand("synth", "Make a fabric from words such as \"pods=1 units=2 hosts=8 rails=8\"");
    synth->add_option("SPEC", options.spec, "What to make")->required();
    synth->add_option("--out", options.out, "Fabric file to write, - for standard output")->required();

    auto* show = cli->add_subcommand("show", "Draw a fabric as text");
    show->add_option("FABRIC", options.file, "Fabric file, - for standard input")->required();
    show->add_flag("--units", options.every_unit,
                   "Show each unit with its leaves instead of folding equal ones");
    show->add_flag("--json", options.json, "Print JSON");

    int status = 0;
    if (!cli.parse(argc, argv, status)) return status;
    const auto done = synth->parsed() ? run_synth(options) : run_show(options);
    if (!done) return cli.fail(done.error());
    return base::finish_output(cli, *done);
}
