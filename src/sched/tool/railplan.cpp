// railplan(1): placements without a cluster.
#include "sched/tool/command.hpp"

int main(int argc, char** argv) {
    base::Cli cli("railplan", "Place gangs on a fabric and say why, without a cluster.", "railplan(1)");
    cli->require_subcommand(1);
    const std::vector<sched::tool::Command> commands{
        sched::tool::add_place(cli.app()),
        sched::tool::add_compare(cli.app()),
        sched::tool::add_batch(cli.app()),
        sched::tool::add_oracle(cli.app()),
        sched::tool::add_bench(cli.app()),
    };
    int status = 0;
    if (!cli.parse(argc, argv, status)) return status;
    for (const auto& command : commands) {
        if (!command.words->parsed()) continue;
        const auto done = command.run();
        if (!done) return cli.fail(done.error());
        return base::finish_output(cli, *done);
    }
    return base::exit_usage;
}
