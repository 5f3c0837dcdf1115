"""Gangs under LSF: placed by restartd, recovered without the culprit, and never started past it. LSF is a double of an engine with
its commands (tests/doubles/lsf), held to what that engine wrote; agents, restartd and the jobs' processes are real."""

import json

from railcluster.cluster import Options
from railcluster.jobs import AGAIN, DONE, START
from railcluster.lsf import bsub, heat2d
from railcluster.process import wait_for
from railcluster.testing import check, equal, holds

NEEDS = ["restartd", "nodewatchd", "fabricwatchd", "railctl", "esub.rail", "rail-lsf-run", "railckpt", "railrun", "tests/apps/heat2d"]
SLEEP = ("sleep", "600")


def options(build):
    return Options(build=build, hosts_per_unit=4, lsf=True)


def logs(cluster):
    return [cluster.log("ctl", "restartd"), cluster.log("ctl", "lsf")]


def notes(cluster, what):
    return " | ".join(note["text"] for note in json.loads(cluster.out("railctl", "explain", what, "--json"))["timeline"])


def test_a_gang_runs_in_one_unit_and_is_parked(cluster):
    cluster.agents.wait_heard()
    first = bsub(cluster, 3, *SLEEP, env={"RAIL_SPAN": "unit"})
    second = bsub(cluster, 4, *SLEEP, env={"RAIL_SPAN": "unit"})
    for job, size in ((first, 3), (second, 4)):
        hosts = job.wait("RUN", queue="gang")
        equal(len(hosts), size, "hosts")
        check(any(set(hosts) <= set(unit) for unit in cluster.units), f"{hosts} are in one unit")
    third = bsub(cluster, 2, *SLEEP)  # one host is free
    status = json.loads(cluster.out("railctl", "explain", str(third.number), "--json"))
    holds(json.dumps(status), "the fabric has 1 free", "why it waits")
    equal(third.bjobs()[:2], ("PEND", "gang"), "it waits")
    cluster.out("bkill", str(first.number))
    third.wait("RUN", queue="gang")


def test_a_gang_leaves_a_host_that_loses_power(cluster):
    cluster.agents.wait_heard()
    job = bsub(cluster, 3, *SLEEP, env={"RAIL_RESTART": "auto"})
    hosts = job.wait("RUN", queue="gang")
    lost = hosts[1]  # not the first: LSF itself would never notice
    cluster.power_off(lost)
    again = job.wait("RUN", 90, queue="gang", without=lost)
    check(lost not in again, f"{lost} is not among {again}")
    holds(notes(cluster, str(job.number)), "RUNNING on", "what is told of the job")


def test_the_other_hosts_are_kept(cluster):
    """A gang of two loses a host when each unit has two free: it stays on the other one, though in the other unit nothing
    would be left over."""
    cluster.agents.wait_heard()
    gangs = [bsub(cluster, 2, *SLEEP, env={"RAIL_RESTART": "auto"}) for _ in range(4)]
    hosts = [gang.wait("RUN", queue="gang") for gang in gangs]
    job, had = gangs[2], hosts[2]
    beside = [index for index in (0, 1, 3) if any({*hosts[index], *had} <= set(unit) for unit in cluster.units)]
    equal(len(beside), 1, "gangs in its unit")
    far = next(index for index in (0, 1, 3) if index not in beside)
    for index in (beside[0], far):
        cluster.out("bkill", str(gangs[index].number))
        gangs[index].wait("EXIT")
    cluster.power_off(had[1])
    again = job.wait("RUN", 90, queue="gang", without=had[1])
    check(had[0] in again and any({*again, *had} <= set(unit) for unit in cluster.units), f"{had} became {again}")
    # restartd reads the queue once a second: until then the job is on its way back.
    terms = wait_for(lambda: json.loads(cluster.out("railctl", "explain", str(job.number), "--json"))["placement"].get("terms"), 60,
                     "restartd to see it run", job.logs())
    equal([term["text"] for term in terms if term["term"] == "moved"], ["1 of the 2 nodes it had before"], "railctl explain")


def test_a_rerunnable_gang_leaves_a_lost_host_too(cluster):
    cluster.agents.wait_heard()
    job = bsub(cluster, 3, *SLEEP)  # bsub -r, and no word on --restart
    lost = job.wait("RUN", queue="gang")[2]
    cluster.power_off(lost)
    job.wait("RUN", 90, queue="gang", without=lost)


def test_the_loss_of_the_first_host(cluster):
    cluster.agents.wait_heard()
    job = bsub(cluster, 3, *SLEEP, env={"RAIL_RESTART": "auto"})
    lost = job.wait("RUN", queue="gang")[0]
    cluster.power_off(lost)
    again = job.wait("RUN", 120, queue="gang", without=lost)
    check(lost not in again, f"{lost} is not among {again}")


def test_a_job_that_ended_a_moment_after_the_loss_is_not_lost(cluster):
    """mpirun notices a lost host by itself, and ends with its ranks' signal before anybody has decided; a person's bkill stands."""
    cluster.agents.wait_heard()
    folder = cluster.root / "scratch"
    folder.mkdir(exist_ok=True)
    ends = folder / "ends"
    script = folder / "ranks.sh"  # its second start does not end
    script.write_text(f"#!/bin/sh\necho start >>{folder}/starts\nuntil [ -e {ends} ]; do sleep 0.05; done\nrm {ends}\nkill -KILL $$\n")
    script.chmod(0o755)
    job = bsub(cluster, 2, str(script), env={"RAIL_RESTART": "auto"})
    killed = bsub(cluster, 2, "sleep", "600", env={"RAIL_RESTART": "auto"})
    lost = job.wait("RUN", queue="gang")[1]
    others = killed.wait("RUN", queue="gang")
    wait_for((folder / "starts").exists, 20, "the job to have begun", job.logs())
    cluster.power_off(lost)
    cluster.power_off(others[1])
    ends.touch()
    cluster.out("bkill", str(killed.number))
    again = job.wait("RUN", 120, queue="gang", without=lost)
    check(lost not in again, f"{lost} is not among {again}")
    wait_for(lambda: (folder / "starts").read_text().count("start") == 2, 60, "its second start", job.logs())
    equal(killed.bjobs()[0], "EXIT", "the job that its user ended")
    holds(notes(cluster, str(killed.number)), "has ended", "what is told of the job that its user ended")


def test_drain_and_resume(cluster):
    cluster.agents.wait_heard()
    host = cluster.nodes[0]
    cluster.out("railctl", "drain", host, "fan")
    wait_for(lambda: cluster.lsf.hosts()[host] == "closed_Adm", 20, f"{host} to be closed", logs(cluster))
    holds(cluster.out("bhosts", "-l", host), "railyard[user:root]: fan", "its note")
    job = bsub(cluster, 4, *SLEEP)
    check(host not in job.wait("RUN", queue="gang"), "no gang is placed on it")
    cluster.out("railctl", "resume", host)
    wait_for(lambda: cluster.lsf.hosts()[host] == "ok", 20, f"{host} to be open", logs(cluster))


def test_a_host_that_was_resumed_is_lost_like_any_other(cluster):
    """The note of an opening, ours or a person's, stays with LSF: it is no drain of a host that is lost later."""
    cluster.agents.wait_heard()
    ours, theirs = cluster.nodes[:2]
    cluster.out("railctl", "drain", ours, "fan")
    wait_for(lambda: cluster.lsf.hosts()[ours] == "closed_Adm", 20, f"{ours} to be closed", logs(cluster))
    cluster.out("railctl", "resume", ours)
    cluster.out("badmin", "hclose", "-C", "fan", theirs)
    wait_for(lambda: "fan" in cluster.out("railctl", "status", "--json"), 20, "restartd to see it", logs(cluster))
    cluster.out("badmin", "hopen", "-C", "the fan is new", theirs)
    wait_for(lambda: all(cluster.lsf.hosts()[host] == "ok" for host in (ours, theirs)), 20, "both to be open", logs(cluster))
    wait_for(cluster.lsf.known_idle, 20, "restartd to see it", logs(cluster))
    job = bsub(cluster, 8, *SLEEP, env={"RAIL_RESTART": "auto"})
    job.wait("RUN", queue="gang")
    cluster.agents.stop("ctl", "fabricwatchd")  # LSF alone sees them go, and shows their notes by then
    try:
        for host in (ours, theirs):
            cluster.power_off(host)
        for host in (ours, theirs):
            wait_for(lambda: "railyard[i-" in cluster.out("bhosts", "-l", host), 120, f"{host} to be closed as lost", logs(cluster))
    finally:
        cluster.agents.start_fabricwatchd()


def test_a_host_that_a_person_closed_stays_closed(cluster):
    cluster.agents.wait_heard()
    host = cluster.nodes[1]
    cluster.out("badmin", "hclose", "-C", "disk", host)
    wait_for(lambda: "disk" in cluster.out("railctl", "status", "--json"), 20, "restartd to see it", logs(cluster))
    refused = cluster.run("railctl", "resume", host)
    check(refused.returncode != 0, "a person's drain is not undone")
    holds(refused.stderr, "disk", "the refusal")


def test_restartd_goes_on_after_it_was_killed(cluster):
    cluster.agents.wait_heard()
    job = bsub(cluster, 3, *SLEEP, env={"RAIL_RESTART": "auto"})
    hosts = job.wait("RUN", queue="gang")
    cluster.daemons["ctl", "restartd"].kill(9)
    late = bsub(cluster, 2, *SLEEP)
    cluster.agents.start_restartd()
    late.wait("RUN", queue="gang")
    equal(job.bjobs()[2], hosts, "it was left alone")


def test_what_is_requeued_by_hand_is_placed_again(cluster):
    cluster.agents.wait_heard()
    job = bsub(cluster, 3, *SLEEP)
    job.wait("RUN", queue="gang")
    cluster.out("brequeue", str(job.number))
    wait_for(lambda: job.bjobs()[0] == "PEND", 20, "the job to wait", logs(cluster))
    job.wait("RUN", queue="gang")
    holds(cluster.out("bhist", "-l", str(job.number)), "Pending: Job has been requeued", "its history")


def test_mpirun_goes_on_from_its_checkpoint(cluster):
    cluster.agents.wait_heard()
    undisturbed = heat2d(cluster, 2, 600)
    undisturbed.wait_state("COMPLETED", 120)
    checkpoints = cluster.root / "scratch" / "checkpoints"
    checkpoints.mkdir(parents=True)
    job = heat2d(cluster, 3, 600, pace_us=20000, ckpt=checkpoints)
    job.wait_checkpoint(60)
    lost = job.wait("RUN", queue="gang")[1]
    cluster.power_off(lost)
    job.wait_state("COMPLETED", 240)  # its second start may be over before anybody has looked
    _, queue, hosts = job.bjobs()
    equal(queue, "gang", "the queue of its second start")
    check(lost not in hosts, "its second start was without the lost host")
    equal(job.checksum(), undisturbed.checksum(), "the checksum, that of the undisturbed run")
    check("from scratch" not in job.output.read_text().split("heat2d: start")[-1], "its last start went on from a checkpoint")


def test_a_script_that_goes_on_after_mpirun(cluster):
    """It ends with success as its host is lost, and is not done."""
    cluster.agents.wait_heard()
    checkpoints = cluster.root / "scratch" / "goes-on"
    checkpoints.mkdir(parents=True)
    job = heat2d(cluster, 3, 600, pace_us=20000, ckpt=checkpoints, after="exit 0")
    job.wait_checkpoint(60)
    lost = job.wait("RUN", queue="gang")[1]
    cluster.power_off(lost)
    wait_for(lambda: len(job.lines(START)) == 2, 120, "its second start", job.logs())
    job.wait_state("COMPLETED", 240)
    check(lost not in job.bjobs()[2], "its second start was without the lost host")
    check(int(job.lines(START)[1]["step"]) > 0, "it went on from a checkpoint")
    check(len(job.lines(DONE)) == 1, "it was done once")


def test_the_next_job_goes_on_in_a_checkpoint_directory(cluster):
    """Whether its owner is over is asked of LSF."""
    folder = cluster.root / "scratch"
    checkpoints = folder / "chain"
    checkpoints.mkdir(parents=True)
    (folder / "state").write_text("weights")
    script = folder / "chain.sh"
    script.write_text(f"#!/bin/sh\nexec >{folder}/said.$1 2>&1; railckpt commit --step $1 {folder}/state && echo committed\n"
                      f"until [ -e {folder}/go ]; do sleep 0.1; done\n")
    script.chmod(0o755)

    def begun(step, wanted):
        job = bsub(cluster, 1, f"{script} {step}", env={"RAIL_CKPT_DIR": str(checkpoints)})
        wait_for(lambda: wanted in (folder / f"said.{step}").read_text(), 60, f"job {step} to say {wanted}",
                 [*job.logs(), folder / f"said.{step}"])
        return job
    jobs = [begun(1, "committed"), begun(2, "bjobs says RUN")]
    (folder / "go").touch()
    for job in jobs:
        job.wait("DONE")
    begun(3, "committed").wait("DONE")


# Keeps checkpoints of its own, as torch.distributed.checkpoint lays them out, each half second, until there is a file `hold`.
UNCHANGED = r"""#!/bin/sh
cd {folder}/ck
step=$(ls -d step-*/.metadata 2>/dev/null | sed 's/[^0-9]//g' | sort -n | tail -n 1)
echo "start ${{step:-0}}" >>../log
while :; do
    sleep 0.5
    [ -e ../hold ] && continue
    step=$((${{step:-0}} + 10))
    mkdir step-$step
    echo tensors >step-$step/__0_0.distcp
    echo pickle >step-$step/.metadata
    echo "saved $step" >>../log
done
"""


def test_an_unchanged_program_is_known_by_its_own_checkpoints(cluster):
    """kind= of esub.rail: a host is lost, and restartd knows the step that the program goes on from."""
    cluster.agents.wait_heard()
    folder = cluster.root / "scratch" / "unchanged"
    (folder / "ck").mkdir(parents=True)
    script = folder / "job.sh"
    script.write_text(UNCHANGED.format(folder=folder))
    script.chmod(0o755)
    job = bsub(cluster, 3, str(script), env={"RAIL_RESTART": "auto", "RAIL_CKPT_DIR": f"{folder}/ck", "RAIL_CKPT_KIND": "dcp"})
    lost = job.wait("RUN", queue="gang")[1]
    where = [*job.logs(), folder / "log"]

    def lines(word):
        return [int(line.split()[1]) for line in (folder / "log").read_text().splitlines() if line.startswith(word)]

    def known():
        commit = json.loads(cluster.out("railctl", "explain", str(job.number), "--json"))["job"]["commit"]
        return commit["step"] if commit else 0

    wait_for(lambda: known() >= 20, 60, "restartd to know a checkpoint of the program's", where)
    (folder / "hold").touch()
    wait_for(lambda: known() == lines("saved")[-1], 30, "restartd to know the last one", where)
    cluster.power_off(lost)
    wait_for(lambda: len(lines("start")) == 2, 120, "its second start", where)
    equal(lines("start")[-1], lines("saved")[-1], "the step that the program goes on from")
    wait_for(lambda: f"(checkpoint of step {lines('saved')[-1]})" in notes(cluster, str(job.number)), 30, "what restartd says of the loss", where)


def test_railrun_takes_a_spare(cluster):
    """A host that is not the first loses power: the same start of the job goes on from its checkpoint on its spare, without the queue."""
    cluster.agents.wait_heard()
    undisturbed = heat2d(cluster, 2, 600)
    undisturbed.wait_state("COMPLETED", 120)
    checkpoints = cluster.root / "scratch" / "railrun-checkpoints"
    checkpoints.mkdir(parents=True)
    job = heat2d(cluster, 4, 600, pace_us=20000, ckpt=checkpoints, spares=1, launcher="railrun mpirun")
    job.wait_checkpoint(60)
    hosts = job.wait("RUN", queue="gang")
    spare = job.output.read_text().split("spares ")[1].split()[0]
    lost = next(host for host in hosts[1:] if host != spare)
    cluster.power_off(lost)
    seen = job.wait_state("COMPLETED", 120)
    equal((job.bjobs()[2], seen.restarts), (hosts, 0), "the job kept its hosts, and was started once")
    again = job.lines(AGAIN)
    equal(len(again), 1, "launches after the first")
    told = notes(cluster, str(job.number))
    holds(told, "is to start its step again inside its allocation, without " + lost, "what is told of the job")
    holds(told, "runs again inside its allocation on", "what is told of the job")
    check(again[0]["why"].startswith("i-"), f"restartd chose the hosts: {again[0]['why']}")
    check(int(job.lines(START)[-1]["step"]) > 0, "the launch went on from a checkpoint")
    equal(job.checksum(), undisturbed.checksum(), "the checksum, that of the undisturbed run")


def test_railrun_leaves_the_first_host_to_a_requeue(cluster):
    """railrun is gone with it, and no other can start the step again."""
    cluster.agents.wait_heard()
    checkpoints = cluster.root / "scratch" / "railrun-first"
    checkpoints.mkdir(parents=True)
    job = heat2d(cluster, 3, 4000, pace_us=20000, ckpt=checkpoints, spares=1, launcher="railrun mpirun")
    job.wait_checkpoint(60)
    lost = job.wait("RUN", queue="gang")[0]
    cluster.power_off(lost)
    job.wait("RUN", 120, queue="gang", without=lost)
    wait_for(lambda: len(job.lines(START)) == 2, 60, "the second start", job.logs())
    check(int(job.lines(START)[-1]["step"]) > 0, "it went on from its checkpoint")
    equal(job.lines(AGAIN), [], "launches of railrun")


def test_railrun_ends_as_its_command_does(cluster):
    cluster.agents.wait_heard()
    job = bsub(cluster, 2, "railrun --settle 1s sh -c 'exit 3'")
    wait_for(lambda: job.bjobs()[0] == "EXIT", 60, "the job to end", job.logs())
    holds(cluster.out("bhist", "-l", str(job.number)), "Exited with exit code 3", "its history")
    job = bsub(cluster, 2, "railrun srun true")
    wait_for(lambda: job.bjobs()[0] == "EXIT", 60, "the job to end", job.logs())
    holds(job.output.read_text(), "srun is Slurm's and starts nothing under LSF", "what it wrote")
