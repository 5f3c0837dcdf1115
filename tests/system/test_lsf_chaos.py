"""Gangs under LSF's double while restartd and mbatchd die at random moments and hosts go away, and thousands of gangs at once.

What happened is read from LSF's own history (bhist -l), not from restartd, which would be its own witness."""

import json
import os
import random
import re
import signal
import time

from railcluster.cluster import Cluster, Options
from railcluster.lsf import SLOTS, bsub
from railcluster.process import Pid, descendants, wait_for
from railcluster.testing import check, equal

NEEDS = ["restartd", "nodewatchd", "fabricwatchd", "railctl", "esub.rail", "rail-lsf-run"]
GANGS = 8
MANY, UNIT = 10000, 32
TICKS = os.sysconf("SC_CLK_TCK")


def options(build):
    return Options(build=build, hosts_per_unit=4, lsf=True)


def logs(cluster):
    return [cluster.log("ctl", "restartd"), cluster.log("ctl", "lsf")]


def starts(history):
    """(hosts of the plan or None, hosts of the start) of each start of a job; a plan serves one start only."""
    found, plan = [], None
    for line in history.splitlines():
        if planned := re.search(r"Hosts change to : (.+);", line):
            plan = [host for host, _ in re.findall(r"([a-z]+\d+)\+(\d+)", planned[1])]
        elif "Dispatched to" in line:
            slots = re.findall(r"<([^>]+)>", line.split("Dispatched to")[1])
            hosts = list(dict.fromkeys(slots))
            equal(slots, [host for host in hosts for _ in range(SLOTS)], "the slots of a start")
            found.append((plan, hosts))
            plan = None
    return found


class Chaos:
    """Each method is one fault, begun and, where it is one of a daemon, ended."""

    def __init__(self, cluster, draw):
        self.cluster, self.draw = cluster, draw

    def pause(self, longest):
        time.sleep(self.draw.uniform(0.0, longest))

    def end_restartd(self):
        """With the command of LSF's that it runs, as systemd does; stopped first, so that it begins no other."""
        pid = self.cluster.daemons["ctl", "restartd"].pid
        outside = pid.parent()
        pid.kill(signal.SIGSTOP)
        for victim in [*map(Pid.of, descendants(pid.pid)), pid]:
            victim.kill(signal.SIGKILL)
        if outside:  # which stopped itself with it
            outside.kill(signal.SIGCONT)
        wait_for(lambda: not pid.alive(), 15, "restartd to be gone", logs(self.cluster))

    def kill_restartd(self):
        self.end_restartd()
        self.pause(1.0)
        self.cluster.agents.start_restartd()

    def stop_restartd(self):
        daemon = self.cluster.daemons["ctl", "restartd"]
        daemon.kill(signal.SIGSTOP)
        self.pause(1.5)
        daemon.kill(signal.SIGCONT)

    def stop_mbatchd(self):
        self.cluster.lsf.mbatchd("off")
        self.pause(2.0)
        self.cluster.lsf.mbatchd("on")

    def kill_restartd_without_mbatchd(self):
        self.cluster.lsf.mbatchd("off")
        self.pause(0.5)
        self.end_restartd()
        self.pause(0.5)
        self.cluster.agents.start_restartd()  # answers without LSF
        self.pause(0.5)
        self.cluster.lsf.mbatchd("on")


def test_daemons_killed_at_random_moments(cluster):
    seed = int(os.environ.get("RAIL_SEED") or random.SystemRandom().randrange(1 << 31))
    print(f"      RAIL_SEED={seed}", flush=True)
    draw = random.Random(seed)
    chaos = Chaos(cluster, draw)
    cluster.agents.wait_heard()
    lasting = bsub(cluster, 3, "sleep", "600", env={"RAIL_RESTART": "auto"})
    before = lasting.wait("RUN", queue="gang")
    lost = before[-1]  # not the first, whose loss LSF alone takes half a minute to see
    drained = draw.choice([node for node in cluster.nodes if node not in before])
    faults = [chaos.kill_restartd, chaos.kill_restartd, chaos.stop_restartd, chaos.stop_mbatchd, chaos.stop_mbatchd,
              chaos.kill_restartd_without_mbatchd, lambda: cluster.power_off(lost),
              lambda: cluster.out("railctl", "drain", drained, "fan")]
    equal(len(faults), GANGS, "a fault beside each gang")
    draw.shuffle(faults)
    gangs = []
    for fault in faults:
        # Small ones: who waits for hosts waits until an end has settled, eight seconds each.
        gangs.append(bsub(cluster, draw.randint(1, 2), "sleep", str(draw.randint(1, 4)), env={"RAIL_RESTART": "auto"}))
        chaos.pause(1.0)
        fault()
    for gang in gangs:
        wait_for(lambda gang=gang: gang.bjobs()[0] == "DONE", 180, f"job {gang.number} to run to its end", logs(cluster),
                 every=0.5)
    lasting.wait("RUN", 180, queue="gang", without=lost)

    dispatched = 0
    for gang in (lasting, *gangs):
        history = cluster.out("bhist", "-l", str(gang.number))
        ran = starts(history)
        check(ran, f"job {gang.number} never started:\n{history}")
        for plan, where in ran:
            equal(where, plan, f"the hosts of a start of job {gang.number}, against its plan:\n{history}")
        dispatched += len(ran)
    check(len(starts(cluster.out("bhist", "-l", str(lasting.number)))) >= 2, "the gang that lost a host started anew")
    queues = [line.split()[3] for line in cluster.out("bjobs", "-w", "-u", "all").splitlines()[1:]]
    equal(queues, ["gang"], "the queues of the jobs that are left")
    wait_for(lambda: "railyard[user:root]: fan" in cluster.out("bhosts", "-l", drained), 30, f"our note on {drained}", logs(cluster))
    equal(cluster.lsf.hosts()[drained], "closed_Adm", drained)
    print(f"      {len(gangs) + 1} gangs, {dispatched} starts, {lost} lost, {drained} drained", flush=True)


def cpu_seconds(daemon):
    words = open(f"/proc/{daemon.pid.pid}/stat", encoding="utf-8").read().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / TICKS


def test_thousands_of_gangs_on_a_thousand_hosts(build):
    made = Options(build=build, pods=8, units=4, hosts_per_unit=UNIT, lsf=True, cloud=True)
    with Cluster.start(made) as cluster:
        check(len(cluster.nodes) == 1024, "1,024 hosts")
        program = build / "rail-lsf-run"
        spec = {"command": f"{program} --rail-span=pod --line=train", "queue": "gang", "slots": UNIT * SLOTS,
                "max_slots": UNIT * SLOTS, "res_req": f"span[ptile={SLOTS}]", "rerun": True}
        begun = time.monotonic()
        cluster.lsf.submit([spec] * MANY)
        submitted = time.monotonic() - begun
        cluster.agents.start_restartd()
        restartd, begun, asked = cluster.daemons["ctl", "restartd"], time.monotonic(), cluster.lsf.requests()

        def ids(which):
            """Of the gangs that run, moved back to where they waited."""
            rows = [line.split()[:4] for line in cluster.out("bjobs", "-w", "-u", "all", which).splitlines()[1:]]
            return {int(number) for number, _, state, queue in rows if (state, queue) == ("RUN", "gang")}

        full = len(cluster.nodes) // UNIT
        wait_for(lambda: len(ids("-r")) >= 4, 300, "the first gangs to run", logs(cluster), every=0.5, needs=restartd.pid)
        first = time.monotonic() - begun
        wait_for(lambda: len(ids("-r")) == full, 240, "gangs on every host", logs(cluster), every=0.5, needs=restartd.pid)
        last, cpu = time.monotonic() - begun, cpu_seconds(restartd)
        killed = set(sorted(ids("-r"))[:full // 2])
        looking = time.monotonic()
        status = json.loads(cluster.out("railctl", "status", "--json", timeout=60))
        answered = time.monotonic() - looking
        equal(len([job for job in status["jobs"] if job.get("nodes")]), full, "the gangs that restartd knows to run")
        # As gangs end, others take their hosts.
        for number in killed:
            cluster.out("bkill", str(number))
        wait_for(lambda: len(ids("-r")) == full and not ids("-r") & killed, 120, "others in the place of those that ended", logs(cluster),
                 every=0.5, needs=restartd.pid)
        passed, now = time.monotonic() - begun, cluster.lsf.requests()
        lists = now["bjobs -w -u"] - asked.get("bjobs -w -u", 0)  # this test's own have another option
        # One a second, a first one, and one that had begun before we looked; a busy machine makes them fewer.
        check(0 < lists <= passed + 2, f"{lists} lists of all jobs in {passed:.1f} s: {now}")
        print(f"      {MANY} gangs submitted in {submitted:.1f} s; first RUN {first:.1f} s, all hosts busy {last:.1f} s, "
              f"restartd {cpu:.1f} s of CPU; railctl status {answered:.2f} s; {lists} lists in {passed:.1f} s", flush=True)
