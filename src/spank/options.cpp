#include "spank/options.hpp"

#include "railyard_paths.h"
#include "sched/ask/preflight_wish.hpp"
#include "spank/binding.hpp"
#include "spank/preload.hpp"

#include <fmt/format.h>

#include <cstdlib>

namespace spank {
namespace {

constexpr std::array<Flag, flag_count> table = {{
    {"rail-span", "RAIL_SPAN", "domain|unit|pod|fabric[@WAIT]",
     "keep the job's nodes within one NVLink domain, unit or pod, with @WAIT for so long only", true},
    {"rail-segment", "RAIL_SEGMENT", "N[:N...]", "groups of N nodes stay within one unit or domain each",
     true},
    {"rail-spares", "RAIL_SPARES", "K", "K of the job's nodes stand by as spares", true},
    {"rail-order", "RAIL_ORDER", "ring|tree|none", "order of the nodes' ranks (default ring)", true},
    {"ckpt-dir", "RAIL_CKPT_DIR", "DIR", "absolute directory of the job's checkpoints", true},
    {"restart", "RAIL_RESTART", "auto|never",
     "start the job again from its last checkpoint when a host fails", true},
    {"restart-max", "RAIL_RESTART_MAX", "N",
     "with --restart=auto: hold the job when it has failed by itself N times without progress", true},
    {"restart-on", "RAIL_RESTART_ON", "host|any|CODES",
     "with --restart=auto: also when it fails by itself, with any or these exit statuses", true},
    {"rail-keep", "RAIL_KEEP", "yes|no",
     "when the job starts again, prefer the nodes it had where no others are better (default yes)", true},
    {"ckpt-kind", "RAIL_CKPT_KIND", "KIND",
     "the program keeps checkpoints of its own in --ckpt-dir: auto, megatron, deepspeed, dcp, nemo, "
     "lightning, orbax or glob:PATTERN",
     true},
    {"ckpt-signal", "RAIL_CKPT_SIGNAL", "SIG@ranks|SIG@script|file:PATH|none",
     "with --ckpt-kind: how the program is asked to save before the job is moved (default: as its kind is)",
     true},
    {"rail-bind", "RAIL_BIND", "off|near|gpu|print",
     "give each rank the HCA and CPUs near its GPU (near), that GPU alone (gpu); show it (print)", false},
    {"rail-ucx", "RAIL_UCX", "off|watch|stats",
     "tell each host's agent which ways UCX takes in the job's processes (watch), with UCX's statistics "
     "(stats)",
     false},
    {"rail-preflight", "RAIL_PREFLIGHT", "off|quick|full|deep[,net][,nccl]",
     "try the job's hosts before its script begins, and between them (net, nccl); leave those that fail",
     false},
}};

base::Expected<void> check(const Flag& flag, std::string_view value) {
    if (!flag.for_slurmctld) {
        if (std::string_view(flag.name) == "rail-ucx") return check_ucx(value);
        if (std::string_view(flag.name) == "rail-preflight") {
            if (auto wish = sched::parse_preflight(value); !wish) return std::move(wish).error();
            return {};
        }
        if (auto mode = parse_bind(value); !mode) return std::move(mode).error();
        return {};
    }
    sched::Hints checked;
    return sched::set_hint(checked, flag.name, value);
}

// "%n" becomes the node's name, "%%" a percent sign.
std::string expanded(std::string_view path, std::string_view node) {
    std::string out;
    for (std::size_t i = 0; i < path.size(); ++i) {
        const char next = path[i] == '%' && i + 1 < path.size() ? path[i + 1] : '\0';
        if (next == 'n')
            out += node;
        else if (next == '%')
            out += '%';
        else {
            out += path[i];
            continue;
        }
        ++i;
    }
    return out;
}

} // namespace

std::span<const Flag> flags() {
    return table;
}

std::size_t flag_index(std::string_view name) {
    for (std::size_t i = 0; i < table.size(); ++i)
        if (name == table[i].name) return i;
    std::abort();
}

Options::Options()
    : ucx_library_(LIBDIR "/railyard/librailucx.so"), railrun_(BINDIR "/railrun"),
      railckpt_(BINDIR "/railckpt") {}

void Options::keep(std::size_t flag, std::string_view text, Origin origin) {
    if (origin < values_[flag].origin) return;
    values_[flag] = {std::string(text), origin};
}

base::Expected<void> Options::set_argument(std::string_view argument) {
    const auto equals = argument.find('=');
    const auto name = argument.substr(0, equals);
    const auto text = equals == std::string_view::npos ? std::string_view() : argument.substr(equals + 1);
    const std::pair<std::string_view, std::string*> paths[] = {
        {"socket", &socket_},   {"run", &run_folder_},      {"fsroot", &fsroot_},    {"ucx", &ucx_library_},
        {"railrun", &railrun_}, {"railcheck", &railcheck_}, {"railckpt", &railckpt_}};
    for (const auto& [path, kept] : paths) {
        if (name != path) continue;
        if (!text.starts_with('/'))
            return base::Error{base::Code::usage, fmt::format("{}={}: must be an absolute path", name, text)};
        *kept = text;
        return {};
    }
    for (std::size_t i = 0; i < table.size(); ++i) {
        if (name != table[i].name) continue;
        if (auto set = check(table[i], text); !set)
            return base::Error{base::Code::usage, set.error().text.substr(2)}; // an argument has no "--"
        keep(i, text, Origin::arguments);
        return {};
    }
    return base::Error{
        base::Code::usage,
        fmt::format("{}: no such argument; there are socket, run, fsroot, ucx, railrun, railcheck, railckpt, "
                    "{}, rail-bind, rail-ucx, rail-preflight",
                    argument, fmt::join(sched::hint_flags(), ", "))};
}

base::Expected<void> Options::set_flag(std::size_t flag, std::string_view value) {
    if (auto set = check(table[flag], value); !set) return set;
    keep(flag, value, Origin::command_line);
    return {};
}

base::Expected<void> Options::read_environment(const std::function<const char*(const char*)>& get) {
    base::Expected<void> result;
    for (std::size_t i = 0; i < table.size(); ++i) {
        const char* text = get(table[i].variable);
        if (text == nullptr || *text == '\0' || values_[i].origin == Origin::command_line) continue;
        keep(i, text, Origin::environment);
        if (auto set = check(table[i], text); !set && result)
            result = std::move(set).error().within(fmt::format("{} in the environment", table[i].variable));
    }
    return result;
}

std::string Options::socket(std::string_view node) const {
    return expanded(socket_, node);
}

std::string Options::run_folder(std::string_view node) const {
    return expanded(run_folder_, node);
}

std::string Options::ucx_library(std::string_view node) const {
    return expanded(ucx_library_, node);
}

std::string Options::railrun(std::string_view node) const {
    return expanded(railrun_, node);
}

std::string Options::railcheck(std::string_view node) const {
    return expanded(railcheck_, node);
}

std::string Options::railckpt(std::string_view node) const {
    return expanded(railckpt_, node);
}

std::string Options::fsroot(std::string_view node) const {
    return expanded(fsroot_, node);
}

std::vector<std::string> doubts(const Options& options,
                                const std::function<bool(const std::string&)>& is_there) {
    std::vector<std::string> said;
    const auto restart = flag_index("restart");
    const auto& folder = options.value(flag_index("ckpt-dir"));
    if (options.value(restart) == "auto" && options.origin(restart) >= Origin::environment && folder.empty())
        said.emplace_back(
            "--restart=auto without --ckpt-dir: after a fault the job is started again from its "
            "script's beginning, and restartd knows of no checkpoint to wait for");
    if (!folder.empty() && !is_there(folder))
        said.push_back("--ckpt-dir=" + folder + ": there is no such directory on this host");
    const auto kind = flag_index("ckpt-kind");
    if (!options.value(kind).empty() && options.origin(kind) >= Origin::environment && folder.empty())
        said.push_back("--ckpt-kind=" + options.value(kind) +
                       " without --ckpt-dir: has no effect, no directory is watched");
    const auto signal = flag_index("ckpt-signal");
    if (!options.value(signal).empty() && options.origin(signal) >= Origin::environment &&
        options.value(kind).empty())
        said.push_back("--ckpt-signal=" + options.value(signal) +
                       " without --ckpt-kind: has no effect, no one asks the program");
    return said;
}

} // namespace spank
