// railtopo show: a fabric for people.
#include "topo/draw/show.hpp"

#include "topo/fabric_json.hpp"
#include "topo/tool/command.hpp"

#include <fmt/format.h>

#include <memory>

namespace topo::tool {

namespace {

struct Options {
    std::string file;
    bool every_unit = false, json = false;
};

base::Expected<int> run(const Options& options) {
    const auto fabric = read_fabric(options.file);
    if (!fabric) return fabric.error();
    fmt::print("{}", options.json ? show_json(*fabric) : show(*fabric, {options.every_unit}));
    return base::exit_done;
}

} // namespace

Command add_show(CLI::App& parent) {
    auto options = std::make_shared<Options>();
    auto* words = parent.add_subcommand("show", "Draw a fabric as text");
    words->add_option("FABRIC", options->file, "Fabric file, - for standard input")->required();
    words->add_flag("--units", options->every_unit,
                    "Show each unit with its leaves instead of folding equal ones");
    words->add_flag("--json", options->json, "Print JSON");
    return {words, [options] { return run(*options); }};
}

} // namespace topo::tool
