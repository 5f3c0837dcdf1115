"""The examples that users copy, as they stand: submitted on a cluster, one host of each job loses power, and the job goes
on from its last checkpoint to the same result. Those of frameworks that are not here: tests/examples."""

import json
import re
import shutil
import subprocess
import time
import urllib.parse
from pathlib import Path

from railcluster.jobs import Job
from railcluster.process import wait_for
from railcluster.testing import check, equal, holds, skip

NEEDS = ["restartd", "nodewatchd", "fabricwatchd", "railctl", ".libs/spank_rail.so", ".libs/job_submit_rail.so",
         ".libs/librailckpt.so.0"]
SOURCE = Path(__file__).resolve().parents[2]
TORCH = ("import torch.distributed.checkpoint.state_dict; from torch.distributed import TCPStore; "
         "TCPStore('127.0.0.1', 0, is_master=True, wait_for_workers=False)")
STARTED = re.compile(r"^\w+: start step (?P<step>\d+) of \d+")
SAVED = re.compile(r"^\w+: checkpoint")
DONE = re.compile(r"^\w+: done, (?P<result>.*)$")


def copy_of(cluster, name):
    """A folder that all hosts see, with the example in it and an installation of librailckpt, and what its jobs need to
    find that: nothing but the folder of Python's modules, which is not the system's here."""
    folder = cluster.root / "scratch" / f"{name}-{time.monotonic_ns()}"
    shutil.copytree(SOURCE / "examples" / name, folder)
    modules = [(f"lib/python3/dist-packages/{name}", SOURCE / "src/restart/ckpt" / name) for name in ("railckpt.py", "railsave.py", "railcallbacks.py")]
    for path, source in (("lib/librailckpt.so.0", cluster.options.build / ".libs/librailckpt.so.0"), *modules):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).symlink_to(source) if path.endswith(".0") else shutil.copy(source, folder / path)
    (folder / "ck").mkdir()
    return folder, {"PYTHONPATH": str(folder / "lib/python3/dist-packages"), "PYTHONDONTWRITEBYTECODE": "1",
                    "OMPI_MCA_mpi_yield_when_idle": "1"}


def submit(cluster, folder, environment, *words, flags=(), script="job.sh"):
    """Submits its job script from its folder, as its head says."""
    (folder / "ck").mkdir(exist_ok=True)
    output = folder / f"out-{time.monotonic_ns()}"
    output.touch()
    answer = cluster.out("sbatch", "--parsable", f"--ckpt-dir={folder}/ck", f"--output={output}", "--exclusive", *flags, script,
                         *words, cwd=str(folder), env=environment)
    return Job(cluster, int(answer.split(";")[0]), output)


def result(job):
    done = job.lines(DONE)
    equal(len(done), 1, f"how often {job.output} says that it is done")
    return done[0]["result"]


def check_survives(cluster, name, undisturbed, disturbed, flags=(), script="job.sh"):
    """The example with the words `undisturbed`, then with `disturbed`, which take long enough to be hit."""
    folder, environment = copy_of(cluster, name)
    prepare(cluster, folder, name)
    alone = submit(cluster, folder, environment, *undisturbed, flags=flags, script=script)
    alone.wait_state("COMPLETED", 90)
    shutil.rmtree(folder / "ck")
    job = submit(cluster, folder, environment, *disturbed, flags=flags, script=script)
    nodes = job.wait_state("RUNNING", 90).nodes
    # Committed, which is after the line that tells of its writing.
    wait_for(lambda: cluster.run("railckpt", "latest", "--dir", f"{folder}/ck").returncode == 0, 60,
             f"a checkpoint of {name}", [job.output])
    lost = nodes[-1]
    cluster.power_off(lost)
    seen = job.wait_state("RUNNING", 60, 1)
    check(lost not in seen.nodes, f"{lost} is still among {seen.nodes}")
    job.wait_state("COMPLETED", 120)
    starts = [int(match["step"]) for match in job.lines(STARTED)]
    equal(len(starts), 2, f"starts in {job.output}")
    check(starts[0] == 0 and starts[1] > 0, f"it started at {starts}")
    equal(result(job), result(alone), f"result of {name}")


def prepare(cluster, folder, name):
    if name == "mpi":
        subprocess.run(["mpicc", "-O2", "-pthread", "-Wall", "-Wextra", "-Werror", "-o", "waves", "waves.c", f"-I{SOURCE}/src/restart/ckpt",
                        f"{folder}/lib/librailckpt.so.0", f"-Wl,-rpath,{folder}/lib", "-lm"], cwd=folder, check=True)


def test_mpi(cluster):
    if not shutil.which("mpicc"):
        skip("mpicc is not installed")
    check_survives(cluster, "mpi", ("2000", "0"), ("2000", "5000"))


def test_python(cluster):
    """Its only host is the one that is lost."""
    check_survives(cluster, "python", ("3000", "0"), ("3000", "0.004"))


def test_python_ranks(cluster):
    """mpi4py: all ranks of four hosts take part in each checkpoint."""
    if subprocess.run(["/usr/bin/python3", "-c", "import mpi4py"], stderr=subprocess.DEVNULL, check=False).returncode != 0:
        skip("mpi4py is not installed (Debian: python3-mpi4py)")
    check_survives(cluster, "python", ("1500", "0"), ("1500", "0.005"), script="ring.sh")


def test_python_hears_of_its_time_limit(cluster):
    """A signal of Slurm, long before a checkpoint is due."""
    folder, environment = copy_of(cluster, "python")
    job = submit(cluster, folder, {**environment, "RAIL_CKPT_INTERVAL": "1h", "RAIL_CKPT_SOCKET": ""}, "100000", "0.01")
    job.wait_state("RUNNING", 90)
    wait_for(lambda: job.lines(STARTED), 30, "its start", [job.output])
    cluster.out("scancel", "--signal=USR1", str(job.number))
    wait_for(lambda: job.lines(SAVED), 30, "its checkpoint", [job.output])
    cluster.out("scancel", str(job.number))


def test_torch(cluster):
    # Debian's own has no store that torchrun can use: 12's is too old, 13's lacks libuv.
    probe = subprocess.run(["/usr/bin/python3", "-c", TORCH], capture_output=True, text=True, check=False)
    if probe.returncode != 0 or not shutil.which("torchrun"):
        why = probe.stderr.strip().splitlines()[-1:] or ["no torchrun"]
        skip(f"no PyTorch of 2.2 or newer ({why[0]}): the example was run by hand, see examples/README")
    check_survives(cluster, "torch", ("400", "0"), ("400", "0.02"), flags=("--gpus-per-node=1", "--nodes=2"))


def test_prometheus(cluster):
    """Prometheus scrapes restartd by the example's files; an alert comes with what it is about."""
    if not shutil.which("prometheus"):
        skip("prometheus is not installed")
    folder = cluster.root / "scratch" / f"prometheus-{time.monotonic_ns()}"
    shutil.copytree(SOURCE / "examples/prometheus", folder)
    conf, rules = folder / "prometheus.yml", folder / "railyard.rules.yml"
    target = cluster.agents.url.removeprefix("http://")
    holds(conf.read_text(), "127.0.0.1:8917", "the target")
    conf.write_text(conf.read_text().replace("127.0.0.1:8917", target).replace("15s", "1s\n  evaluation_interval: 1s"))
    rules.write_text(re.sub(r"for: \d+[mh]", "for: 0s", rules.read_text()))
    port = cluster.agents.port + 1
    server = cluster.spawn("ctl", "prometheus", [shutil.which("prometheus"), f"--config.file={conf}", f"--storage.tsdb.path={folder}/data",
                                                 f"--web.listen-address=127.0.0.1:{port}"])
    log = [cluster.log("ctl", "prometheus")]

    def ask(what):
        answer = cluster.run("curl", "-fsS", f"http://127.0.0.1:{port}/api/v1/{what}")
        return json.loads(answer.stdout)["data"] if answer.returncode == 0 else {}

    def value(query):
        found = ask(f"query?query={urllib.parse.quote(query)}").get("result", [])
        return [row["value"][1] for row in found]

    def firing():
        return {alert["labels"]["alertname"] for alert in ask("alerts").get("alerts", []) if alert["state"] == "firing"}

    try:
        wait_for(lambda: value('railyard_hosts{state="up"}') == [str(len(cluster.nodes))], 60, "its first scrape", log)
        wait_for(lambda: all(group["lastEvaluation"] > "2" for group in ask("rules").get("groups", [])), 30, "its rules", log)
        equal(firing(), set(), "alerts on a sound cluster")
        # What a panel of the cluster's dashboard shows is there, but for what has not happened yet.
        wait_for(lambda: value("railyard:hosts_up:ratio") == ["1"], 30, "what its rules record", log)
        board = json.loads((SOURCE / "examples/grafana/railyard-cluster.json").read_text())
        asked = {panel["title"]: target["expr"].replace("$__rate_interval", "30s") for panel in board["panels"] for target in panel.get("targets", [])}
        shown = {title for title, query in asked.items() if value(query)}
        equal(set(asked) - shown - {"Incidents an hour", "Actions an hour", "Jobs held back", "Bounds and pauses", "Hosts in repair", "Need a person",
                                    "Time of an action", "Reports a second", "Faults in 1,000 host-days"}, set(), "panels without data")
        cluster.agents.stop(cluster.nodes[0], "nodewatchd")
        wait_for(lambda: "RailyardAgentsSilent" in firing(), 60, "the alert for a silent agent", log)
    finally:
        server.kill(15)
