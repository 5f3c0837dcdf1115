"""Every example of the manual pages is run, as it is printed. A page's example without a test here fails.

What a site has and this cluster has not stands in: paths and names are put in their place (each must be there to be
replaced), and torchrun, ssh, pdsh and systemctl are small programs that do what the example relies on; torchrun's that it
starts its workers in sessions of their own and has no handler for SIGUSR1, so that the signal would end it.
"""

import json
import re
import subprocess
from pathlib import Path

from railcluster.agents import SOURCE
from railcluster.process import wait_for
from railcluster.site import Site
from railcluster.testing import check, equal, holds

NEEDS = ["railtopo", "railplan", "railckpt", "railrun", "railctl", "restartd", "nodewatchd", "fabricwatchd", "railcheck", "elim.rail",
         "esub.rail", "rail-lsf-run", "rail-lsf-rsh",
         ".libs/spank_rail.so", ".libs/librailucx.so"]
MAN = SOURCE / "man"


def examples(page):
    """The texts of a page's EXAMPLES: each .Dl line and each .Bd block."""
    section = re.search(r"^\.Sh EXAMPLES\n(.*?)^\.Sh ", page.read_text() + ".Sh \n", re.M | re.S)
    found = re.findall(r"^\.Dl (.*)$|^\.Bd .*\n((?:.*\n)*?)\.Ed$", section[1], re.M) if section else []
    plain = [line or block for line, block in found]
    return [text.replace(r"\e", "\\").replace(r"\&", "").replace(r"\(dq", '"') for text in plain]


def commands(text):
    """What is typed of an example with prompts; all of one without."""
    if not re.search(r"^[$#] ", text, re.M):
        return text
    typed, more = [], False
    for line in text.splitlines():
        if more or re.match(r"[$#>] ", line):
            typed.append(re.sub(r"^[$#>] ", "", line))
            more = bool(re.search(r"(\\|\||&&)$", line))
    return "\n".join(typed)


class Stage:
    """A folder to run examples in, with programs that stand in for a site's."""

    def __init__(self, cluster, name):
        self.cluster, self.folder = cluster, cluster.root / f"manual-{name}"
        self.programs = self.folder / "programs"
        self.programs.mkdir(parents=True)

    def program(self, name, text):
        path = self.programs / name
        path.write_text(text)
        path.chmod(0o755)

    def run(self, text, put=(), good=(0,), env=None, host="ctl"):
        for what, instead in dict(put).items():
            holds(text, what, "the example")
            text = text.replace(what, str(instead))
        path = f"{self.programs}:{self.cluster.environment(host)['PATH']}"
        done = self.cluster.run("sh", "-c", text, host=host, cwd=str(self.folder), env={**(env or {}), "PATH": path}, timeout=60)
        check(done.returncode in good, f"exit {done.returncode} of:\n{text}\n{done.stdout}{done.stderr}")
        return done.stdout


TORCHRUN = """#!/usr/bin/env python3
# As torchrun meets signals: workers in sessions of their own, SIGTERM handed on, no handler for SIGUSR1.
import signal, subprocess, sys
worker = subprocess.Popen([sys.executable, *sys.argv[1:]], start_new_session=True)
signal.signal(signal.SIGTERM, lambda *_: worker.terminate())
sys.exit(worker.wait())
"""
TRAIN = """import os, signal, time
asked = []
signal.signal(signal.SIGUSR1, lambda *_: asked.append(1))
folder, step, saved = os.environ["SAVE_TO"], 0, 0
if os.environ.get("RESUME_FROM"):
    step = int(open(os.environ["RESUME_FROM"] + "/step").read())
print("from step", step, flush=True)
os.makedirs(folder, exist_ok=True)
while saved < 2:
    time.sleep(0.05)
    step += 1
    if asked:
        asked.clear()
        os.makedirs(folder, exist_ok=True)
        open(folder + "/model", "w").write("x" * 1000)
        open(folder + "/step.new", "w").write(str(step))
        os.rename(folder + "/step.new", folder + "/step")
        saved += 1
time.sleep(1)
print("trained", flush=True)
"""


def job_script(cluster, text):
    stage = Stage(cluster, "job")
    stage.program("torchrun", TORCHRUN)
    (stage.folder / "train.py").write_text(TRAIN)
    ckpt, out = stage.folder / "ckpt", stage.folder / "out"
    ckpt.mkdir()
    holds(text, "/scratch/run7", "the example")
    script = stage.folder / "job.sh"
    script.write_text(text.replace("/scratch/run7", str(ckpt)))
    # The second job goes on from the first one's last checkpoint, and removes none of another job's.
    for source, kept in (("", 2), ("from step [1-9]", 4)):
        job = stage.run(f"PATH={stage.programs}:$PATH sbatch --parsable -N1 -o {out} job.sh",
                        env={"RAIL_CKPT_INTERVAL": "1s"}).strip()
        # Not sbatch -W, which looks again only half a minute later.
        wait_for(lambda: "JobState=COMPLETED" in cluster.out("scontrol", "show", "job", job), 60, f"job {job} to end", [out])
        said = out.read_text()
        holds(said, "trained", "the trainer, which ended by itself")
        check(re.search(source, said), said)
        equal(len(list(ckpt.glob("ckpt-*"))), kept, f"checkpoints kept: {said}")


def save_when_due(cluster, text):
    stage = Stage(cluster, "due")
    (stage.folder / "ckpt").mkdir()
    (stage.folder / "out").mkdir()
    for name in ("model.pt", "optimizer.pt"):
        (stage.folder / "out" / name).write_text(name)
    env = {"RAIL_CKPT_DIR": str(stage.folder / "ckpt"), "SLURM_JOB_ID": "7", "RAIL_CKPT_INTERVAL": "1s"}
    stage.run("railckpt due", env=env, good=(0, 1))  # the first one counts from here
    wait_for(lambda: "ckpt-" in stage.run(text + "ls ckpt", env=env), 20, "a checkpoint to be due and committed")


def own_layout(cluster, text):
    """The program saves twice as Megatron-LM lays it out, and ends when its checkpoint is known."""
    stage = Stage(cluster, "layout")
    ckpt, out = stage.folder / "ckpt", stage.folder / "out"
    ckpt.mkdir()
    pretrain = stage.folder / "pretrain.sh"
    pretrain.write_text(f"""#!/bin/sh
for step in 100 200; do
    mkdir -p {ckpt}/iter_0000$step
    echo tensors >{ckpt}/iter_0000$step/__0_0.distcp
    echo pickle >{ckpt}/iter_0000$step/.metadata
    echo '{{}}' >{ckpt}/iter_0000$step/metadata.json
    echo $step >{ckpt}/latest_checkpointed_iteration.txt
done
until [ -e known ]; do sleep 0.1; done
""")
    pretrain.chmod(0o755)
    holds(text, "/scratch/run7", "the example")
    (stage.folder / "job.sh").write_text(text.replace("/scratch/run7", str(ckpt)))
    job = stage.run(f"sbatch --parsable -N1 -o {out} job.sh").strip()

    def known():
        told = json.loads(cluster.out("railctl", "explain", job, "--json"))["job"] or {}
        return (told.get("commit") or {}).get("step") == 200
    wait_for(known, 60, "restartd to know its newest checkpoint", [out])
    (stage.folder / "known").touch()
    wait_for(lambda: "JobState=COMPLETED" in cluster.out("scontrol", "show", "job", job), 60, f"job {job} to end", [out])


MPI4PY = """# As much of mpi4py as the example needs, for one process.
import pathlib, types
MPI = types.SimpleNamespace(COMM_WORLD=types.SimpleNamespace(rank=0, allgather=lambda value: [value]))
steps = 5
def initial(): return 0
def load(path): return int(pathlib.Path(path).read_text())
def store(part, path): pathlib.Path(path).write_text(str(part))
def compute(part): return part + 1
"""


def python_group(cluster, text):
    """Twice: the second one goes on from where the first one ended, and computes no more."""
    stage = Stage(cluster, "python")
    (stage.folder / "ckpt").mkdir()
    (stage.folder / "example.py").write_text(f"import railckpt\n{MPI4PY}{text}print(part, last.step if last else 0)\n")
    env = {"RAIL_CKPT_DIR": str(stage.folder / "ckpt"), "SLURM_JOB_ID": "7", "RAIL_CKPT_INTERVAL": "0.000001",
           "LD_LIBRARY_PATH": f"{cluster.options.build}/.libs", "PYTHONPATH": f"{SOURCE}/src/restart/ckpt", "PYTHONDONTWRITEBYTECODE": "1"}
    for restarts, said in (("0", "5 0\n"), ("1", "5 5\n")):
        equal(stage.run("python3 example.py", env={**env, "SLURM_RESTART_COUNT": restarts}), said, "the part, and where it began")


def c_program(cluster, text):
    build, stage = cluster.options.build, Stage(cluster, "c")
    (stage.folder / "ckpt").mkdir()
    (stage.folder / "example.c").write_text(
        "#include <railckpt.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include <unistd.h>\n"
        "static unsigned long step, steps = 40;\n"
        'static void die(const char* why) { fprintf(stderr, "%s\\n", why); exit(1); }\n'
        "static void compute(void) { usleep(50000); }\n"
        "static unsigned long read_state(const char* path) { (void)path; return 1; }\n"
        "static void write_state(const char* path) {\n"
        '    char name[4200]; snprintf(name, sizeof name, "%s/state", path);\n'
        '    FILE* f = fopen(name, "w"); if (!f) die(name); fputs("x", f); fclose(f);\n}\n'
        f"int main(void) {{\n{text}return 0;\n}}\n")
    subprocess.run(["gcc", "-Wall", "-Werror", f"-I{SOURCE}/src/restart/ckpt", str(stage.folder / "example.c"), "-o",
                    str(stage.folder / "example"), f"-L{build}/.libs", "-lrailckpt", f"-Wl,-rpath,{build}/.libs"], check=True)
    stage.run("./example", env={"RAIL_CKPT_DIR": str(stage.folder / "ckpt"), "SLURM_JOB_ID": "7", "RAIL_CKPT_INTERVAL": "0.3s"})
    check(list((stage.folder / "ckpt").glob("ckpt-*")), "a checkpoint of the C program")


def on_the_fabric(cluster, text):
    """railtopo(1), live: through ibsim. The stand-in for ssh and pdsh runs the command here."""
    stage = Stage(cluster, f"topo-{len(list(cluster.root.glob('manual-topo-*')))}")
    env = cluster.fabric.environment()
    site, own = "/etc/railyard/fabric.json", stage.folder / "fabric.json"
    if "discover --out " + site not in text:
        own.write_bytes(cluster.agents.fabric.read_bytes())
    stage.program("ssh", '#!/bin/sh\nshift\nexec "$@"\n')
    stage.program("pdsh", "#!/bin/sh\nfor n in $(seq -f %03g 1 16); do echo \"n$n: $(railtopo host --json --host n$n)\"; done\n")
    stage.program("scontrol", f"#!/bin/sh\necho $* >>{stage.folder}/scontrol.log\n")
    put = {what: instead for what, instead in ((site, own), ("/etc/slurm", stage.folder), ("-j 4711", "-t R")) if what in text}
    if "squeue" in text:
        cluster.out("sbatch", "-N4", "--wrap", "sleep 100")
        wait_for(lambda: cluster.out("squeue", "-h", "-t", "R"), 30, "the job to run")
    stage.run(commands(text), put, env=env, good=(0, 1) if "diff" in text else (0,))
    if "scontrol" in text:
        stage.run(commands(text), put, env=env)  # nothing has changed
        equal((stage.folder / "scontrol.log").read_text(), "reconfigure\n", "what Slurm was told")
    for name in re.findall(r"--out (\w+\.\w+)", text):
        check((stage.folder / name).stat().st_size > 0, name)


def would_it_fit(cluster, text):
    stage = Stage(cluster, f"plan-{len(list(cluster.root.glob('manual-plan-*')))}")
    put = {"/etc/railyard/fabric.json": cluster.agents.fabric}
    job = cluster.out("sbatch", "--parsable", "-N10", "--time=40", "--wrap", "sleep 100")
    wait_for(lambda: cluster.out("squeue", "-h", "-t", "R", "-j", job), 30, "the job to run")
    if "compare" in text:
        stage.run(commands(text), {**put, "812": job}, good=(0, 1))
    else:  # units have 8 hosts here
        said = stage.run(commands(text), {**put, "24": "7"}, good=(1,))
        holds(said, "does not fit: needs 7 nodes in one unit", "railplan")
        if "--explain" in text:
            holds(said, f"job {job} ends at", "railplan")
    cluster.out("scancel", job)


def drain(cluster, text):
    Stage(cluster, "drain").run(text)
    wait_for(lambda: all(cluster.node_states()[node].startswith("drain") for node in ("n009", "n010")), 20, "both to be drained")
    cluster.out("railctl", "resume", "n[009-010]")


def explain(cluster, text):
    job = cluster.out("sbatch", "--parsable", "-N2", "--wrap", "sleep 100")
    said = Stage(cluster, "explain").run(text, {"4711": job})
    holds(said, job, "railctl explain")
    cluster.out("scancel", job)


def incidents(cluster, text):
    stage = Stage(cluster, "status")
    stage.program("jq", "#!/usr/bin/env python3\nimport json, sys\nprint(json.load(sys.stdin)[sys.argv[1][1:]])\n")
    check(stage.run(text).startswith("["), "a list of incidents")


def enable(cluster, text):
    """What this cluster has already is looked at step by step, and said to be so; test_enable.py switches it on."""
    with Site(cluster) as site:
        line = text
        for what, instead in (("clush -S -w", site.program("run")), ("/root/to-hosts", site.program("copy"))):
            holds(line, what, "the example")
            line = line.replace(what, instead)
        done = cluster.run("sh", "-c", f"{line} --service {site.program('service')}", timeout=120)
        equal(done.returncode, 0, f"exit status: {done.stdout}{done.stderr}")
        holds(cluster.out("scontrol", "show", "config"), "select/rail", "slurmctld's configuration")


def look_at_host(cluster, text):
    holds(Stage(cluster, "once").run(text, host=cluster.nodes[0]), f"host {cluster.nodes[0]}", "nodewatchd --once")


NC = """#!/usr/bin/env python3
# As nc -U sends its input and prints the answer.
import socket, sys
assert sys.argv[1] == "-U", sys.argv
with socket.socket(socket.AF_UNIX) as connection:
    connection.connect(sys.argv[2])
    connection.sendall(sys.stdin.buffer.read())
    sys.stdout.buffer.write(b"".join(iter(lambda: connection.recv(65536), b"")))
"""


def scrape(cluster, text):
    stage, node = Stage(cluster, "scrape"), cluster.nodes[0]
    stage.program("nc", NC)
    wait_for(lambda: "node_infiniband_" in stage.run(text, host=node), 30, "the ports to be among the metrics")


def signals(cluster, text):
    stage = Stage(cluster, "signals")
    wait_for(lambda: "gpu.lost" in stage.run(text, {"n001": cluster.nodes[0]}), 60, "the rules of the GPU to be shown")


def health_index(cluster, text):
    stage, node = Stage(cluster, "elim"), cluster.nodes[0]
    wait_for(lambda: stage.run(text, host=node) == "2 health 100 planned 0\n", 30, "a sound host's index")


LSF_JOB = {"LSB_JOBID": "7", "LSB_JOBINDEX": "0", "LSB_MCPU_HOSTS": "n001 8 ", "LSB_QUEUE": "gang"}


def refusal_of_bsub(cluster, text):
    stage = Stage(cluster, "esub")
    parameters, changes = stage.folder / "parameters", stage.folder / "changes"
    parameters.write_text('LSB_SUB_QUEUE="gang"\nLSB_SUB_RES_REQ="span[ptile=8]"\nLSB_SUB_COMMANDNAME="sleep"\n'
                          'LSB_SUB_COMMAND_LINE="sleep 1"\nLSB_SUB_NUM_PROCESSORS=96\nLSB_SUB_MAX_NUM_PROCESSORS=96\n')
    env = {"LSB_SUB_PARM_FILE": str(parameters), "LSB_SUB_MODIFY_FILE": str(changes), "RAIL_SPAN": "unit"}
    done = cluster.run("esub.rail", env=env, cwd=str(stage.folder))
    equal(done.returncode, 97, "esub.rail's exit status")
    sentence = " ".join(text.splitlines()[:2])  # the third line is bsub's own
    equal(done.stderr.strip(), sentence.replace("64", "12").replace("32", "8"), "the refusal, in a unit of 8 hosts")


def line_of_lsf(cluster, text):
    stage = Stage(cluster, "lsf-run")
    script = stage.folder / "train.sh"
    script.write_text('#!/bin/sh\necho "$@" in one $RAIL_SPAN\n')
    script.chmod(0o755)
    env = {**LSF_JOB, "LSB_JOBFILENAME": str(stage.folder / "job")}
    equal(stage.run(text, env=env, host="n001"), "--lr 3 in one unit\n", "what the line prints")


def other_host_of_lsf(cluster, text):
    stage = Stage(cluster, "lsf-rsh")
    stage.program("lsrun", '#!/bin/sh\n[ "$1 $2 $3" = "-m n2 --" ] || exit 1\nshift 3\nexec "$@"\n')
    holds(stage.run(text, env={**LSF_JOB, "LSB_JOBFILENAME": str(stage.folder / "job")}, host="n002"), "n002\n", "what the host says")


def scratch_disk(cluster, text):
    stage = Stage(cluster, "disk")
    holds(stage.run(text, {"--level 2 /scratch": stage.folder}), "3 results: none bad", "what railcheck says of a disk")


def selftest(cluster, text):
    holds(Stage(cluster, "selftest").run(text), "each fires at its fault", "railcheck selftest")


def restart_agent(cluster, text):
    """systemctl is the cluster's own stop and start."""
    equal(text.strip(), "systemctl restart nodewatchd", "the example")
    node = cluster.nodes[0]
    with open(cluster.agents.hardware(node) / "kmsg", "a") as log:
        log.write("4,1,2,-;NVRM: Xid (PCI:0000:14:00): 9999, of no meaning\n")
    wait_for(lambda: "finding: gpu.xid.9999" in cluster.out("railctl", "explain", node), 20, "the XID to be told")
    cluster.agents.stop(node, "nodewatchd")
    cluster.agents.start_node(node)
    wait_for(lambda: "finding: gpu.xid.9999" not in cluster.out("railctl", "explain", node), 20, "it to be forgotten")


def sweep(cluster, text):
    Stage(cluster, "sweep").run(text, env=cluster.fabric.environment(), good=(0, 1))


def rules(cluster, text):
    stage = Stage(cluster, "rules")
    (stage.folder / "rules").write_text(text)
    stage.run("ibnetdiscover >text && railtopo discover --from text --rules rules --out f.json", env=cluster.fabric.environment())


def fabric_file(cluster, text):
    stage = Stage(cluster, "file")
    (stage.folder / "page.json").write_text(text)
    stage.run('railtopo synth "pods=1 units=1 hosts=1 rails=2 rate=4xHDR" --out made.json && railtopo diff page.json made.json')


def gang(cluster, text):
    stage = Stage(cluster, "gang")
    stage.program("train.sh", "#!/bin/sh\nsrun true\n")
    said = stage.run(text, {"-N16": "--parsable -W -N8", "/scratch/run7": stage.folder, "train.sh": stage.programs / "train.sh"})
    check(said.strip().isdigit(), said)


def step_in_a_script(cluster, text):
    """The example as the end of a batch script, which has the step's status and what it does afterwards."""
    stage = Stage(cluster, "railrun")
    stage.program("python", "#!/bin/sh\necho $1 on $SLURM_PROCID >>logs/$SLURM_PROCID; exit 3\n")
    (stage.folder / "logs").mkdir()
    (stage.folder / "train.py").write_text("pass\n")
    (stage.folder / "job.sh").write_text("#!/bin/sh\n" + text.replace("railrun --warm", "railrun --settle=1s --warm"))
    out = stage.folder / "out"
    job = stage.run(f"PATH={stage.programs}:$PATH sbatch --parsable -N3 --rail-spares=1 -o {out} job.sh").strip()
    wait_for(lambda: "JobState=FAILED" in cluster.out("scontrol", "show", "job", job), 60, f"job {job} to end", [out])
    holds(cluster.out("scontrol", "show", "job", job), "ExitCode=3:0", "the script's status")
    equal(sorted(path.name for path in (stage.folder / "logs").iterdir()), ["0", "1"], "ranks that ran, of two hosts and a spare")
    check((stage.folder / "logs.tar").exists(), out.read_text())


def what_ranks_get(cluster, text):
    done = cluster.run("sh", "-c", commands(text))
    lines = re.findall(r"^rail-bind: rank (\d+) host n\d+ gpu \S+ hca \S+ numa \S+ cpus \S+", done.stderr, re.M)
    equal(sorted(map(int, lines)), list(range(16)), f"ranks that were told of: {done.stderr}")


def tried_first(cluster, text):
    """Without HCAs and GPUs nothing fails: its hosts are tried, the output says so, and the job runs."""
    stage = Stage(cluster, "preflight")
    stage.program("train.sh", "#!/bin/sh\necho trains\n")
    out = stage.folder / "out"
    stage.run(commands(text), {"-N17": f"-W -o {out} -N3", "train.sh": stage.programs / "train.sh"})
    check(re.search(r"^railrun: preflight of 3 hosts took [\d.]+ s: .*^trains$", out.read_text(), re.M | re.S), out.read_text())


def preloaded_by_mpirun(cluster, text):
    stage, library = Stage(cluster, "ucx"), cluster.root / "lib" / "librailucx.so"
    told = stage.run(text, {"mpirun": "mpirun --allow-run-as-root --oversubscribe -np 1", "./app": "printenv LD_PRELOAD",
                            "/usr/lib/x86_64-linux-gnu/railyard/librailucx.so": library})
    equal(told.strip(), str(library), "what a rank preloads")


TESTS = {
    "elim.rail.8": [health_index],
    "esub.rail.8": [refusal_of_bsub],
    "fabric-rules.5": [rules],
    "fabric.json.5": [fabric_file],
    "fabricwatchd.8": [sweep],
    "librailckpt.3": [c_program],
    "librailucx.7": [preloaded_by_mpirun],
    "nodewatchd.8": [look_at_host, scrape, restart_agent],
    "rail-lsf-rsh.1": [other_host_of_lsf],
    "rail-lsf-run.1": [line_of_lsf],
    "railcheck.8": [scratch_disk, selftest],
    "railckpt.1": [job_script, save_when_due, own_layout],
    "railckpt.py.3": [python_group],
    "railctl.1": [drain, explain, signals, incidents, enable],
    "railplan.1": [would_it_fit] * 3,
    "railrun.1": [step_in_a_script],
    "railtopo.1": [on_the_fabric] * 8,
    "spank_rail.8": [gang, tried_first, what_ranks_get],
}


def test_every_example_has_a_test(build: Path):
    have = {page.name: len(examples(page)) for page in sorted(MAN.glob("*.[1-8]"))}
    equal({name: n for name, n in have.items() if n}, {name: len(tests) for name, tests in TESTS.items()}, "examples a page")


def run_page(cluster, page):
    for text, test in zip(examples(MAN / page), TESTS[page]):
        try:
            test(cluster, text)
        except Exception as error:
            raise RuntimeError(f"{page}: {text.strip().splitlines()[0]}: {error}") from error


def test_examples_of_checkpoints(cluster):
    for page in ("railckpt.1", "railrun.1", "railckpt.py.3", "librailckpt.3"):
        run_page(cluster, page)


def test_examples_of_the_fabric(cluster):
    for page in ("railtopo.1", "fabric.json.5", "fabric-rules.5", "fabricwatchd.8"):
        run_page(cluster, page)


def test_examples_of_placement(cluster):
    for page in ("railplan.1", "spank_rail.8"):
        run_page(cluster, page)


def test_examples_of_operation(cluster):
    for page in ("railctl.1", "nodewatchd.8", "railcheck.8", "elim.rail.8", "librailucx.7", "esub.rail.8", "rail-lsf-run.1", "rail-lsf-rsh.1"):
        run_page(cluster, page)
