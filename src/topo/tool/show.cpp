// railtopo show: displays a fabric as text or as a picture.
#include "topo/draw/show.hpp"

#include "base/file.hpp"
#include "base/hostlist.hpp"
#include "base/json.hpp"
#include "topo/draw/cables.hpp"
#include "topo/draw/overlay.hpp"
#include "topo/draw/svg.hpp"
#include "topo/fabric_json.hpp"
#include "topo/tool/command.hpp"
#include "topo/tool/status_overlay.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

namespace topo::tool {

using base::Expected;

namespace {

struct ShowOptions {
    std::string file, state, links, out = "-";
    std::vector<std::string> jobs;
    bool every_unit = false, json = false, svg = false, cables = false;
};

std::string name_of(const std::string& file) {
    return file == "-" ? "standard input" : file;
}

// Findings about links: those in the file or, for a picture, what railtopo check finds now.
Expected<void> add_findings(Overlay& overlay, const ShowOptions& options, const Fabric& fabric) {
    if (!options.links.empty()) {
        const auto text = base::read_file(options.links);
        if (!text) return text.error();
        auto findings = parse_findings(*text, name_of(options.links));
        if (!findings) return std::move(findings).error();
        overlay.findings.insert(overlay.findings.end(), findings->begin(), findings->end());
    } else if (options.svg) {
        const auto findings = check(fabric);
        overlay.findings.insert(overlay.findings.end(), findings.begin(), findings.end());
    }
    std::stable_sort(overlay.findings.begin(), overlay.findings.end(),
                     [](const Finding& a, const Finding& b) { return a.severity < b.severity; });
    return {};
}

Expected<Overlay> read_overlay(const ShowOptions& options, const Fabric& fabric) {
    Overlay overlay;
    if (!options.state.empty()) {
        const auto text = base::read_file(options.state);
        if (!text) return text.error();
        const auto add = base::is_object(*text) ? add_status : add_states;
        auto done = add(overlay, fabric, *text, name_of(options.state));
        if (!done) return std::move(done).error();
        if (!overlay.unknown.empty())
            fmt::print(stderr, "railtopo: passed over, not in the fabric: {}\n",
                       base::fold_hostlist(overlay.unknown));
    }
    for (const auto& job : options.jobs)
        if (auto done = add_job(overlay, fabric, job); !done) return std::move(done).error();
    if (auto done = add_findings(overlay, options, fabric); !done) return std::move(done).error();
    return overlay;
}

Expected<int> run_show(const ShowOptions& options) {
    if ((options.file == "-") + (options.state == "-") + (options.links == "-") > 1)
        return base::Error{base::Code::usage,
                           "standard input can be only one of FABRIC, --state and --links; "
                           "name files for the others"};
    const auto fabric = read_fabric(options.file);
    if (!fabric) return fabric.error();
    if (options.cables) {
        if (auto done = put(options.out, options.json ? show_cables_json(*fabric) : show_cables(*fabric));
            !done)
            return std::move(done).error();
        return base::exit_done;
    }
    const auto overlay = read_overlay(options, *fabric);
    if (!overlay) return overlay.error();
    const auto text = options.svg    ? draw_svg(*fabric, *overlay)
                      : options.json ? show_json(*fabric)
                                     : show(*fabric, {options.every_unit, &*overlay});
    if (auto done = put(options.out, text); !done) return std::move(done).error();
    return base::exit_done;
}

} // namespace

Command add_show(base::Words& parent) {
    auto options = std::make_shared<ShowOptions>();
    auto* words = parent.add_subcommand("show", "Draw a fabric, as text or as a picture");
    words->add_option("FABRIC", options->file, "Fabric file, - for standard input")->required();
    auto* units = words->add_flag("--units", options->every_unit,
                                  "Show each unit with its leaves instead of folding equal ones");
    auto* cables = words->add_flag("--cables", options->cables,
                                   "List cables and transceivers, with what they say of themselves");
    auto* json = words->add_flag("--json", options->json, "Print JSON");
    auto* svg = words->add_flag("--svg", options->svg, "Draw a picture (SVG)");
    words->add_option("--out", options->out, "File to write, - for standard output")->capture_default_str();
    auto* state =
        words->add_option("--state", options->state,
                          "States of hosts: lines \"HOST STATE [HEALTH]\", or railctl status --json");
    auto* job =
        words->add_option("--job", options->jobs, "A job and its hosts, NAME=HOSTLIST; may be repeated")
            ->repeatable();
    auto* links =
        words
            ->add_option("--links", options->links,
                         "Bad links: what railtopo check --json printed, or lines of an end, a tab and text")
            ->needs(svg);
    units->excludes(svg);
    for (auto* other : {units, svg, state, job, links})
        cables->excludes(other);
    for (auto* other : {svg, state, job, links})
        json->excludes(other);
    return {words, [options] { return run_show(*options); }};
}

} // namespace topo::tool
