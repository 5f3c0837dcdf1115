"""Steps before and between the sections of each recording: jobs of which it only contains the ids, power and cables.

A scenario is a function player -> {section: step before it}; sections are numbers, or titles for time lines. "start" is before
the first. FILES lists for each scenario the recordings that it replays in sequence.
"""
import json

import loss
from replay import QUEUES

PROBE = r"""#!/bin/sh
# The esub.rail of the recordings.
echo run >>"$PROBE/runs"; cp "$LSB_SUB_PARM_FILE" "$PROBE/parm"
if [ "$RAIL_SPAN" = bogus ]; then echo "rail: unknown span 'bogus' (unit, pod, fabric)" >&2; exit 97; fi
[ -n "$RAIL_EXIT" ] && exit "$RAIL_EXIT"
if [ -n "$RAIL_SAY" ]; then echo "rail says (stdout)"; echo "rail says (stderr)" >&2; fi
grep -q LSB_SUB_MODIFY=Y "$LSB_SUB_PARM_FILE" && exit 0
printf 'LSB_SUB_HOLD=Y\nLSB_SUB_RERUNNABLE=Y\n' >"$LSB_SUB_MODIFY_FILE"
printf '%s' "$RAIL_TRY" | sed 's/\\n/\n/g' >>"$LSB_SUB_MODIFY_FILE"
echo RAIL_JOB=yes >"$LSB_SUB_MODIFY_ENVFILE"
printf '%s' "$RAIL_TRYENV" | sed 's/\\n/\n/g' >>"$LSB_SUB_MODIFY_ENVFILE"
exit 0
"""


def probe(player, name="esub.rail", text=PROBE):
    path = player.probe / "sbin" / name
    path.write_text(text)
    path.chmod(0o755)


def submit(player, job_id, *words, user="alice"):
    player.engine.next_id = job_id
    player.expect(user, ["bsub", *words])


def power(player, name, state):
    loss.switch(player.engine, player.engine.cluster.hosts[name], state)


def late_home(player, job_id, seconds):
    """The sbatchd reported the home folder of this run this many seconds late, or not yet (None)."""
    job = player.engine.elements[job_id][0]
    event = job.events.pop()
    if not event[1].startswith("Running with execution home"):
        raise ValueError(event)
    if seconds is not None:
        player.engine.at(player.engine.now + seconds, job.events.append, event)


def many_jobs(player):
    """The jobs of bjobs, bmod_bstop_bresume_bswitch and brequeue."""
    gang = ("-q", "rail", "-r", "-n", "16", "-R", "span[ptile=4]", "-m", "n4+4 n2+3 n6+2 n1+1", "-o", "/home/alice/%J.out")
    submit(player, 48, "-q", "gangrun", "-J", "", "sleep", "30", user="lsfadmin")
    player.expect("lsfadmin", ["bkill", "48"])
    submit(player, 118, *gang, "-J", "train-run", "bash", "-c", "echo started on $LSB_MCPU_HOSTS; sleep 600")
    submit(player, 119, "-J", "one", "sleep", "600")
    submit(player, 120, "-H", "-r", "-q", "rail", "-n", "16", "-R", "span[ptile=8]", "-J", "held job", "sleep", "600")
    submit(player, 121, "-J", "ok", "true")
    submit(player, 122, "-J", "bad", "bash", "-c", "exit 7")
    submit(player, 124, "-J", "arr[1-3]", "sleep", "600")
    player.pass_time(2.6)
    player.engine.cluster.hosts["n5"].load = "unavail"   # a lim that had just been restarted
    submit(player, 123, "-r", "-q", "rail", "-n", "64", "-R", "span[ptile=8]", "-J", "pend", "sleep", "600")
    submit(player, 125, "-J", "ustopped", "sleep", "600")
    player.pass_time(3.0)
    player.expect("alice", ["bstop", "125"])
    player.pass_time(1.0)

    def lim_back():
        player.engine.cluster.hosts["n5"].load = "ok"
    traps = ("bash", "-c", 'trap "" TERM INT; while :; do sleep 1; done')
    return {("bmod_bstop_bresume_bswitch", "1"): lim_back, ("brequeue", "1"): lambda: player.pass_time(4.0),
            ("brequeue", "11"): lambda: late_home(player, 118, None),
            ("brequeue", "21"): lambda: (submit(player, 126, "-r", "-q", "rail", "-n", "8", "-R", "span[ptile=8]", "-m", "n7", "sleep", "600"),
                                         player.pass_time(3.0)),
            ("brequeue", "24"): lambda: (submit(player, 127, "-r", "-q", "rail", "-n", "8", "-R", "span[ptile=8]", "-m", "n7", *traps),
                                         player.expect("lsfadmin", ["bkill", "126"]), player.pass_time(5.0))}


def parking(player):
    player.engine.cluster.hosts["n7"].closed = player.engine.cluster.hosts["n8"].closed = False
    first = lambda: setattr(player.engine, "trusts_next", True)   # as after every reconfiguration

    def cut_short():
        power(player, "n1", "off")     # mbatchd still had to inform its sbatchd of the switch, and so noticed early
        player.engine.at(player.engine.now + 1.0, player.engine.poke, player.engine.cluster.hosts["n1"])
    return {("parking_queue_design", "3"): first,
            ("parking_queue_design", "12"): lambda: late_home(player, 44, 5.0),
            ("parking_queue_design", "15"): lambda: player.pass_time(6.0),
            ("parking_queue_design", "states (seconds since power-off)"): cut_short,
            ("parking_queue_design", "28"): lambda: player.pass_time(2.0),
            ("parking_queue_design", "29"): lambda: player.pass_time(8.0),
            ("parking_queue_design", "states of 44 #10"): lambda: power(player, "n1", "on")}


def esubs(player):
    probe(player)
    return {}


def mandatory(player):
    probe(player)
    player.engine.cluster.keys["mandatory_esub"] = "rail"
    path = player.probe / "sbin/esub.rail"
    return {("mandatory_esub", "18"): path.unlink,
            ("mandatory_esub", "19"): lambda: probe(player, text="#!/nowhere/sh\n"),
            ("mandatory_esub", "20"): lambda: probe(player, text="#!/bin/sh\nkill -SEGV $$\n")}


def master_esub(player):
    probe(player)
    probe(player, "esub")
    return {}


def administration(player):
    for name in ("n6", "n4"):
        player.expect("lsfadmin", ["badmin", "hclose", "-C", "railyard: lost host", name])
        player.expect("lsfadmin", ["badmin", "hopen", "-C", "railyard: repaired", name])
    submit(player, 90, "-q", "rail", "-n", "8", "-R", "span[ptile=8]", "-m", "n7", "sleep", "9000")
    player.pass_time(3.0)
    return {("badmin", "32"): lambda: player.pass_time(3.0)}


def queues_and_hosts(player):
    """bqueues counts 16 slots in rail, 8 of which run on n7."""
    submit(player, 90, "-q", "rail", "-n", "8", "-R", "span[ptile=8]", "-m", "n7", "sleep", "9000")
    submit(player, 91, "-q", "rail", "-n", "8", "-H", "-R", "span[ptile=8]", "sleep", "9000")
    player.pass_time(3.0)
    return {("hosts_and_load", "45"): lambda: player.expect("alice", ["bkill", "91"]),
            ("hosts_and_load", "55"): lambda: submit(player, 92, "-q", "rail", "-n", "8", "-H", "-R", "span[ptile=8]", "sleep", "9000")}


def gangs(player, job_id, where, count="16", tile="8", name=None, queue="rail", words=("sleep", "600"), rerun=True):
    submit(player, job_id, *(("-r",) if rerun else ()), "-q", queue, "-n", count, "-R", f"span[ptile={tile}]", "-m", where,
           *(("-J", name) if name else ()), *words)


def more_requeues(player):
    trap = 'trap "echo got TERM" TERM; trap "echo got INT" INT; trap "echo got USR2" USR2; while :; do sleep 1; done'
    save = 'trap "echo got TERM; sleep 5; echo saved; exit 0" TERM; while :; do sleep 1; done'

    def fresh(job_id, *words, where="n7+2 n8+1", count="16"):
        def step():
            for job in list(player.engine.jobs.values()):
                if job.state not in ("DONE", "EXIT"):
                    player.type("lsfadmin", ["bkill", str(job.id)])
            player.pass_time(6.0)
            gangs(player, job_id, where, count, words=words or ("sleep", "600"))
            player.pass_time(5.0)
        return step
    submit(player, 20, "-J", "plain", "sleep", "600")
    player.pass_time(3.0)
    return {("brequeue_more", "2"): fresh(21), ("brequeue_more", "5"): fresh(22), ("brequeue_more", "7"): fresh(23),
            ("brequeue_more", "6"): lambda: player.pass_time(0.3), ("brequeue_more", "8"): lambda: player.pass_time(0.8),
            ("brequeue_more", "9"): fresh(24, "bash", "-c", trap, where="n7", count="8"),
            ("brequeue_more", "14"): fresh(25, "bash", "-c", save, where="n7", count="8"),
            ("brequeue_more", "17"): fresh(26, "bash", "-c", "sleep 8; true", where="n7", count="8")}


def lost_host(player):
    gangs(player, 55, "n4+4 n2+3 n6+2 n1+1", "8", "2", "A", words=("sleep", "900"))
    gangs(player, 58, "n4+2 n8+1", "4", "2", "D", words=("sleep", "900"))
    gangs(player, 56, "n4+2 n3+1", "4", "2", "B", queue="normal", words=("sleep", "900"), rerun=False)
    player.pass_time(2.6)
    gangs(player, 57, "n7+2 n4+1", "4", "2", "C", words=("sleep", "900"))
    player.pass_time(31.0)

    def until(seconds):
        def step():
            start = player.engine.cluster.hosts["n4"].lost_at
            player.engine.advance(max(player.engine.now, start + seconds))
        return step

    def until_state(job_id, state):
        def step():
            while player.state(job_id)[0] != state:
                player.pass_time(0.1)
        return step
    steps = {"4": lambda: (power(player, "n4", "off"), player.pass_time(0.3)), "10": until(18.0), "16": until_state(55, "UNKWN"),
             "31": until_state(55, "PEND"),
             "47": lambda: player.engine.elements[58][0].events.__delitem__(slice(3, 4)), "44": lambda: player.pass_time(2.0),
             "54": lambda: player.pass_time(2.0), "69": lambda: (power(player, "n4", "on"), player.pass_time(7.0))}
    title = "states (bstop, bmod -m without n5, bresume as soon as PEND)"

    def lose_cable():
        gangs(player, 59, "n5+2 n8+1", "4", "2", "E", words=("sleep", "900"))
        player.pass_time(3.0)
        cut(player, 59, "n8+2 n6+1")
    steps[title] = lose_cable
    return {("host_loss", name): step for name, step in steps.items()}


def early_requeue(player):
    for job_id, name in ((60, "P"), (61, "Q"), (62, "R")):
        gangs(player, job_id, "n4+2 n8+1", "4", "2", name, words=("sleep", "900"))
    player.pass_time(3.0)

    def until(seconds):
        return lambda: player.engine.advance(max(player.engine.now, player.engine.cluster.hosts["n4"].lost_at + seconds))
    for title, job_id in (("states of P", 60), ("states of Q", 61), ("states of R", 62)):
        player.passed[title] = (job_id, "n4")
    return {("host_loss_brequeue_early", "states of P"): until(30.0), ("host_loss_brequeue_early", "1"): lambda: (power(player, "n4", "off"), player.pass_time(1.2)),
            ("host_loss_brequeue_early", "2"): until(8.1), ("host_loss_brequeue_early", "3"): until(20.0),
            ("host_loss_brequeue_early", "7"): until(46.0),
            ("host_loss_brequeue_early", "10"): lambda: (power(player, "n4", "on"), player.pass_time(7.0))}


def passed(player, job_id, host):
    player.passed["states"] = (job_id, host)


def poked(player):
    gangs(player, 63, "n5+2 n8+1", "4", "2", "K", words=("sleep", "900"))
    player.pass_time(3.0)

    def unknown():
        while player.state(63)[0] != "UNKWN":
            player.pass_time(0.1)
    return {("host_loss_poke", "1"): lambda: (power(player, "n5", "off"), player.pass_time(1.0)), ("host_loss_poke", "2"): unknown,
            ("host_loss_poke", "states"): lambda: (player.pass_time(6.0), passed(player, 63, "n5"))}


def cut(player, job_id, hosts, times=1):
    """n5 loses its cable; as soon as the job is PEND it is planned again, as often as in the recording."""
    player.last_job = job_id
    power(player, "n5", "cut")
    watched = player.engine.enter

    def plan():
        player.expect("lsfadmin", ["badmin", "hclose", "n5"])
        for argv in [["bstop", str(job_id)], ["bmod", "-m", hosts, str(job_id)], ["bresume", str(job_id)]] * times:
            player.expect("lsfadmin", argv)

    def enter(job, state):
        watched(job, state)
        if job.id == job_id and state == "PEND" and player.engine.enter is enter:
            player.engine.enter = watched
            player.engine.at(player.engine.now + 0.1, plan)
    player.engine.enter = enter


def hooks(player):
    """The queue's pre-exec command fails with 1, then works, then fails with 99."""
    pre_exec, hosts = player.engine.runner.pre_exec, player.engine.cluster.hosts
    player.engine.runner.outcomes = {7: [2], 8: [75, 0], 9: [99, 0], 10: [76]}
    player.engine.runner.failing_post_exec = {8, 9}   # as recorded
    return {("queue_hooks", "7"): lambda: player.pass_time(0.7), ("queue_hooks", "9"): lambda: pre_exec.update(starter=1),
            ("queue_hooks", "10"): lambda: (setattr(hosts["n8"], "closed", True), player.pass_time(2.0)),   # then it took n7
            ("queue_hooks", "after PRE_EXEC succeeds"): lambda: (pre_exec.clear(), player.pass_time(6.0)),
            ("queue_hooks", "12"): lambda: pre_exec.update(starter=99)}


def health(player):
    submit(player, 16, "-r", "-q", "rail", "-n", "4", "-R", "span[ptile=2]", "-m", "n7+2 n8+1", "sleep", "900")
    player.pass_time(4.0)
    return {}


def cable(player):
    gangs(player, 29, "n5+2 n6+1", "4", "2", "E", words=("bash", "-c", "while :; do date >>/home/alice/E.$(hostname); sleep 1; done"))
    player.pass_time(3.0)

    return {("cable_cut_duplicate", "states"): lambda: cut(player, 29, "n6+2 n1+1", times=7),
            ("cable_cut_duplicate", "1"): lambda: (power(player, "n5", "on"), player.pass_time(46.0)),
            ("cable_cut_duplicate", "2"): lambda: player.pass_time(3.1)}


def holds(player):
    def free():
        for job in list(player.engine.jobs.values()):
            if job.state not in ("DONE", "EXIT"):
                player.type("lsfadmin", ["bkill", str(job.id)])
        player.pass_time(1.0)
    steps = {name: free for name in ("3", "7", "10", "19", "22", "24")}
    hosts = player.engine.cluster.hosts
    orders = lambda n8: setattr(hosts["n8"], "order", n8)   # the engine sorts by load; n8 was the busiest at first
    steps["1"] = lambda: orders(0)
    steps["4"] = lambda: (orders(8), player.pass_time(3.0))
    inactive = lambda: (free(), setattr(player.engine.cluster.queues["closed"], "active", False))
    return {("hold_designs", name): step for name, step in {**steps, "19": inactive}.items()}


SCENARIOS = (
    (parking, ("parking_queue_design", "parking_queue_more"), {}),
    (many_jobs, ("bjobs", "bmod_bstop_bresume_bswitch", "brequeue"), {}),
    (more_requeues, ("brequeue_more",), {}),
    (lambda player: {}, ("bsub",), {}),
    (esubs, ("bsub_esub",), {}),
    (mandatory, ("mandatory_esub",), {}),
    (master_esub, ("esub_master",), {}),
    (administration, ("badmin",), {"queues": [row for row in QUEUES if row["name"] != "gangrun"]}),
    (queues_and_hosts, ("hosts_and_load",), {"queues": [row for row in QUEUES if row["name"] != "gangrun"]}),
    (holds, ("hold_designs",), {}),
    (lost_host, ("host_loss",), {}),
    (early_requeue, ("host_loss_brequeue_early",), {}),
    (hooks, ("queue_hooks",), {}),
    (lambda player: {}, ("job_starter_more",), {}),
    (health, ("elim_health",), {}),
    (poked, ("host_loss_poke",), {}),
    (cable, ("cable_cut_duplicate",), {}),
)


# "Loss of a host" as measured on five configurations: the timing that differs from the recommended one (the engine's own defaults
# for what the recorder did not set), then seconds after the power-off of the first host of a rerunnable job: lsload unavail,
# UNKWN, PEND; and after brequeue -H of a job: PSUSP, RUN. Finally the tolerance for the double.
TIMINGS = {
    "stock": ({"EXINTERVAL": 15, "HOST_INACTIVITY_LIMIT": 5, "RETRY_LIMIT": 2, "MBD_SLEEP_TIME": 10, "SBD_SLEEP_TIME": 7,
               "LSB_MBD_CONNTIMEOUT": 3}, (100, 115), (121, 136), (143, 147), (7, 13), (26, 30), 10),
    "ELIM_POLL_INTERVAL 2.5": ({"ELIM_POLL_INTERVAL": 2.5, "LSB_MBD_CONNTIMEOUT": 3}, (37, 37), (53, 54), (58, 58), (2.8, 2.8), (6.7, 6.7), 4),
    "recommended": ({}, (15, 18), (27, 33), (32, 38), (1.9, 3.4), (6.9, 8.4), 4),
    "HOST_INACTIVITY_LIMIT 3": ({"HOST_INACTIVITY_LIMIT": 3}, (20, 21), (30, 33), (37, 37), (3.2, 3.6), (8.4, 8.4), 6),
    "RETRY_LIMIT 0": ({"RETRY_LIMIT": 0, "MBD_SLEEP_TIME": 1, "SBD_SLEEP_TIME": 1, "MAX_SBD_FAIL": 2, "JOB_TERMINATE_INTERVAL": 1,
                       "LSB_MBD_CONNTIMEOUT": 1}, (10, 13), (18, 28), (32, 33), (1.4, 1.9), (4.4, 4.7), 10),
}


def lose_and_requeue(player, phase):
    """The five times of TIMINGS, for a power loss at this phase of an exchange of the lims."""
    gangs(player, 1, "n4+2 n2+1")
    player.pass_time(60 + phase)
    began, host, seen = player.engine.now, player.engine.cluster.hosts["n4"], []
    power(player, "n4", "off")
    for reached in (lambda: host.load == "unavail", lambda: player.state(1)[0] == "UNKWN", lambda: player.state(1)[0] == "PEND"):
        while not reached() and player.engine.now < began + 600:
            player.pass_time(0.1)
        seen.append(player.engine.now - began)
    player.expect("lsfadmin", ["bmod", "-m", "n3+2 n2+1", "1"])
    player.pass_time(60)
    began = player.engine.now
    player.expect("lsfadmin", ["brequeue", "-H", "1"])
    for state in ("PSUSP", "RUN"):
        while player.state(1)[0] != state and player.engine.now < began + 600:
            player.pass_time(0.1)
        seen.append(player.engine.now - began)
        if state == "PSUSP":
            player.expect("lsfadmin", ["bresume", "1"])
    return seen


def left_out(folder):
    """{recording: {section: reason}}"""
    return json.loads((folder / "left_out.json").read_text())
