"""Jobs, array tasks and people that come to one checkpoint directory: who owns it is asked of the real squeue."""

import time

from railcluster.process import wait_for
from railcluster.testing import check, equal, holds

NEEDS = ["railckpt", ".libs/spank_rail.so", ".libs/job_submit_rail.so"]


def folder_of(cluster):
    folder = cluster.root / "scratch" / f"owned-{time.monotonic_ns()}"
    (folder / "ck").mkdir(parents=True)
    (folder / "state").write_text("weights\n")
    return folder


def submit(cluster, folder, name, *flags):
    """A job that looks for its last checkpoint, commits one, waits for the file `go`, and commits another.

    It leaves the exit status and the words of each in NAME.latest, NAME.first and NAME.second; a task of an array
    with its number behind NAME."""
    railckpt = cluster.options.build / "railckpt"
    script = f"""#!/bin/sh
cd {folder}
name={name}$SLURM_ARRAY_TASK_ID
run() {{ words=$({railckpt} "$@" 2>&1); echo "$? $words" > $name.new; mv $name.new $name.$kind; }}
kind=latest; run latest --verify
step=$((SLURM_JOB_ID * 10))
kind=first; run commit --step $step state
until [ -e go ]; do sleep 0.1; done
kind=second; run commit --step $((step + 1)) state
"""
    answer = cluster.out("sbatch", "--parsable", "-N1", f"--ckpt-dir={folder}/ck", f"--output={folder}/{name}.out", *flags,
                         stdin=script)
    return int(answer.split(";")[0])


def said(cluster, folder, name):
    """The exit status and the words of NAME once they are there."""
    path = folder / name
    wait_for(path.exists, 30, f"{name} of a job", [cluster.log("ctl", "slurmctld"), *folder.glob("*.out")])
    status, _, words = path.read_text().strip().partition(" ")
    return int(status), words


def wait_gone(cluster, *jobs):
    wait_for(lambda: not set(cluster.out("squeue", "--noheader", "--format=%A").split()) & {str(job) for job in jobs}, 40,
             f"jobs {jobs} to end", [cluster.log("ctl", "slurmctld")])


def test_second_job_does_not_fence_the_first_off(cluster):
    folder = folder_of(cluster)
    first = submit(cluster, folder, "first")
    equal(said(cluster, folder, "first.first")[0], 0, "the first job's commit")
    second = submit(cluster, folder, "second")
    for kind in ("latest", "first"):
        status, words = said(cluster, folder, f"second.{kind}")
        equal(status, 2, f"the second job's {kind} ({words})")
        holds(words, f"job {first} owns this checkpoint directory and is not known to be over (squeue says RUNNING)",
              "the second job's words")

    # Nor does a person on the login node, unless the owner is named.
    dir_ = f"--dir={folder}/ck"
    refused = cluster.run("railckpt", "commit", dir_, "--step=7", str(folder / "state"))
    equal(refused.returncode, 2, "a person's commit")
    holds(refused.stderr, f"--take-over={first}", "what the person is told")

    # It may take over once the first is over, and so may the third: only one of them is asked to.
    cluster.out("scancel", str(second))
    wait_gone(cluster, second)
    (folder / "go").touch()
    status, words = said(cluster, folder, "first.second")
    equal(status, 0, f"the first job's second commit ({words})")
    wait_gone(cluster, first)

    # The next job of the chain asks squeue, and goes on from where the first one ended.
    third = submit(cluster, folder, "third")
    status, words = said(cluster, folder, "third.latest")
    equal(status, 0, f"the third job's latest ({words})")
    holds(words, f"taken over from job {first}, which is over", "the third job's words")
    holds(words, f"S{first * 10 + 1:012}", "the third job's words")
    equal(said(cluster, folder, "third.second")[0], 0, "the third job's commit")
    wait_gone(cluster, third)
    taken = cluster.run("railckpt", "commit", dir_, f"--take-over={third}", "--step=7", str(folder / "state"))
    equal(taken.returncode, 0, f"a person's commit that names the owner ({taken.stderr})")
    kept = [path.name for path in (folder / "ck").glob("ckpt-*")]
    equal(len(kept), 5, f"checkpoints of all: {kept}")


def test_one_task_of_an_array_owns_its_directory(cluster):
    folder = folder_of(cluster)
    job = submit(cluster, folder, "task", "--array=0-1")
    found = [said(cluster, folder, f"task{task}.first") for task in (0, 1)]
    equal(sorted(status for status, _ in found), [0, 2], f"the tasks' commits: {found}")
    words = next(words for status, words in found if status == 2)
    holds(words, "each task of an array a directory of its own", "the second task's words")
    (folder / "go").touch()
    owner = next(task for task in (0, 1) if found[task][0] == 0)
    equal(said(cluster, folder, f"task{owner}.second")[0], 0, "the owner's second commit")
    wait_gone(cluster, job)
    check(len(list((folder / "ck").glob("ckpt-*"))) >= 2, "the owner's checkpoints are gone")
