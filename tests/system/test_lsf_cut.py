"""Hosts of LSF that lose their network while they live, and what is left over of jobs elsewhere: no job runs twice."""

import json
import subprocess

from railcluster.cluster import Options
from railcluster.lsf import bsub
from railcluster.process import wait_for
from railcluster.testing import check, equal, holds

NEEDS = ["restartd", "nodewatchd", "fabricwatchd", "railctl", "esub.rail", "rail-lsf-run", "rail-lsf-rsh"]
AUTO = {"RAIL_RESTART": "auto"}


def options(build):
    return Options(build=build, hosts_per_unit=4, lsf=True)


def copies(cluster, host, what):
    """How many processes of the host have exactly this command line."""
    seen = subprocess.run([*cluster.yard.prefix(host), "pgrep", "-c", "-x", "-f", what], stdout=subprocess.PIPE, text=True, check=False)
    return int(seen.stdout)


def logs(cluster, *hosts):
    return [cluster.log("ctl", "restartd"), cluster.log("ctl", "lsf"), *(cluster.log(host, "nodewatchd") for host in hosts)]


def said(cluster, host):
    """What the agent that runs there now has said; the log has those that ran before it, too."""
    return cluster.log(host, "nodewatchd").read_text().rpartition(": job socket ")[2]


def until_ready(cluster, host):
    """Its agent knows whom to ask when restartd is silent."""
    wait_for(lambda: "tell whether this one is cut off" in said(cluster, host), 30, "witnesses", logs(cluster, host))


def notes(cluster, what):
    return " | ".join(note["text"] for note in json.loads(cluster.out("railctl", "explain", what, "--json"))["timeline"])


def test_of_a_cut_cable_one_copy_runs(cluster):
    cluster.agents.wait_heard()
    job = bsub(cluster, 3, "sleep", "611", env=AUTO)
    first = job.wait("RUN", queue="gang")[0]
    wait_for(lambda: copies(cluster, first, "sleep 611") == 1, 20, "the job to run", logs(cluster, first))
    until_ready(cluster, first)
    cluster.cable(first, False)
    both = []

    def runs_elsewhere():
        state, _, hosts = job.bjobs()
        elsewhere = state == "RUN" and hosts and first not in hosts
        if elsewhere and copies(cluster, first, "sleep 611"):
            both.append(hosts)
        return elsewhere

    wait_for(runs_elsewhere, 120, "the job to run elsewhere", logs(cluster, first))
    equal(both, [], "moments at which it ran twice")
    holds(said(cluster, first), "this host is cut off", "what its agent says")
    cluster.cable(first, True)
    wait_for(lambda: copies(cluster, first, f"{cluster.options.build.resolve()}/rail-lsf-run.*") == 0, 60, "nothing to be left",
             logs(cluster, first))
    equal(job.bjobs()[0], "RUN", "the job, after the host came back")


def test_what_is_left_over_ends_before_the_job_starts_again(cluster):
    cluster.agents.wait_heard()
    rsh = cluster.options.build.resolve() / "rail-lsf-rsh"
    # The first host starts a part on each other one, in a session of its own as daemons of launchers have.
    script = cluster.root / "scratch" / "parts.sh"
    script.parent.mkdir(exist_ok=True)
    script.write_text(f'#!/bin/sh\nfor host in $(tail -n +2 "$RAIL_HOSTFILE" | sort -u); do [ "$host" = "$(hostname)" ] || '
                      f'{rsh} "$host" "setsid sleep 622 </dev/null >/dev/null 2>&1 &"; done\nexec sleep 621\n')
    script.chmod(0o755)
    job = bsub(cluster, 3, str(script), env=AUTO)
    first, *others = job.wait("RUN", queue="gang")
    wait_for(lambda: all(copies(cluster, host, "sleep 622") == 1 for host in others), 30, "all parts", logs(cluster, first))
    cluster.power_off(first)
    again = job.wait("RUN", 120, queue="gang", without=first)
    parts = again[1:]
    wait_for(lambda: all(copies(cluster, host, "sleep 622") == 1 for host in parts), 30, "one part on each other host",
             logs(cluster, *parts))
    for host in set(others) - set(parts):
        equal(copies(cluster, host, "sleep 622"), 0, f"parts left on {host}")
    check(first not in again, f"{first} is not among {again}")
