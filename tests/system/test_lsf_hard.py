"""Gangs under LSF's double where a network, a clock, a disk or a daemon fails that LSF and Railyard share, and what a user does with
LSF's own commands. LSF's history (bhist -l) says what became of a job, and how often: restartd would be its own witness."""

import json
import re
import signal
import sys
import time

from railcluster.cluster import Cluster, Options
from railcluster.lsf import LsfJob, bsub
from railcluster.process import wait_for
from railcluster.testing import check, equal, holds

NEEDS = ["restartd", "nodewatchd", "fabricwatchd", "railctl", "esub.rail", "rail-lsf-run"]
AUTO = {"RAIL_RESTART": "auto"}
SLEEP = ("sleep", "600")


def options(build):
    return Options(build=build, hosts_per_unit=4, lsf=True)


def logs(cluster):
    return [cluster.log("ctl", "restartd"), cluster.log("ctl", "lsf")]


def told(cluster, what):
    """Of a job or a host: why, and all that happened."""
    return cluster.out("railctl", "explain", str(what), "--json")


def status(cluster):
    return json.loads(cluster.out("railctl", "status", "--json"))


def history(cluster, job):
    return cluster.out("bhist", "-l", str(job.number))


def starts(cluster, job):
    return history(cluster, job).count("Dispatched to")


def element(job, index):
    return LsfJob(job.cluster, f"{job.number}[{index}]", job.output)


# --- arrays ---


def test_an_element_of_an_array_is_placed_and_requeued_alone(cluster):
    cluster.agents.wait_heard()
    array = bsub(cluster, 2, *SLEEP, env=AUTO, options=("-J", "sweep[1-3]"))
    elements = [element(array, index) for index in (1, 2, 3)]
    hosts = [one.wait("RUN", queue="gang") for one in elements]
    equal(len({host for some in hosts for host in some}), 6, "hosts of three gangs of two")
    for some in hosts:
        check(any(set(some) <= set(unit) for unit in cluster.units), f"{some} are in one unit")
    lost = hosts[1][1]
    cluster.power_off(lost)
    again = elements[1].wait("RUN", 90, queue="gang", without=lost)
    equal(len(again), 2, "hosts of the element that lost one")
    equal([starts(cluster, one) for one in elements], [1, 2, 1], "starts")
    # By a person, one more.
    cluster.out("brequeue", elements[2].number)
    wait_for(lambda: starts(cluster, elements[2]) == 2, 60, "the third to start again", logs(cluster))
    elements[2].wait("RUN", queue="gang")
    equal([one.wait("RUN", queue="gang") for one in elements[:2]], [hosts[0], again], "the others' hosts")
    holds(told(cluster, elements[1].number), lost, "what is told of the element")


# --- what fails for many hosts at once ---


def test_all_agents_silent_at_once_are_no_losses(cluster):
    """restartd's own network: LSF, which has another way to the hosts or is just slower, still sees them."""
    cluster.agents.wait_heard()
    jobs = [bsub(cluster, 3, *SLEEP, env=AUTO) for _ in range(2)]
    hosts = [job.wait("RUN", queue="gang") for job in jobs]
    agents = [cluster.daemons[node, "nodewatchd"] for node in cluster.nodes]
    for agent in agents:
        agent.kill(signal.SIGSTOP)
    wait_for(lambda: status(cluster)["witnesses"]["agents"] == 0, 30, "restartd to hear nobody", logs(cluster))
    # Scheduling goes on: it needs LSF alone.
    late = bsub(cluster, 1, *SLEEP)
    late.wait("RUN", queue="gang")
    wait_for(lambda: "not the hosts: none of them is taken for lost" in cluster.out("railctl", "history", "--json"), 60,
             "restartd to say so", logs(cluster))
    for agent in agents:
        agent.kill(signal.SIGCONT)
    cluster.agents.wait_heard()
    equal([job.wait("RUN", queue="gang") for job in jobs], hosts, "hosts")
    equal([starts(cluster, job) for job in jobs], [1, 1], "starts")
    equal(set(cluster.lsf.hosts().values()) - {"ok", "closed_Full"}, set(), "no host is closed")


def test_half_of_all_hosts_lose_power_at_once(cluster):
    """The fabric sees each of them go dark, so each is lost; a gang is requeued once, however many of its hosts are."""
    cluster.agents.wait_heard()
    first, second = cluster.units
    kept_free = [*first[2:], *second[2:]]
    for node in kept_free:
        cluster.out("railctl", "drain", node, "kept free")
    gang = bsub(cluster, 4, *SLEEP, env=AUTO)
    hosts = gang.wait("RUN", queue="gang")
    # Its first host lives: of that one's loss LSF alone takes half a minute to learn.
    gone, rest = (first, second) if hosts[0] in second else (second, first)
    for node in gone:
        cluster.power_off(node)
    wait_for(lambda: gang.bjobs()[0] == "PEND", 90, "the gang to wait", logs(cluster))
    wait_for(lambda: "it needs hosts that are drained or down now" in cluster.out("railctl", "explain", str(gang.number)), 30,
             "why it waits", logs(cluster))
    for node in set(rest) & set(kept_free):
        cluster.out("railctl", "resume", node)
    equal(set(gang.wait("RUN", 90, queue="gang", without=gone[0])), set(rest), "its hosts")
    past = history(cluster, gang)
    equal((past.count("Signal <REQUEUE"), past.count("Dispatched to")), (1, 2), f"requeues and starts: {past}")
    # LSF said of the second lost host's requeue that the first's was under way: that is an answer.
    happened = cluster.out("railctl", "history", "--json")
    check("answers again" not in happened, f"LSF answered all the time: {happened}")


def test_the_network_of_half_of_all_hosts_fails(cluster):
    """Agents are silent and LSF gives the hosts up, for the same cause; the fabric sees that they live. A gang runs on there."""
    cluster.agents.wait_heard()
    first, second = cluster.units
    gang = bsub(cluster, 6, *SLEEP, env=AUTO)
    hosts = gang.wait("RUN", queue="gang")
    cut = first if hosts[0] in second else second  # not with its first host, which LSF would rerun elsewhere
    try:
        for node in cut:
            cluster.yard.cable(node, False)
            cluster.lsf.set_host(node, "cut")
        wait_for(lambda: {cluster.lsf.hosts()[node] for node in cut} <= {"unreach", "unavail"}, 90, "LSF to give them up", logs(cluster))
        wait_for(lambda: "none of them is taken for lost" in cluster.out("railctl", "history", "--json"), 60, "restartd to say so", logs(cluster))
        equal((gang.bjobs()[0], starts(cluster, gang)), ("RUN", 1), "the gang")
    finally:
        for node in cut:
            cluster.yard.cable(node, True)
            cluster.lsf.set_host(node, "on")
    cluster.agents.wait_heard()
    wait_for(lambda: not {"unreach", "unavail"} & set(cluster.lsf.hosts().values()), 60, "LSF to reach them", logs(cluster))
    equal((gang.wait("RUN", queue="gang"), starts(cluster, gang)), (hosts, 1), "the gang, its hosts and starts")
    check("REQUEUE" not in history(cluster, gang), "nobody asked for a requeue")
    check("closed_Adm" not in cluster.lsf.hosts().values(), f"no host is closed: {cluster.lsf.hosts()}")


# --- mbatchd ---


def lines_of(cluster, text, begin=0):
    """Of restartd's log from there on."""
    return [line for line in cluster.log("ctl", "restartd").read_text()[begin:].splitlines() if text in line]


def test_mbatchd_is_away_when_a_host_is_lost(cluster):
    cluster.agents.wait_heard()
    job = bsub(cluster, 3, *SLEEP, env=AUTO)
    lost = job.wait("RUN", queue="gang")[2]
    begin = len(cluster.log("ctl", "restartd").read_text())
    cluster.lsf.mbatchd("off")
    cluster.power_off(lost)
    # Each of its commands is given up after ten seconds.
    wait_for(lambda: lines_of(cluster, "tried again", begin), 120, "an action to be tried", logs(cluster))
    holds(cluster.out("railctl", "status"), "does not answer", "what status says")
    cluster.lsf.mbatchd("on")
    job.wait("RUN", 90, queue="gang", without=lost)
    wait_for(lambda: lines_of(cluster, "answers again", begin), 60, "restartd to say so", logs(cluster))
    equal(len(lines_of(cluster, "answers again", begin)), 1, "lines that LSF answers again")
    warned = lines_of(cluster, "warning:", begin)
    equal(len(warned), 1, f"warnings: {warned}")
    holds(warned[0], "no answer in time: batch system daemon not responding ... still trying", "the warning")
    past = history(cluster, job)
    equal((past.count("Signal <REQUEUE"), past.count("Dispatched to")), (1, 2), f"requeues and starts: {past}")


def test_restartd_dies_while_mbatchd_is_away(cluster):
    """Both come back, in either order."""
    cluster.agents.wait_heard()
    job = bsub(cluster, 2, *SLEEP, env=AUTO)
    for first in ("restartd", "mbatchd"):
        hosts = job.wait("RUN", 90, queue="gang")
        before = starts(cluster, job)
        cluster.lsf.mbatchd("off")
        cluster.daemons["ctl", "restartd"].kill(signal.SIGKILL)
        cluster.power_off(hosts[1])
        if first == "mbatchd":
            cluster.lsf.mbatchd("on")
            wait_for(lambda: cluster.lsf.hosts(), 20, "LSF to answer", logs(cluster))
        cluster.agents.start_restartd()
        if first == "restartd":
            wait_for(lambda: "has not answered yet" in cluster.out("railctl", "status"), 60, "restartd to miss LSF", logs(cluster))
            cluster.lsf.mbatchd("on")
        job.wait("RUN", 90, queue="gang", without=hosts[1])
        equal(starts(cluster, job), before + 1, f"starts, {first} first: {history(cluster, job)}")
    equal(history(cluster, job).count("Signal <REQUEUE"), 2, "requeues")


# --- the clock of restartd's host ---


class SteppedClock:
    """restartd, started anew, whose time of day a test sets; the hosts' and LSF's go on."""

    def __init__(self, cluster):
        self.path = cluster.root / "clock_step"
        self.set(0)
        cluster.agents.stop("ctl", "restartd")
        library = cluster.options.build / "tests" / "doubles" / "libclock_step.so"
        cluster.agents.start_restartd({"LD_PRELOAD": str(library), "RAIL_CLOCK_STEP": str(self.path)})

    def set(self, seconds):
        with open(self.path, "r+b" if self.path.exists() else "wb") as out:  # in place: it is mapped
            out.write(seconds.to_bytes(8, sys.byteorder, signed=True))


def known(cluster, job):
    """What restartd knows of it."""
    return next((one for one in status(cluster)["jobs"] if str(one["id"]) == str(job.number)), {"state": "", "epoch": -1})


def leave_seen(cluster, job):
    """Requeues it until restartd, which looks once a second, has seen it on its way; how often that took."""
    for times in range(1, 20):
        before = starts(cluster, job)
        cluster.out("brequeue", str(job.number))
        if wait_for(lambda before=before: "left" if known(cluster, job)["state"] == "completing" else
                    "back" if starts(cluster, job) > before else "", 60, "it to be requeued", logs(cluster), every=0.02) == "left":
            return times
        job.wait("RUN", queue="gang")
    raise AssertionError("restartd never saw it leave")


def test_the_clock_is_set_an_hour_ahead(cluster):
    clock = SteppedClock(cluster)
    cluster.agents.wait_heard()
    job, other = bsub(cluster, 2, *SLEEP, env=AUTO), bsub(cluster, 2, *SLEEP, env=AUTO)
    job.wait("RUN", queue="gang")
    kept = other.wait("RUN", queue="gang")
    times = leave_seen(cluster, job)  # a requeue is no end, whatever the clock says
    clock.set(3600)
    wait_for(lambda: starts(cluster, job) == times + 1, 90, "it to start again", logs(cluster))
    wait_for(lambda: known(cluster, job)["epoch"] == times, 30, "restartd to count that start", logs(cluster))
    equal((other.bjobs()[2], starts(cluster, other)), (kept, 1), "the other's hosts and starts")


def test_the_clock_is_set_back_an_hour(cluster):
    clock = SteppedClock(cluster)
    cluster.agents.wait_heard()
    fail = cluster.root / "scratch" / "fail"
    job, other = bsub(cluster, 4, "sh", "-c", f"until [ -e {fail} ]; do sleep 0.1; done; exit 7"), bsub(cluster, 4, *SLEEP, env=AUTO)
    late = bsub(cluster, 2, *SLEEP, env=AUTO)
    kept = other.wait("RUN", queue="gang")
    job.wait("RUN", queue="gang")
    fail.touch()
    # For eight seconds its failure may still be a requeue's.
    wait_for(lambda: known(cluster, job)["state"] == "completing", 60, "restartd to see it leave", logs(cluster), every=0.05)
    clock.set(-3600)
    hosts = late.wait("RUN", 60, queue="gang")  # on hosts of what has failed
    wait_for(lambda: known(cluster, job)["state"] != "completing", 60, "restartd to see that it has ended", logs(cluster))
    cluster.power_off(hosts[1])
    late.wait("RUN", 90, queue="gang", without=hosts[1])
    equal(other.bjobs()[2], kept, "the other's hosts")
    equal([starts(cluster, late), starts(cluster, other)], [2, 1], "starts")



# --- disks ---


def test_the_journals_disk_is_full(cluster):
    """What cannot be written down first is not done: it is done once there is room, and once."""
    state = cluster.root / "state"
    cluster.agents.stop("ctl", "restartd")
    cluster.agents.forget()
    cluster.out("mount", "-t", "tmpfs", "-o", "size=8m", "full", str(state))
    try:
        cluster.agents.start_restartd()
        cluster.agents.wait_heard()
        # Nor can its output be written.
        said = cluster.out("bsub", "-a", "rail", "-q", "gang", "-n", "24", "-R", "span[ptile=8]", "-r", "-o", "/dev/full", *SLEEP, env=AUTO)
        job = LsfJob(cluster, int(said.split("<")[1].split(">")[0]), cluster.log("ctl", "lsf"))
        lost = job.wait("RUN", queue="gang")[1]
        cluster.run("dd", "if=/dev/zero", f"of={state}/filler", "bs=64k")
        begin = len(cluster.log("ctl", "restartd").read_text())
        cluster.power_off(lost)
        wait_for(lambda: lines_of(cluster, "full", begin), 60, "restartd to say so", logs(cluster))
        equal(starts(cluster, job), 1, "starts")
        cluster.out("rm", f"{state}/filler")
        job.wait("RUN", 120, queue="gang", without=lost)
        past = history(cluster, job)
        equal((past.count("Signal <REQUEUE"), past.count("Dispatched to")), (1, 2), f"requeues and starts: {past}")
    finally:
        cluster.agents.stop("ctl", "restartd")
        cluster.run("umount", "-l", str(state))


# --- what an ordinary user does ---

# As whom LSF's double takes a caller whom it lets choose; an account that is on every machine.
USER = "nobody"


def as_user(cluster, *words):
    return cluster.run(*words, env={"LSF_DOUBLE_USER": USER})


def test_names_of_jobs_are_only_names(cluster):
    cluster.agents.wait_heard()
    victim = bsub(cluster, 1, *SLEEP)
    forged = f"line Nov 22 01:35\n{victim.number} root RUN normal ctl 8*n001 a Nov 22 01:35\n999 root RUN normal ctl 8*n002:8*n003 b"
    names = ["two words", 'say "hi"', "it's $(id) \\ ; #", "tab\tbell\a", "ends in] Nov 22 01:35", forged,
             f"Job <{victim.number}>\nJob <{victim.number}>, Status <DONE>, Queue <gang>"]
    jobs = [bsub(cluster, 1, *SLEEP, options=("-J", name), user=USER) for name in names]
    for job in (*jobs, victim):
        job.wait("RUN", queue="gang")
    cluster.out("bkill", str(victim.number))
    plain = cluster.out("bsub", "-q", "gang", "-n", "8", "-R", "span[ptile=8]", "sleep 600 # [3]")  # past esub.rail
    last = LsfJob(cluster, int(plain.split("<")[1].split(">")[0]), cluster.log("ctl", "lsf"))
    last.wait("RUN", queue="gang")
    # A row that is forged may be listed. It holds no hosts, and nobody else's job is taken for what it says.
    gangs = {job["id"] for job in status(cluster)["jobs"]}
    check(gangs >= {job.number for job in (*jobs, last)}, f"restartd knows {gangs}")
    check("was moved to queue" not in cluster.out("railctl", "history", "--json"), "what a name says is not believed")


def test_a_name_like_lsfs_own_words_is_told(cluster):
    """It could be another job's description: its gang waits, and its user is told why."""
    cluster.agents.wait_heard()
    job = bsub(cluster, 1, *SLEEP, options=("-J", "x>, User <root>, Status <DONE>, Queue <normal>"), user=USER)
    wait_for(lambda: "looks like LSF's own words" in cluster.run("railctl", "explain", str(job.number)).stdout, 60, "it to be told",
             logs(cluster))
    equal(job.bjobs()[:2], ("PEND", "gang"), "it waits")
    as_user(cluster, "bmod", "-J", "x", str(job.number))
    job.wait("RUN", 120, queue="gang")


def test_a_users_own_ways_with_a_parked_gang(cluster):
    cluster.agents.wait_heard()
    blocker = bsub(cluster, 8, *SLEEP)
    blocker.wait("RUN", queue="gang")
    hosts, stopped, moved, grown, refused = jobs = [bsub(cluster, 1, *SLEEP, user=USER) for _ in range(5)]
    wait_for(lambda: len(status(cluster)["jobs"]) == 6, 30, "restartd to know them", logs(cluster))
    for job, *words in ((hosts, "bmod", "-m", cluster.nodes[3]), (stopped, "bstop"), (moved, "bswitch", "normal"),
                        (grown, "bmod", "-n", "16"), (refused, "bresume")):
        done = as_user(cluster, *words, str(job.number))
        check(done.returncode == 0, f"{words}: {done.stderr}")
    check(as_user(cluster, "bswitch", "gangrun", str(refused.number)).returncode != 0, "nobody but us starts a gang")
    wait_for(lambda: "was moved to queue normal, whose jobs Railyard does not place" in told(cluster, moved.number), 30,
             "the move to be told", logs(cluster))
    holds(cluster.out("railctl", "explain", str(moved.number)), "LSF places the jobs of queue normal", "why it waits")
    holds(cluster.out("railctl", "explain", str(stopped.number)), "was suspended by the user", "why it waits")
    cluster.out("bkill", str(blocker.number))
    for job, size in ((hosts, 1), (grown, 2), (refused, 1)):
        equal(len(job.wait("RUN", 90, queue="gang")), size, f"hosts of job {job.number}")
    moved.wait("RUN", queue="normal")
    equal(stopped.bjobs()[0], "PSUSP", "what its owner stopped")
    as_user(cluster, "bresume", str(stopped.number))
    stopped.wait("RUN", queue="gang")
    for job in jobs:
        equal("has not chosen" in told(cluster, job.number), False, f"job {job.number} started on hosts of the plan")


def test_a_thousand_held_jobs_are_in_nobodys_way(cluster):
    cluster.agents.wait_heard()
    spec = {"command": f"{cluster.options.build.resolve() / 'rail-lsf-run'} --line='sleep 600'", "queue": "gang", "slots": 8, "max_slots": 8, "res_req": "span[ptile=8]", "rerun": True, "hold": True}
    cluster.lsf.submit([spec] * 999)
    held = bsub(cluster, 1, *SLEEP, options=("-H",))
    job = bsub(cluster, 3, *SLEEP, env=AUTO)
    lost = job.wait("RUN", queue="gang")[1]
    waiting = [line.split() for line in cluster.out("bjobs", "-w", "-p", "-u", "all").splitlines()[1:] if line[:1].isdigit()]
    equal(len(waiting), 1000, "jobs that wait")
    equal({(words[2], words[3]) for words in waiting}, {("PSUSP", "gang")}, "their states and queues")
    wait_for(lambda: len(status(cluster)["jobs"]) == 1001, 60, "restartd to know them all", logs(cluster))
    cluster.power_off(lost)
    job.wait("RUN", 90, queue="gang", without=lost)
    holds(cluster.out("railctl", "explain", str(held.number)), "suspended by the user", "why it waits")
    cluster.out("bresume", str(held.number))
    held.wait("RUN", queue="gang")
    cluster.out("bkill", "0")


# --- drains ---


def moments(cluster, number):
    """(when, what) of a job's history: the hosts it was given, and those it started on, in seconds of LSF's clock."""
    found, when = [], 0.0
    for line in cluster.out("bhist", "-l", str(number)).splitlines():
        if stamp := re.match(r"[A-Z][a-z]{2} ([A-Z][a-z]{2} +\d+ \d\d:\d\d:\d\d): ", line):
            when = time.mktime(time.strptime(f"{time.localtime().tm_year} {stamp[1]}", "%Y %b %d %H:%M:%S"))
        if given := re.search(r"Hosts change to : (.+);", line):
            found.append((when, "given", re.findall(r"([a-z]+\d+)\+", given[1])))
        elif "Dispatched to" in line:
            found.append((when, "started", re.findall(r"<([^>]+)>", line.split("Dispatched to")[1])))
    return found


def test_nothing_starts_on_a_host_once_it_is_drained(cluster):
    cluster.agents.wait_heard()
    drained, jobs = {}, []
    for node in (None, *cluster.nodes[:4]):
        if node:
            # It returns when LSF has answered, or after a while without.
            done = cluster.run("railctl", "drain", node, "fan")
            check(done.returncode == 0 or "will be drained when the resource manager answers" in done.stdout + done.stderr, f"{done}")
            wait_for(lambda node=node: cluster.lsf.hosts()[node] == "closed_Adm", 60, f"LSF to close {node}", logs(cluster))
            drained[node] = time.time()
        jobs += [bsub(cluster, 1, "sleep", "1") for _ in range(5)]
    for job in jobs:
        wait_for(lambda job=job: job.bjobs()[0] == "DONE", 120, f"job {job.number} to end", logs(cluster), every=0.2)
    seen = [(job.number, *one) for job in jobs for one in moments(cluster, job.number)]
    equal(sum(what == "started" for _, _, what, _ in seen), len(jobs), "starts")
    used = {host for _, _, _, hosts in seen for host in hosts}
    check(used & set(drained), f"some ran where nothing was drained yet: {sorted(used)}")
    for number, when, what, hosts in seen:
        for host in hosts:  # moments of a history are whole seconds, cut off
            check(when <= drained.get(host, float("inf")), f"job {number}: {host} {what} {when}, drained {drained.get(host)}")


# --- exported files ---


def test_a_cluster_of_what_railtopo_exports(build):
    """Hosts, groups, resources, queues and timing of the double are what an administrator would install by railyard-lsf(7)."""
    with Cluster.start(Options(build=build, hosts_per_unit=4, lsf=True, lsf_files=True)) as cluster:
        cluster.agents.wait_heard()
        groups = dict(line.split(maxsplit=1) for line in cluster.out("bmgroup", "-r").splitlines()[1:])
        equal([groups[name].split() for name in ("su1_hosts", "su2_hosts")], cluster.units, "the host groups of units")
        equal(set(groups["pod1_hosts"].split()), set(cluster.nodes), "the host group of the pod")
        holds(cluster.out("lsload", "-l"), "health planned", "the indices")
        here = bsub(cluster, 1, *SLEEP, queue="normal", options=("-R", f"select[unit==su2 && podpos=={len(cluster.nodes)}] span[ptile=8]"))
        equal(here.wait("RUN", queue="normal"), [cluster.nodes[-1]], "the host of that place")
        cluster.out("bkill", str(here.number))
        gang = bsub(cluster, 3, *SLEEP, env={**AUTO, "RAIL_SPAN": "unit"})
        refused = as_user(cluster, "bswitch", "gangrun", str(bsub(cluster, 8, *SLEEP, user=USER).number))
        holds(refused.stderr, "gangrun: User cannot use the queue", "who is no administrator")
        lost = gang.wait("RUN", queue="gang")[1]
        cluster.power_off(lost)
        again = gang.wait("RUN", 90, queue="gang", without=lost)
        check(any(set(again) <= set(unit) for unit in cluster.units), f"{again} are in one unit")
