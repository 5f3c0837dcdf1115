// railcheck: checks of a host, and of the rules that watch it. Manual: railcheck(8).
#include "base/cli.hpp"
#include "check/check_command.hpp"
#include "check/mpi/mpi_command.hpp"
#include "check/net/net_command.hpp"
#include "check/preflight_command.hpp"
#include "check/selftest_command.hpp"

#include <deque>
#include <string>
#include <utility>

int main(int argc, char** argv) {
    base::Cli cli("railcheck", "Tries the parts of this host, and the rules it is watched by.",
                  "railcheck(8)");
    cli->require_subcommand(1);
    std::deque<std::pair<base::Words*, check::CheckCommand>> commands;
    std::vector<check::CheckRow> all;
    const auto add = [&](std::string_view name, std::string_view about, std::vector<check::CheckRow> rows) {
        auto* words = cli->add_subcommand(std::string(name), std::string(about));
        commands.emplace_back(words, check::CheckCommand(std::move(rows))).second.add_options(*words);
    };
    for (const auto& row : check::checks()) {
        add(row.name, row.about, {row});
        if (row.in_all) all.push_back(row);
    }
    add("all", "Run every check of this host", all);
    check::SelftestCommand selftest;
    auto* selftest_words = cli->add_subcommand(
        "selftest", "Show that each rule of health.conf(5) fires at its fault and at nothing less");
    selftest.add_options(*selftest_words);
    check::net::NetCommand net;
    auto* net_words =
        cli->add_subcommand("net", "Measure between all hosts, rail by rail, and name what is slow");
    net.add_options(*net_words);
    check::mpi::MpiCommand mpi(check::mpi::MpiCommand::Over::mpi);
    auto* mpi_words = cli->add_subcommand(
        "mpi", "Find the host or rail that slows all-reduces and barriers of Open MPI, by bisection");
    mpi.add_options(*mpi_words);
    check::mpi::MpiCommand nccl(check::mpi::MpiCommand::Over::nccl);
    auto* nccl_words = cli->add_subcommand(
        "nccl", "Find the host or rail that slows all-reduces and all-gathers of NCCL, by bisection");
    nccl.add_options(*nccl_words);
    check::PreflightCommand preflight;
    auto* preflight_words = cli->add_subcommand(
        "preflight",
        "What railrun(1) starts on each host of a job before its script, a line of JSON a result");
    preflight.add_options(*preflight_words);
    int status = 0;
    if (!cli.parse(argc, argv, status)) return status;
    if (*net_words) return net.run(cli);
    if (*mpi_words) return mpi.run(cli);
    if (*nccl_words) return nccl.run(cli);
    if (*preflight_words) return preflight.run(cli);
    for (auto& [words, command] : commands)
        if (*words) return command.run(cli);
    return selftest.run(cli);
}
