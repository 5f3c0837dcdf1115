// railtopo export: writes a fabric for Slurm, LSF, NCCL, Open MPI and Graphviz.
#include "topo/export/export.hpp"

#include "base/file.hpp"
#include "base/hostlist.hpp"
#include "topo/fabric_json.hpp"
#include "topo/tool/command.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <memory>

namespace topo::tool {

using base::Expected;

namespace {

struct ExportCommand {
    std::string file, format, out = "-", nodes;
    ExportOptions of_format;
    bool check = false, json = false;
};

bool holds(const std::string& file, const std::string& text) {
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(file, ignored)) return false;
    const auto old = base::read_file(file);
    return old && *old == text;
}

constexpr std::string_view was_written{"written"}, unchanged{"unchanged"}, would_change{"would change"};

Expected<std::string_view> place(const ExportCommand& options, const std::string& text) {
    if (options.check) return holds(options.out, text) ? unchanged : would_change;
    if (options.out == "-") {
        fmt::print("{}", text);
        return was_written;
    }
    const auto done = base::write_file_if_changed(options.out, text);
    if (!done) return done.error();
    return *done ? was_written : unchanged;
}

Expected<int> run_export(const ExportCommand& options) {
    const auto format = parse_format(options.format);
    if (!format) return format.error();
    if (options.check && options.out == "-")
        return base::Error{base::Code::usage, "--check compares with a file: name it with --out FILE"};
    auto of_format = options.of_format;
    if (!options.nodes.empty()) {
        auto nodes = base::expand_hostlist(options.nodes);
        if (!nodes) return std::move(nodes).error().within("--nodes");
        of_format.nodes = std::move(*nodes);
    }
    const auto fabric = read_fabric(options.file);
    if (!fabric) return fabric.error();
    const auto exported = export_fabric(*fabric, *format, of_format);
    if (!exported) return exported.error();
    const auto result = place(options, exported->text);
    if (!result) return result.error();

    auto* report = options.out == "-" ? stderr : stdout;
    if (options.json) {
        fmt::print(report, "{}",
                   base::to_pretty(boost::json::object{{"format", options.format},
                                                       {"out", options.out},
                                                       {"result", *result},
                                                       {"hosts", exported->hosts},
                                                       {"notes", to_json(exported->notes)}}));
    } else {
        for (const auto& note : exported->notes)
            fmt::print(stderr, "railtopo: {}\n", note);
        if (options.out != "-") fmt::print(report, "{}: {}\n", options.out, *result);
    }
    return *result == would_change ? base::exit_finding : base::exit_done;
}

} // namespace

Command add_export(base::Words& parent) {
    auto options = std::make_shared<ExportCommand>();
    auto* words = parent.add_subcommand("export", "Write what Slurm, LSF, NCCL, Open MPI or Graphviz read");
    auto& of_format = options->of_format;
    words->add_option("FABRIC", options->file, "Fabric file, - for standard input")->required();
    words->add_option("--format", options->format, "One of " + format_names())->required();
    words->add_option("--out", options->out, "File to write, - for standard output (the default)");
    words->add_option("--nodes", options->nodes, "Only these hosts, such as n[001-016]");
    words->add_option("--host", of_format.host, "The host, for nccl-topo and nccl-env");
    words->add_option("--block-size", of_format.block_size, "Hosts of the base block (the smallest unit)")
        ->range(1, 65535);
    words->add_option("--slots", of_format.slots, "Ranks a host (its GPUs, else the rails)")->range(1, 65535);
    words->add_option("--cores", of_format.cores, "Cores a rank (the socket of its GPU or HCA)")
        ->range(1, 65535);
    words->add_option("--max", of_format.most, "Things that dot draws before it folds them (400)")
        ->range(1, 1000000);
    words->add_option("--parking-queue", of_format.parking_queue, "Where gangs wait, for lsf-queues (gang)");
    words->add_option("--run-queue", of_format.run_queue, "Where gangs run, for lsf-queues (gangrun)");
    words->add_option("--admin", of_format.admin, "restartd's user, for lsf-queues (lsfadmin)");
    words->add_flag("--check", options->check, "Write nothing; exit 1 if the file would change");
    words->add_flag("--json", options->json, "Print JSON");
    return {words, [options] { return run_export(*options); }};
}

} // namespace topo::tool
