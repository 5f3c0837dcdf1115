// railplan(1): placements without a cluster.
#include "sched/tool/command.hpp"

int main(int argc, char** argv) {
    base::Cli cli("railplan", "Place gangs on a fabric and say why, without a cluster.", "railplan(1)");
    cli->require_subcommand(1);
    const std::vector<sched::tool::Command> commands{
        sched::tool::add_place(cli.words()),
        sched::tool::add_compare(cli.words()),
        sched::tool::add_batch(cli.words()),
        sched::tool::add_simulate(cli.words()),
        sched::tool::add_oracle(cli.words()),
        sched::tool::add_bench(cli.words()),
    };
    int status = 0;
    if (!cli.parse(argc, argv, status)) return status;
    for (const auto& command : commands) {
        if (!*command.words) continue;
        const auto done = command.run();
        if (!done) return cli.fail(done.error());
        return base::finish_output(cli, *done);
    }
    return base::exit_usage;
}
