// railtopo diff: what changed between two fabric files.
#include "topo/diff/diff.hpp"

#include "base/table.hpp"
#include "topo/fabric_json.hpp"
#include "topo/nameless.hpp"
#include "topo/tool/command.hpp"

#include <fmt/format.h>

#include <memory>

namespace topo::tool {

namespace {

struct DiffOptions {
    std::string before, after;
    bool json = false;
};

base::Expected<int> run_diff(const DiffOptions& options) {
    if (options.before == "-" && options.after == "-")
        return base::Error{base::Code::usage, "OLD and NEW cannot both be standard input"};
    const auto before = read_fabric(options.before);
    if (!before) return before.error();
    const auto after = read_fabric(options.after);
    if (!after) return after.error();
    const auto changes = diff(*before, *after);
    if (options.json) {
        boost::json::array list;
        for (const auto& change : changes)
            list.push_back(boost::json::object{
                {"code", change.code}, {"ends", to_json(change.ends)}, {"text", change.text}});
        fmt::print("{}", base::to_pretty(boost::json::object{{"changes", std::move(list)}}));
    } else if (changes.empty()) {
        fmt::print("no changes: {} hosts, {} switches, {} links\n",
                   after->hosts.size() - count_nameless(*after), after->switches.size(), after->links.size());
    } else {
        base::Table table({"CODE", "CHANGE"});
        for (const auto& change : changes)
            table.add({change.code, change.text});
        fmt::print("{}", table.print());
    }
    return changes.empty() ? base::exit_done : base::exit_finding;
}

} // namespace

Command add_diff(base::Words& parent) {
    auto options = std::make_shared<DiffOptions>();
    auto* words = parent.add_subcommand("diff", "Tell what changed between two fabrics");
    words->add_option("OLD", options->before, "Fabric file, - for standard input")->required();
    words->add_option("NEW", options->after, "Fabric file, - for standard input")->required();
    words->add_flag("--json", options->json, "Print JSON");
    return {words, [options] { return run_diff(*options); }};
}

} // namespace topo::tool
