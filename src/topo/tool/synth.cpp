// railtopo synth: a fabric generated from keywords, and its net file for ibsim.
#include "topo/synth/synth.hpp"
#include "topo/fabric_json.hpp"
#include "topo/synth/ibsim_net.hpp"
#include "topo/tool/command.hpp"

#include <fmt/format.h>

#include <memory>

namespace topo::tool {

namespace {

struct SynthOptions {
    std::string spec, out, ibsim;
};

base::Expected<int> run_synth(const SynthOptions& options) {
    const auto spec = parse_synth(options.spec);
    if (!spec) return spec.error();
    auto fabric = synthesise(*spec);
    if (!fabric) return std::move(fabric).error();
    fabric->source = fmt::format("railtopo synth \"{}\"", options.spec);
    if (!options.ibsim.empty())
        if (auto done = put(options.ibsim, print_ibsim_net(*fabric)); !done) return std::move(done).error();
    if (auto done = put(options.out, print_fabric(*fabric)); !done) return std::move(done).error();
    return base::exit_done;
}

} // namespace

Command add_synth(base::Words& parent) {
    auto options = std::make_shared<SynthOptions>();
    auto* words =
        parent.add_subcommand("synth", "Make a fabric from words such as \"pods=1 units=2 hosts=8 rails=8\"");
    words->add_option("SPEC", options->spec, "What to make")->required();
    words->add_option("--out", options->out, "Fabric file to write, - for standard output")->required();
    words->add_option("--ibsim", options->ibsim, "Also write a net file for the simulator ibsim");
    return {words, [options] { return run_synth(*options); }};
}

} // namespace topo::tool
