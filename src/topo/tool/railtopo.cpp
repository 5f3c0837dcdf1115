// railtopo(1): find, make, check and show fabrics.
#include "topo/tool/command.hpp"

int main(int argc, char** argv) {
    base::Cli cli("railtopo", "Find, make, check and show fabrics of hosts, rails, units and pods.",
                  "railtopo(1)");
    cli->require_subcommand(1);
    const std::vector<topo::tool::Command> commands{
        topo::tool::add_discover(cli.words()), topo::tool::add_host(cli.words()),
        topo::tool::add_gather(cli.words()),   topo::tool::add_synth(cli.words()),
        topo::tool::add_check(cli.words()),    topo::tool::add_bless(cli.words()),
        topo::tool::add_show(cli.words()),     topo::tool::add_diff(cli.words()),
        topo::tool::add_export(cli.words()),
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
