"""The flags a user gives at submission: shown, checked, and handed on."""

from railcluster.process import wait_for
from railcluster.testing import check, equal, holds

NEEDS = [".libs/spank_rail.so", ".libs/job_submit_rail.so"]


def refused(cluster, *flags):
    """Submits a job that must be refused, and returns what the user was told."""
    result = cluster.run("sbatch", "-N1", *flags, "--wrap", "true")
    check(result.returncode != 0, f"sbatch {' '.join(flags)} was taken: {result.stdout}")
    return result.stderr


def test_flags_are_in_every_help(cluster):
    for command in ("sbatch", "salloc", "srun"):
        text = cluster.out(command, "--help")
        for flag in ("--rail-span=", "--ckpt-dir=", "--ckpt-kind=", "--ckpt-signal=", "--restart="):
            holds(text, flag, f"{command} --help")


def test_unknown_span_is_refused(cluster):
    text = refused(cluster, "--rail-span=rack")
    for part in ("--rail-span", "rack", "unit", "pod", "fabric"):
        holds(text, part, "sbatch's message")


def test_relative_checkpoint_folder_is_refused(cluster):
    text = refused(cluster, "--ckpt-dir=run7")
    for part in ("--ckpt-dir", "run7", "absolute"):
        holds(text, part, "sbatch's message")


def test_unknown_restart_word_is_refused(cluster):
    text = refused(cluster, "--restart=maybe")
    for part in ("--restart", "maybe", "auto", "never"):
        holds(text, part, "sbatch's message")


def test_unknown_kind_of_checkpoints_is_refused(cluster):
    """And of a known one it is said where it has no effect."""
    text = refused(cluster, "--ckpt-kind=torch")
    for part in ("--ckpt-kind=torch", "auto", "megatron", "glob:PATTERN"):
        holds(text, part, "sbatch's message")
    holds(cluster.run("srun", "-N1", "--ckpt-dir=/tmp", "--ckpt-kind=dcp", "true").stderr,
          "--ckpt-kind=dcp: has no effect, only beside scripts of sbatch are checkpoints watched", "what srun says")
    holds(cluster.run("sbatch", "-N1", "--ckpt-kind=dcp", "--wrap", "true").stderr,
          "--ckpt-kind=dcp without --ckpt-dir: has no effect", "what sbatch says")


def test_flags_reach_comment_and_job(cluster):
    """The flags stand in the job's AdminComment, where any client reads them, and in its environment."""
    output = cluster.root / "flags.out"
    number = cluster.out("sbatch", "--parsable", "-N1", "--rail-span=pod", "--ckpt-dir=/scratch/run 7", "--restart=auto",
                         f"--output={output}", "--wrap", "env | grep ^RAIL_; sleep 30")
    record = cluster.out("scontrol", "show", "job", number)
    holds(record, "AdminComment=railyard: span=pod restart=auto ckpt-dir=/scratch/run%207", "job record")
    holds(record, "Requeue=1", "job record")
    text = wait_for(lambda: output.exists() and "RAIL_RESTART" in output.read_text() and output.read_text(), 20,
                    "the job to print its environment", [output, cluster.log("ctl", "slurmctld")])
    for line in ("RAIL_SPAN=pod", "RAIL_CKPT_DIR=/scratch/run 7", "RAIL_RESTART=auto",
                 "RAIL_CKPT_SOCKET=/run/railyard/job.sock" if cluster.yard.namespaces else "RAIL_CKPT_SOCKET="):
        holds(text, line, "job's environment")


def test_job_without_flags_is_left_alone(cluster):
    number = cluster.out("sbatch", "--parsable", "-N1", "--wrap", "sleep 5")
    check("railyard" not in cluster.out("scontrol", "show", "job", number), "a plain job carries a comment of ours")
