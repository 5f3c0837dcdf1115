// railcheck: checks of a host, and of the rules it is watched by. Manual: railcheck(8).
#include "base/cli.hpp"
#include "check/selftest_command.hpp"

int main(int argc, char** argv) {
    base::Cli cli("railcheck", "Tries the parts of this host, and the rules it is watched by.",
                  "railcheck(8)");
    cli->require_subcommand(1);
    check::SelftestCommand selftest;
    auto* selftest_words = cli->add_subcommand(
        "selftest", "Show that each rule of health.conf(5) fires at its fault and at nothing less");
    selftest.add_options(*selftest_words);
    int status = 0;
    if (!cli.parse(argc, argv, status)) return status;
    return selftest.run(cli);
}
