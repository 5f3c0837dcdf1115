#include "topo/export/export.hpp"

#include "topo/export/formats.hpp"
#include "topo/export/nccl.hpp"
#include "topo/names.hpp"

#include <fmt/format.h>

#include <array>

namespace topo {
namespace {

using base::Code;
using base::Error;
using base::Expected;

// A format's name and the options that it accepts.
struct Taken {
    Format format;
    std::string_view name;
    Expected<std::string> (*of_units)(exports::Chosen&);
    Expected<std::string> (*of_host)(const Fabric&, const Host&);
    bool block_size = false, slots = false, cores = false, most = false, queues = false;
};

constexpr std::array<Taken, format_count> formats{{
    {Format::slurm_tree, "slurm-tree", exports::slurm_tree, nullptr},
    {Format::slurm_block, "slurm-block", exports::slurm_block, nullptr, true},
    {Format::slurm_yaml, "slurm-yaml", exports::slurm_yaml, nullptr, true},
    {Format::lsf, "lsf", exports::lsf, nullptr},
    {Format::lsf_params, "lsf-params", exports::lsf_params, nullptr},
    {Format::lsf_shared, "lsf-shared", exports::lsf_shared, nullptr},
    {Format::lsf_cluster, "lsf-cluster", exports::lsf_cluster, nullptr},
    {Format::lsf_queues, "lsf-queues", exports::lsf_queues, nullptr, false, false, false, false, true},
    {Format::lsf_conf, "lsf-conf", exports::lsf_conf, nullptr},
    {Format::nccl_topo, "nccl-topo", nullptr, exports::nccl_topo},
    {Format::nccl_env, "nccl-env", nullptr, exports::nccl_env},
    {Format::hostfile, "hostfile", exports::hostfile, nullptr, false, true},
    {Format::rankfile, "rankfile", exports::rankfile, nullptr, false, true, true},
    {Format::dot, "dot", exports::dot, nullptr, false, false, false, true},
}};

const Taken& taken(Format format) {
    return formats[static_cast<std::size_t>(format)];
}

// An option that was given but does not apply to the format.
Expected<void> check_options(const Taken& format, const ExportOptions& options) {
    struct Given {
        std::string_view name;
        bool given;
        bool (*fits)(const Taken&);
    };
    const std::array<Given, 9> all{
        {{"--host", !options.host.empty(), [](const Taken& f) { return f.of_host != nullptr; }},
         {"--nodes", !options.nodes.empty(), [](const Taken& f) { return f.of_units != nullptr; }},
         {"--block-size", options.block_size != 0, [](const Taken& f) { return f.block_size; }},
         {"--slots", options.slots != 0, [](const Taken& f) { return f.slots; }},
         {"--cores", options.cores != 0, [](const Taken& f) { return f.cores; }},
         {"--max", options.most != 0, [](const Taken& f) { return f.most; }},
         {"--parking-queue", !options.parking_queue.empty(), [](const Taken& f) { return f.queues; }},
         {"--run-queue", !options.run_queue.empty(), [](const Taken& f) { return f.queues; }},
         {"--admin", !options.admin.empty(), [](const Taken& f) { return f.queues; }}}};
    for (const Given& option : all) {
        if (!option.given || option.fits(format)) continue;
        std::vector<std::string_view> fitting;
        for (const Taken& other : formats)
            if (option.fits(other)) fitting.push_back(other.name);
        return Error{Code::usage, fmt::format("{} does not go with --format {}; it is for {}", option.name,
                                              format.name, fmt::join(fitting, ", "))};
    }
    if (format.of_host != nullptr && options.host.empty())
        return Error{Code::usage,
                     fmt::format("--format {} is of one host: name it with --host NAME", format.name)};
    return {};
}

Expected<Exported> export_host(const Fabric& fabric, const Taken& format, const std::string& name) {
    const auto host = fabric.find_host(name);
    if (!host)
        return Error{Code::usage,
                     fmt::format("--host {}: is not in the fabric; railtopo show lists its hosts", name)};
    auto text = format.of_host(fabric, fabric.hosts[*host]);
    if (!text) return std::move(text).error();
    return Exported{std::move(*text), 1, {}};
}

} // namespace

std::string_view to_string(Format format) {
    return taken(format).name;
}

std::string format_names() {
    std::vector<std::string_view> names;
    for (const Taken& format : formats)
        names.push_back(format.name);
    return fmt::format("{}", fmt::join(names, ", "));
}

Expected<Format> parse_format(std::string_view word) {
    for (const Taken& format : formats)
        if (format.name == word) return format.format;
    return Error{Code::usage,
                 fmt::format("--format: \"{}\" is no format; allowed are {}", word, format_names())};
}

Expected<Exported> export_fabric(const Fabric& fabric, Format which, const ExportOptions& options) {
    const Taken& format = taken(which);
    if (auto sound = check_options(format, options); !sound) return std::move(sound).error();
    if (format.of_host != nullptr) return export_host(fabric, format, options.host);
    auto selection = exports::select(fabric, options.nodes);
    if (!selection) return std::move(selection).error();
    if (which == Format::slurm_tree || which == Format::slurm_yaml) exports::take_beside(fabric, *selection);
    exports::Chosen chosen{fabric, options, std::move(*selection), {}};
    const bool ordered = which == Format::hostfile || which == Format::rankfile;
    const auto& unitless = chosen.selection.unitless;
    const bool placed = ordered && !options.nodes.empty(); // then hosts without a unit come last
    if (chosen.selection.parts.empty() && !(placed && !unitless.empty()))
        return Error{Code::unfit,
                     options.nodes.empty()
                         ? "no host of the fabric is in a unit: there is nothing to export"
                         : "none of the hosts of --nodes is in a unit: there is nothing to export"};
    auto text = format.of_units(chosen);
    if (!text) return std::move(text).error();
    if (!unitless.empty() && !placed)
        chosen.notes.push_back(fmt::format("{} {} in no unit and left out",
                                           known_host_names(fabric, unitless),
                                           unitless.size() == 1 ? "is" : "are"));
    return Exported{std::move(*text), chosen.selection.hosts + (placed ? unitless.size() : 0),
                    std::move(chosen.notes)};
}

Expected<void> exports::check_name(const Host& host, std::string_view reader) {
    if (safe_name(host.name)) return {};
    return Error{
        Code::unfit,
        fmt::format("host \"{}\": {} takes no such name; a name is 1 to 64 letters, digits, '.', '-' and "
                    "'_'. Correct the descriptions of its HCAs, or leave the host out with --nodes",
                    host.name, reader)};
}

Expected<void> exports::check_names(const Chosen& chosen, std::string_view reader) {
    for (const auto& part : chosen.selection.parts)
        for (const auto h : part.hosts)
            if (auto sound = check_name(chosen.fabric.hosts[h], reader); !sound) return sound;
    for (const auto& beside : chosen.selection.beside)
        for (const auto h : beside.hosts)
            if (auto sound = check_name(chosen.fabric.hosts[h], reader); !sound) return sound;
    return {};
}

} // namespace topo
