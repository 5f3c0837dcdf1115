#include "restart/run/options.hpp"

#include "base/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace restart::run {
namespace {

using base::Code;
using base::Error;
using base::Expected;

constexpr std::array<std::string_view, 6> with_value = {"--warm-limit", "--max-restarts", "--settle",
                                                        "--read-ahead", "--preflight",    "--railcheck"};

} // namespace

Split split_words(int argc, const char* const* argv) {
    Split split;
    int at = 0;
    if (argc > 0) split.own.emplace_back(argv[at++]);
    for (; at < argc; ++at) {
        const std::string_view word = argv[at];
        if (word == "--") {
            ++at;
            break;
        }
        if (!word.starts_with('-')) break;
        split.own.emplace_back(word);
        if (std::find(with_value.begin(), with_value.end(), word) != with_value.end() && at + 1 < argc)
            split.own.emplace_back(argv[++at]);
    }
    for (; at < argc; ++at)
        split.command.emplace_back(argv[at]);
    return split;
}

void declare(base::Cli& cli, Arguments& arguments) {
    cli->add_flag("--warm", arguments.warm,
                  "Spares read the program and the newest checkpoint into memory ahead");
    cli->add_option("--warm-limit", arguments.warm_most, "How much a spare reads at most")
        ->type_name("SIZE")
        ->capture_default_str();
    cli->add_option(
           "--max-restarts", arguments.max_restarts,
           "How often the step is started again inside the allocation; default: as often as there are "
           "spares")
        ->type_name("N");
    cli->add_option("--settle", arguments.settle,
                    "How long the loss of a host is awaited when the step fails")
        ->type_name("TIME")
        ->capture_default_str();
    cli->add_option(
           "--read-ahead", arguments.read_ahead,
           "Read the files and directories named into memory, up to this size, and exit; what --warm "
           "runs on spares")
        ->type_name("SIZE");
    cli->add_option("--preflight", arguments.preflight,
                    "Try the job's hosts, say where it is to start, and exit; what --rail-preflight runs "
                    "before the script")
        ->type_name("quick|full|deep[,net][,nccl]");
    cli->add_option("--railcheck", arguments.railcheck, "With --preflight: railcheck on the job's hosts")
        ->type_name("PATH");
}

Expected<std::uint64_t> parse_bytes(std::string_view text) {
    const Error bad{Code::usage,
                    fmt::format("\"{}\" is no size: a number of bytes, or one with K, M, G or T", text)};
    constexpr std::string_view units = "KMGT";
    std::uint64_t unit = 1;
    if (!text.empty())
        if (const auto power = units.find(text.back()); power != std::string_view::npos) {
            unit <<= 10 * (power + 1);
            text.remove_suffix(1);
        }
    const auto count = base::parse_count(text);
    if (!count || *count == 0 || *count > UINT64_MAX / 2 / unit) return bad;
    return *count * unit;
}

Expected<RunOptions> read(const Arguments& arguments) {
    RunOptions options;
    options.warm = arguments.warm;
    auto most = parse_bytes(arguments.warm_most);
    if (!most) return std::move(most).error().within("--warm-limit");
    options.warm_most = *most;
    if (!arguments.max_restarts.empty()) {
        const auto count = base::parse_count(arguments.max_restarts);
        if (!count) return Error{Code::usage, "--max-restarts: a whole number from 0 is wanted"};
        options.max_restarts = *count;
    }
    const auto settle = base::parse_duration(arguments.settle);
    if (!settle) return Error{Code::usage, "--settle: " + settle.error().text};
    options.settle = *settle;
    if (!arguments.preflight.empty()) {
        const auto wish = sched::parse_preflight(arguments.preflight);
        if (!wish) return Error{Code::usage, "--preflight: " + wish.error().text};
        options.preflight = *wish;
    }
    options.railcheck = arguments.railcheck;
    if (!arguments.read_ahead.empty()) {
        auto size = parse_bytes(arguments.read_ahead);
        if (!size) return std::move(size).error().within("--read-ahead");
        options.read_ahead = *size;
    }
    return options;
}

} // namespace restart::run
