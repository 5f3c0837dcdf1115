"""What jobs say of UCX: the ways of an MPI job's endpoints, on the hosts where its ranks are."""

import json
import os
import pathlib
import shutil
import subprocess

from railcluster.cluster import Options
from railcluster.process import wait_for
from railcluster.testing import check, equal, holds, skip

NEEDS = ["restartd", "nodewatchd", "railctl", ".libs/spank_rail.so", ".libs/librailucx.so"]
UCX = {"OMPI_MCA_pml": "ucx", "OMPI_MCA_opal_common_ucx_tls": "any", "OMPI_MCA_opal_common_ucx_devices": "any",
       "OMPI_MCA_mpi_yield_when_idle": "1"}
PROGRAM = """
#include <mpi.h>
#include <unistd.h>
int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    for (int stop = 0; stop == 0; usleep(50000)) {
        int seen = access("stop", F_OK) == 0;
        MPI_Allreduce(&seen, &stop, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    }
    return MPI_Finalize();
}
"""


def options(build):
    return Options(build=build, units=1, hosts_per_unit=2, rails=2, railyard={"restartd.observe_only": "true"})


def logs(cluster):
    return [cluster.log("ctl", "restartd"), cluster.log("n001", "nodewatchd")]


def rows(cluster, host, job):
    """What the job said on the host, by rule: state, value and words."""
    done = cluster.run("railctl", "signals", host, "--json", "--component", f"job{job}", timeout=60)
    if done.returncode not in (0, 1):
        holds(done.stderr, f"has no signals of job{job}", "why there are none")
        return {}
    told = json.loads(done.stdout)["signals"]
    return {told["rules"][row["rule"]]["name"]: row for row in told["rows"]}


def program(cluster):
    if not shutil.which("mpicc"):
        skip("mpicc is not installed")
    if " ucx " not in subprocess.run(["ompi_info", "--param", "pml", "ucx"], capture_output=True, text=True, check=False).stdout:
        skip("Open MPI has no UCX")
    if "asan" in subprocess.run(["readelf", "-d", cluster.options.build / ".libs/librailucx.so"], capture_output=True, text=True,
                                check=True).stdout:
        skip("librailucx.so carries sanitizers, which must be in a program before it")
    (cluster.root / "ring.c").write_text(PROGRAM)
    (cluster.root / "stop").unlink(missing_ok=True)
    cluster.out("mpicc", "-o", "ring", "ring.c")
    return f"{cluster.root}/ring"


class Job:
    """Two hosts with a rank each, until the block ends."""

    def __init__(self, cluster, *words, **env):
        self.cluster = cluster
        ring = program(cluster)
        exports = "\n".join(f"export {name}={value}" for name, value in {**UCX, **env}.items())
        self.number = cluster.out("sbatch", "--parsable", "-N2", "--ntasks-per-node=1", "-o", f"{cluster.root}/%A.out", *words,
                                  stdin=f"#!/bin/sh\n{exports}\ncd {cluster.root}\nsrun {ring}\n").split(";")[0]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        (self.cluster.root / "stop").touch()
        self.cluster.run("scancel", self.number)

    def until(self, host, rule, state):
        """Waits until the rule stands so with the job on the host; the row."""
        wait_for(lambda: rows(self.cluster, host, self.number).get(rule, {}).get("state") == state, 120,
                 f"{rule} on {host} to be {state}: {rows(self.cluster, host, self.number)}",
                 [*logs(self.cluster), self.cluster.root / f"{self.number}.out"])
        return rows(self.cluster, host, self.number)[rule]


def test_a_job_that_left_infiniband_says_so(cluster):
    """The hosts' ports are ACTIVE, UCX finds no HCA behind them and takes TCP; when the job is over nothing of it stays."""
    cluster.agents.wait_heard()
    with Job(cluster, "--rail-ucx=watch", "--rail-bind=off") as job:
        for rank, host in enumerate(("n001", "n002")):
            row = job.until(host, "ucx.fallback", "finding")
            equal((row["value"], row["severity"]), (1, "info"), f"the row {row}")
            for part in ("1 of 1 endpoints to other hosts left InfiniBand", f"rank {rank}:", "1 over tcp/", f", such as to rank {1 - rank}"):
                holds(row["text"], part, "the evidence")
        seen = rows(cluster, "n001", job.number)
        equal({seen[rule]["state"] for rule in ("ucx.chosen_tcp", "ucx.failures", "ucx.refused", "ucx.unseen")}, {"ok"}, f"the rest: {seen}")
        log = cluster.log("n001", "nodewatchd").read_text()
        holds(log, f"info: ucx.fallback on job{job.number}: 1 of 1 endpoints", "nodewatchd's log")
    wait_for(lambda: not rows(cluster, "n001", job.number), 120, "the job's rows to go", logs(cluster))


def test_what_tcp_sends_again_is_told_with_its_peer(cluster):
    """A cable that is out for a while: the job waits for its peer, whose segments are sent again."""
    if not cluster.yard.namespaces:
        skip("hosts are plain processes: there is no cable to cut")
    cluster.agents.wait_heard()
    with Job(cluster, "--rail-ucx=watch", "--rail-bind=off") as job:
        job.until("n001", "ucx.fallback", "finding")
        equal(rows(cluster, "n001", job.number)["ucx.resent"]["value"], 0, "segments sent again over a sound network")
        cluster.cable("n002", False)
        try:
            wait_for(lambda: rows(cluster, "n001", job.number)["ucx.resent"]["value"] > 0, 120, "segments that were sent again",
                     [*logs(cluster), cluster.root / f"{job.number}.out"])
        finally:
            cluster.cable("n002", True)
        row = rows(cluster, "n001", job.number)["ucx.resent"]
        holds(row["text"], "rank 0, ", "the words")
        check(row["text"].endswith(f" to peer {cluster.yard.addresses['n002']}"), f"the peer in {row['text']}")


def test_a_job_that_keeps_ucx_from_infiniband_is_no_fallback(cluster):
    cluster.agents.wait_heard()
    with Job(cluster, "--rail-bind=off", UCX_TLS="tcp,self", RAIL_UCX="watch") as job:
        row = job.until("n001", "ucx.chosen_tcp", "in_window")
        holds(row["text"], "rank 0: 1 over tcp/", "the words")
        holds(row["text"], " by UCX_TLS=tcp,self", "the words")
        equal(rows(cluster, "n001", job.number)["ucx.fallback"]["state"], "ok", "the fallback")


def test_statistics_of_ucx_say_what_goes_over_tcp(cluster):
    """Over a UCX that was built with statistics; the job ends as without them."""
    prefix = os.environ.get("RAILYARD_UCX_WITH_STATISTICS", "")
    if not prefix or b"ucs_stats_server_start" not in pathlib.Path(prefix, "lib", "libucs.so.0").read_bytes():
        skip("no UCX with statistics: RAILYARD_UCX_WITH_STATISTICS names none (--enable-stats)")
    cluster.agents.wait_heard()
    with Job(cluster, "--rail-ucx=stats", "--rail-bind=off", LD_LIBRARY_PATH=f"{prefix}/lib") as job:
        wait_for(lambda: rows(cluster, "n001", job.number).get("ucx.tcp_bytes", {}).get("value", 0) > 100, 120,
                 "bytes over TCP to be told", [*logs(cluster), cluster.root / f"{job.number}.out"])
        seen = rows(cluster, "n001", job.number)
        holds(seen["ucx.tcp_bytes"]["text"], " over ", "the words")
        equal(seen["ucx.dropped"]["value"], 0, "what was dropped")
        (cluster.root / "stop").touch()
        wait_for(lambda: not cluster.out("squeue", "-h", "-j", job.number, "-t", "running"), 60, "the job to end", logs(cluster))
        equal((cluster.root / f"{job.number}.out").read_text(), "", "what the job wrote")
    wait_for(lambda: not rows(cluster, "n001", job.number), 120, "the job's rows to go", logs(cluster))


def test_nothing_is_preloaded_unless_it_is_asked_for(cluster):
    told = lambda *words, **env: cluster.out("srun", "-N1", "-w", "n001", *words, "printenv", "LD_PRELOAD", env=env or None)  # noqa: E731
    equal(cluster.run("srun", "-N1", "-w", "n001", "printenv", "LD_PRELOAD").stdout, "", "without the flag")
    library = f"{cluster.root}/lib/librailucx.so"
    equal(told("--rail-ucx=watch").strip(), library, "with it")
    done = cluster.run("srun", "-N1", "--rail-ucx=maybe", "true")
    check(done.returncode != 0, "a wrong value is taken")
    holds(done.stderr, "--rail-ucx=maybe: must be off, watch or stats", "the error")
