"""Why a job sits where it does, or waits: railctl explain JOB and the comment of a job that waits."""

import contextlib
import datetime
import json
import re
import signal

from railcluster.process import wait_for
from railcluster.testing import check, equal, holds
from railcluster.told import moment

NEEDS = ["restartd", "railctl", ".libs/select_rail.so", ".libs/job_submit_rail.so", ".libs/spank_rail.so"]
SLEEP = "sleep 600"


def submit(cluster, *flags, script=SLEEP):
    return cluster.out("sbatch", "--parsable", "-o", "/dev/null", *flags, "--wrap", script)


def state(cluster, job):
    return cluster.out("squeue", "-h", "-t", "all", "-j", job, "-o", "%T")


def running(cluster, job):
    wait_for(lambda: state(cluster, job) == "RUNNING", 20, f"job {job} to run", [cluster.log("ctl", "slurmctld")])
    return job


def fill(cluster, nodes, *flags):
    return running(cluster, submit(cluster, "-N", str(len(nodes)), "-w", ",".join(nodes), *flags))


def explained(cluster, job):
    return json.loads(cluster.out("railctl", "explain", job, "--json"))["placement"]


def comment(cluster, job):
    found = re.search(r"^ *AdminComment=(.*)$", cluster.out("scontrol", "show", "job", job), re.MULTILINE)
    return found.group(1).strip() if found else ""


def end_of(cluster, job):
    """The minute in which a job's limit ends it, as a sentence has it."""
    end = datetime.datetime.fromisoformat(cluster.out("squeue", "-h", "-j", job, "-o", "%e"))
    today = end.date() == datetime.date.today()
    return end.strftime("%H:%M" if today else "%Y-%m-%d %H:%M")


def fragment(cluster):
    """Of the second unit one host is drained and one busy until a limit; the first is held without one."""
    first, second = cluster.units
    held = fill(cluster, first[:4], "-t", "UNLIMITED")  # not said so, backfill makes it a year
    ending = fill(cluster, second[:2], "-t", "7")
    cluster.out("scontrol", "update", f"nodename={second[7]}", "state=drain", "reason=link errors")
    wait_for(lambda: cluster.node_states()[second[7]].startswith("drain"), 10, "the drain")
    return held, ending


def test_a_job_that_waits_is_told_for_what(cluster):
    """The fullest unit, why its hosts are drained, and the job whose end makes it fit, in one sentence."""
    held, ending = fragment(cluster)
    job = submit(cluster, "-N8", "--rail-span=unit")
    told = explained(cluster, job)
    holds(told["sentence"], "needs 8 nodes in one unit; the fullest, su2, has 5 free, 2 busy, 1 drained for link errors; "
          f"it fits when job {held} ends, which has no time limit", "sentence of a gang without an end in sight")
    equal((told["verdict"], told["unlimited"]), ("open", [int(held)]), "verdict and jobs without a limit")
    cluster.out("scancel", job)

    other = submit(cluster, "-N7", "--exclude", ",".join(cluster.units[0]), "--rail-span=unit")
    told = explained(cluster, other)
    holds(told["sentence"], f"needs 7 nodes in one unit; the fullest, su2, has 5 free, 2 busy, 1 drained for link errors; "
          f"job {ending} ends at {end_of(cluster, ending)} and makes it fit", "sentence")
    equal((told["verdict"], told["job"]), ("later", int(ending)), "verdict and job")
    equal(told["nodes_then"], cluster.units[1][:7], "where it will go")
    text = cluster.out("railctl", "explain", other)
    equal(text.splitlines()[1], told["sentence"], "second line of railctl explain")
    holds(text, "1 for link errors", "table")

    # What was said comes true.
    cluster.out("scancel", ending)
    running(cluster, other)
    told = explained(cluster, other)
    equal((told["kind"], told["nodes"]), ("placed", cluster.units[1][:7]), "placement")
    equal(told["other"], None, "a better place than the only one")
    holds(cluster.out("railctl", "explain", other), "every placement needs this unit", "railctl explain")


def test_a_placed_job_is_explained_term_by_term(cluster):
    """Each term of the score beside the next best, and the one that decided."""
    fill(cluster, cluster.units[1][:4])
    job = running(cluster, submit(cluster, "-N3", "--rail-span=unit"))
    told = explained(cluster, job)
    equal(told["nodes"], cluster.units[1][4:7], "the unit that is broken up already")
    equal(told["decided"], "broken_units", "what decided")
    equal(told["other"]["without"], "su2", "what the next best does without")
    equal([term["term"] for term in told["terms"]],
          ["tier", "pods", "units", "misaligned_rails", "avoidance", "broken_units", "left_over"], "terms")
    text = cluster.out("railctl", "explain", job)
    holds(text, "better than n[001-003], the best without su2, for fewer wholly free units broken up (0, there 1)",
          "railctl explain")
    holds(text, "TERM", "table")


def test_a_job_that_could_sit_better_is_told_so(cluster):
    """A gang that was spread when nothing else was free is set beside what would be chosen now."""
    fillers = [fill(cluster, unit[:7]) for unit in cluster.units]
    job = running(cluster, submit(cluster, "-N2"))
    equal(explained(cluster, job)["other"], None, "another place while all else is taken")
    cluster.out("scancel", *fillers)
    wait_for(lambda: cluster.node_states()[cluster.nodes[0]] == "idle", 20, "the others to end")
    told = explained(cluster, job)
    check(told["other"]["better"], f"two units are as good as one: {told['sentence']}")
    equal(told["decided"], "tier", "what decided")
    holds(told["sentence"], "would be better now, for the smaller part (one unit, there one pod)", "sentence")


def test_a_wish_is_told_with_its_end(cluster):
    fragment(cluster)
    job = submit(cluster, "-N6", "--rail-span=unit@2h")
    told = explained(cluster, job)
    holds(told["sentence"], "the wish for one unit ends at", "sentence")
    check(moment(told["wish_ends"]) - moment(told["now"]) > 7000, f"the wish ends too soon: {told}")


def test_the_comment_says_why_until_the_job_starts(cluster):
    """railyard-why in admin_comment: beside what others wrote there, and gone when the job runs."""
    _, ending = fragment(cluster)
    job = submit(cluster, "-N7", "--exclude", ",".join(cluster.units[0]), "--rail-span=unit")
    cluster.out("scontrol", "update", f"jobid={job}", "admincomment=ticket 7; railyard: span=unit")
    plain = submit(cluster, "-N7", "--exclude", ",".join(cluster.units[0]))
    why = f"needs 7 nodes in one unit, the fullest, su2, has 5 free, 2 busy, 1 drained for link errors, job {ending} ends at"
    wait_for(lambda: why in comment(cluster, job), 20, "the comment to say why", [cluster.log("ctl", "restartd")])
    check(comment(cluster, job).startswith("ticket 7; railyard: span=unit; railyard-why: needs"),
          f"the comment lost what others wrote: {comment(cluster, job)}")
    equal(comment(cluster, plain), "", "comment of a job without flags")
    cluster.out("scancel", ending, plain)
    running(cluster, job)
    wait_for(lambda: comment(cluster, job) == "ticket 7; railyard: span=unit", 20, "the comment to be as it was",
             [cluster.log("ctl", "restartd")])


def replayed(cluster, folder, *request):
    """railplan's answer to the same question, from what sinfo and squeue say."""
    files = {}
    folder.mkdir(exist_ok=True)
    for name, *command in (("state", "sinfo", "-h", "-N", "-o", "%N %T"), ("reasons", "sinfo", "-h", "-N", "-o", "%N %E"),
                           ("jobs", "squeue", "-h", "-t", "R", "-o", "%A %e %N")):
        files[name] = folder / f"replay.{name}"
        files[name].write_text(cluster.out(*command) + "\n")
    return json.loads(cluster.run("railplan", "place", "--fabric", str(cluster.agents.fabric), "--explain", "--json",
                                  *(f"--{name}={path}" for name, path in files.items()), *request).stdout)


def test_railplan_says_the_same(cluster):
    """One who waits, one who sits: the sentence and the table of railplan are those of railctl."""
    _, ending = fragment(cluster)
    folder = cluster.root / "scratch"
    gang = ("--nodes=8", "--rail-span=unit")
    waiting = submit(cluster, *gang)
    told, planned = explained(cluster, waiting), replayed(cluster, folder, *gang)
    for member in ("kind", "verdict", "sentence", "parts", "unlimited", "fits_at", "nodes_then"):
        equal(planned[member], told[member], f"railplan's {member}")
    cluster.out("scancel", waiting)

    planned = replayed(cluster, folder, "--nodes=3", "--rail-span=unit")
    job = running(cluster, submit(cluster, "-N3", "--rail-span=unit"))
    told = explained(cluster, job)
    for member in ("kind", "sentence", "nodes", "other", "decided", "terms"):
        equal(planned[member], told[member], f"railplan's {member}")


@contextlib.contextmanager
def racks(cluster, size):
    """NVLink domains of so many hosts, by way of Slurm's blocks, for as long as the block runs."""
    fabric = cluster.agents.fabric
    before = fabric.read_text()
    blocks = cluster.root / "scratch" / "blocks.conf"
    blocks.parent.mkdir(exist_ok=True)
    blocks.write_text("".join(f"BlockName=nvl{i // size + 1} Nodes={','.join(cluster.nodes[i:i + size])}\n"
                              for i in range(0, len(cluster.nodes), size)))
    cluster.out("railtopo", "gather", str(fabric), "--blocks", str(blocks))
    try:
        # slurmctld looks at the file each second.
        too_large = ("sbatch", "--test-only", f"-N{size + 1}", "--rail-span=domain", "--wrap", "true")
        wait_for(lambda: f"the largest NVLink domain of this fabric has {size}" in cluster.run(*too_large).stderr, 10,
                 "slurmctld to read the fabric", [cluster.log("ctl", "slurmctld")], every=0.2)
        yield
    finally:
        fabric.write_text(before)


def term(cluster, job, name):
    """What is said of one term of the score of a job that was placed."""
    return next((term["text"] for term in explained(cluster, job)["terms"] if term["term"] == name), None)


def test_jobs_in_domains_are_placed_and_told_so(cluster):
    """A gang within an NVLink domain, one that waits for a whole domain, and groups of groups."""
    first, second = cluster.units
    with racks(cluster, 4):
        # Of the four domains the last alone has four free hosts, though its unit has more hosts left than the other.
        busy = fill(cluster, [first[0], first[4], second[0]])
        job = running(cluster, submit(cluster, "-N4", "--rail-span=domain"))
        wait_for(lambda: term(cluster, job, "domains"), 20, "restartd to read the fabric", [cluster.log("ctl", "restartd")])
        equal(explained(cluster, job)["nodes"], second[4:], "the domain that has room")
        equal(term(cluster, job, "domains"), "all nodes in one NVLink domain", "the one that was placed")
        holds(cluster.log("ctl", "slurmctld").read_text(), f"JobId={job}: all 4 nodes in unit su2 of pod1: one unit is the "
              "smallest part that holds 4 free nodes; all in NVLink domain nvl4", "slurmctld's log")
        waiting = submit(cluster, "-N4", "--rail-span=domain")
        holds(explained(cluster, waiting)["sentence"], "needs 4 nodes in one NVLink domain; the fullest, ",
              "sentence of the one that waits")
        cluster.out("scancel", job)
        equal(explained(cluster, running(cluster, waiting))["nodes"], second[4:], "its place once the other has gone")
        cluster.out("scancel", waiting)

        # Seven hosts are free in each unit: groups of two fit, and a group of eight in neither.
        nested = submit(cluster, "-N8", "--rail-segment=2:8")
        equal(comment(cluster, nested).split("; ")[0], "railyard: segment=2:8", "comment")
        wait_for(lambda: cluster.out("squeue", "-h", "-j", nested, "-o", "%r") == "Resources", 20, "the job to wait",
                 [cluster.log("ctl", "slurmctld")])
        cluster.out("scancel", busy)
        equal(explained(cluster, running(cluster, nested))["nodes"], first, "a unit for the group of eight")
        equal(term(cluster, nested, "domains"), "in 2 NVLink domains", "groups in groups")


def test_a_job_that_can_never_run_is_told_so(cluster):
    """The fabric changed under a job that waits: no unit is as large any more."""
    fabric = cluster.agents.fabric
    before = fabric.read_text()
    job = submit(cluster, "-N8", "--rail-span=unit", "--hold")
    try:
        cluster.out("railtopo", "synth", "pods=1 units=2 hosts=7 rails=2", "--out", str(fabric))
        wait_for(lambda: "this job can never run with --rail-span=unit" in explained(cluster, job)["sentence"], 20,
                 "the new fabric to be read", [cluster.log("ctl", "restartd")])
        equal(explained(cluster, job)["verdict"], "never", "verdict")
    finally:
        fabric.write_text(before)
        wait_for(lambda: explained(cluster, job)["verdict"] == "fits", 20, "the old fabric to be read",
                 [cluster.log("ctl", "restartd")])


def test_questions_that_have_no_answer(cluster):
    """Each is refused in a sentence, with the exit status of railctl(1)."""
    job = submit(cluster, "-N2", "--hold", "--rail-span=unit")
    explained(cluster, job)
    def refused(status, words, *command):
        answer = cluster.run("railctl", *command)
        equal(answer.returncode, status, " ".join(command))
        holds(answer.stderr, words, " ".join(command))
        equal(answer.stdout, "", f"output of {' '.join(command)}")
    refused(2, "job 99999 is neither in this cluster's queue nor in the journal", "explain", "99999")
    refused(2, "no job 12_3 is in the queue: of one that has ended, give its own number", "explain", "12_3")
    refused(1, "is restartd running there", "--url", "http://127.0.0.1:9", "explain", job)
    cluster.daemons["ctl", "slurmctld"].kill(signal.SIGSTOP)
    try:
        told = explained(cluster, job)
        holds(told["sentence"], "the resource manager does not answer", "sentence")
        refused(1, "job 99999 is not in the journal, and the resource manager does not answer", "explain", "99999")
    finally:
        cluster.daemons["ctl", "slurmctld"].kill(signal.SIGCONT)
    wait_for(lambda: explained(cluster, job)["kind"] == "pending", 30, "slurmctld to answer again")


def test_a_job_that_has_ended_is_told_with_its_owner_and_its_end(cluster):
    """For as long as Slurm remembers it: in squeue's word, with its script's exit status; also where it never had nodes."""
    good, bad, held = submit(cluster, "-N2", script="true"), submit(cluster, "-N1", script="exit 3"), submit(cluster, "-N2", "--hold")
    cluster.out("scancel", held)

    def told(job, how):
        wait_for(lambda: how in cluster.run("railctl", "explain", job).stdout, 30, f"job {job} to be told as {how}",
                 [cluster.log("ctl", "restartd")])
        return cluster.out("railctl", "explain", job).splitlines()[0]
    holds(told(good, "COMPLETED at "), f"job {good}, user 0: COMPLETED at ", "the one that ended well")
    holds(told(bad, "exit status 3"), f"job {bad}, user 0: FAILED, exit status 3 at ", "the one that failed")
    holds(told(bad, "exit status 3"), " after its last start, on n", "where it ran")
    holds(told(held, "CANCELLED"), ", before it had nodes", "the one that never ran")


def test_what_holds_a_job_back_beside_hosts_is_told(cluster):
    job = submit(cluster, "-N2", "--hold", "--rail-span=unit")
    told = explained(cluster, job)
    holds(told["sentence"], "would fit now, in unit", "sentence")
    holds(told["sentence"], "held back by something else (JobHeldUser)", "sentence")
