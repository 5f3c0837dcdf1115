"""A repaired host comes back when the site's program finds it sound ([repair] check_program), and not before."""

import contextlib
import signal

from railcluster.process import wait_for
from railcluster.testing import check, equal, holds, skip
from test_restart import NEEDS as RESTART_NEEDS
from test_restart import actions, check_moved, gang, timeline
from test_return import asked, boot, in_use, logs, options  # noqa: F401

NEEDS = [*RESTART_NEEDS, "railcheck", "tests/doubles/libnvidia-ml.so.1"]


@contextlib.contextmanager
def tried_by_railcheck(cluster):
    """Repaired hosts are tried, as if by ssh: railcheck with a double of NVML whose state is the host's check.state.
    Gives the file that has the program's arguments, a line a run."""
    program = cluster.root / "etc" / "try"
    build = cluster.options.build
    program.write_text(f"""#!/bin/sh
echo "$*" >>{cluster.root}/etc/tried
export RAIL_NVML_STATE={cluster.root}/hardware/$1/check.state
exec {build}/railcheck gpu --level=1 --host="$1" --nvml={build}/tests/doubles/libnvidia-ml.so.1
""")
    program.chmod(0o755)
    conf = cluster.agents.conf.read_text()
    check("[repair]" in conf, f"no [repair] in {conf}")

    def configure(text):
        cluster.agents.conf.write_text(text)
        cluster.daemons["ctl", "restartd"].kill(signal.SIGHUP)

    configure(conf.replace("[repair]", f'[repair]\ncheck_program = "{program}"', 1))
    yield cluster.root / "etc" / "tried"
    configure(conf)


def noted(cluster, host, words):
    return any(words in text for _, text in timeline(cluster, host))


def repair(cluster, host, program):
    """The rung's program was run, and the host boots without the fault that its agent saw."""
    wait_for(lambda: asked(cluster, program, host), 60, f"{program} of {host}", logs(cluster), every=0.2)
    cluster.power_off(host)
    cluster.agents.set_gpu(host, 3, lost=0)
    boot(cluster, host)


def check_repair(cluster, tried):
    job, nodes = gang(cluster, nodes=3, steps=100000)
    victim = nodes[1]
    hardware = cluster.agents.hardware(victim)
    sound = (hardware / "nvml.state").read_text()
    (hardware / "check.state").write_text(sound + "3.reasons=0x80\n")
    cluster.agents.set_gpu(victim, 3, lost=1)
    check_moved(cluster, job, victim)
    repair(cluster, victim, "reboot")
    wait_for(lambda: noted(cluster, victim, f"reboot did not help: its check finds {victim} bad"), 90,
             "its check to find it bad", logs(cluster), every=0.3)
    check(noted(cluster, victim, "1 bad (gpu3 gpu.throttle.hw_power_brake)"), f"what is bad: {timeline(cluster, victim)}")
    check(not in_use(cluster, victim), f"{victim} is in use")
    (hardware / "check.state").write_text(sound)
    repair(cluster, victim, "power-cycle")
    wait_for(lambda: noted(cluster, victim, f"{victim} is in use again (power_cycle)"), 90, f"{victim} to be in use again",
             logs(cluster), every=0.3)
    equal(tried.read_text().splitlines(), [f"{victim} gpu_gone reboot", f"{victim} gpu_gone power_cycle"], "what was tried")
    equal([kind for kind, _ in actions(cluster)].count("resume_host"), 1, "resumes")
    holds(cluster.log("ctl", "restartd").read_text(), f"resume {victim}: no fault for ", "restartd's log")


def test_a_host_that_its_check_finds_bad_is_repaired_further(cluster):
    """GPU gone: rebooted, no fault any more, and railcheck finds a brake: power-cycled, sound, and only then resumed."""
    if not cluster.yard.namespaces:
        skip("hosts are plain processes: they have no power to switch and no boot id of their own")
    with tried_by_railcheck(cluster) as tried:
        check_repair(cluster, tried)
