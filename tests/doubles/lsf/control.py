"""Requests of users and administrators to mbatchd. Each function executes one or raises Refused with the engine's message."""
import re

import dispatch
import loss
import resreq
from model import STARTED, Job

NEVER = 4294967294   # bmod -bn leaves this start time, in the year 2106
PENDING = ("PEND", "PSUSP")
HELD = "The job was suspended by the user while pending: 1 host;"


class Refused(Exception):
    """seconds: how long the command takes to report it."""

    def __init__(self, text, seconds=0.0):
        super().__init__(text)
        self.seconds = seconds


def may_use(engine, user, queue):
    """A fault of the engine: the first such check after mbatchd starts or is reconfigured treats the user as an administrator."""
    trusted, engine.trusts_next = engine.trusts_next, False
    if queue.users is None or "all" in queue.users or user in queue.users or trusted:
        return True
    return engine.cluster.is_administrator(user)


def _queue(engine, user, name):
    queue = engine.cluster.queues.get(name)
    if queue is None:
        raise Refused(f"{name}: No such queue")
    if not may_use(engine, user, queue):
        raise Refused(f"{name}: User cannot use the queue")
    return queue


def _check_hosts(engine, words):
    names = []
    for word in words:
        name = word.partition("+")[0]
        members = engine.cluster.members(name)
        if members is None or not re.fullmatch(r"(\+\d*)?", word[len(name):]):
            raise Refused(f"{name}: Bad host name, host group name or cluster name")
        names += members
    if len(set(names)) != len(names):
        raise Refused("Too many processors requested")


def _check_size(engine, slots):
    if slots > sum(engine.cluster.hosts[name].slots for name in engine.cluster.compute):
        raise Refused("Too many processors requested")


def check_requirement(engine, text):
    try:
        resreq.parse(text, engine.known)
    except resreq.BadRequirement:
        raise Refused("Bad resource requirement syntax") from None


def check_types(changes):
    """Data from a socket may have any type."""
    for name, value in changes.items():
        wanted = Job.__dataclass_fields__[name].type
        if not isinstance(value, wanted):
            raise TypeError(f"{name}: {value!r} is no {wanted.__name__}")
        words = value if isinstance(value, list) else [*value, *value.values()] if isinstance(value, dict) else []
        if not all(isinstance(word, str) and "\0" not in word for word in words):
            raise TypeError(f"{name}: not all of it is text")


def submit(engine, user, spec):
    """spec: fields of Job, "queue" or "" for the default one, "array": [indices]. Returns the job's id and queue."""
    job_id, engine.next_id = engine.next_id, engine.next_id + 1   # a refused submission consumes its id
    spec = dict(spec)
    name = spec.pop("queue") or engine.cluster.keys["default_queue"]
    indices = spec.pop("array", None) or [0]
    check_types(spec)
    if not all(isinstance(index, int) for index in indices):
        raise TypeError(f"array: {indices!r}")
    queue = _queue(engine, user, name)
    if not queue.open:
        raise Refused(f"{name}: Queue has been closed")
    if spec.get("exclusive") and not queue.exclusive:
        raise Refused(f"{name}: Queue does not accept EXCLUSIVE jobs")
    check_requirement(engine, spec.get("res_req", ""))
    _check_hosts(engine, spec.get("hosts", []))
    _check_size(engine, spec.get("slots", 1))
    if spec.get("depend") and dispatch.depends(engine, spec["depend"]) is None:
        raise Refused(f"{spec['depend']}: Bad dependency condition syntax; the double knows done(N), ended(N) and exit(N)")
    for index in indices:
        job = Job(id=job_id, index=index, user=user, queue=name, submitted=engine.now, **spec)
        engine.event(job, _submitted(engine, job), wrapped=False)
        engine.add(job)
    return job_id, name


def _submitted(engine, job):
    import show_jobs   # pylint: disable=import-outside-toplevel  (texts depend on states, not vice versa)
    return show_jobs.submitted(engine, job, to_queue=True)


def find(engine, text):
    """The jobs of "12" or "12[3]"."""
    found = re.fullmatch(r"(\d+)(?:\[(\d+)\])?", text)
    if not found:
        return None
    jobs = engine.elements.get(int(found[1]), [])
    return [job for job in jobs if not found[2] or job.index == int(found[2])]


def permit(engine, user, job):
    if user != job.user and not engine.cluster.is_administrator(user):
        raise Refused("User permission denied")


def unfinished(job):
    if job.state in ("DONE", "EXIT"):
        raise Refused("Job has already finished")


def modify(engine, user, job, changes):
    """changes: fields of Job, possibly including "queue"."""
    permit(engine, user, job)
    unfinished(job)
    if not changes:
        return
    if job.state in STARTED:
        raise Refused("Job parameters cannot be changed now; non-repetitive job is running")
    check_types(changes)
    if "queue" in changes:
        _queue(engine, user, changes["queue"])
    check_requirement(engine, changes.get("res_req", ""))
    _check_hosts(engine, changes.get("hosts", []))
    _check_size(engine, changes.get("slots", 1))
    for name, value in changes.items():
        setattr(job, name, value)
    job.reason = "Waiting for re-scheduling after parameters have been changed: 1 host;"
    texts = []
    if "hosts" in changes:
        texts.append(f"\t\t\t Hosts change to : {''.join(job.hosts)};" if job.hosts else "\t\t\t Hosts are removed;")
    if "slots" in changes:
        texts.append(f"\t\t\t Processors change to : {job.slots};")
    engine.event(job, "\n".join(["Parameters of Job are changed:"] + texts), wrapped=False)
    engine.wake()


def switch(engine, user, job, name):
    if engine.cluster.queues.get(name) is None:
        raise Refused(f"{name}: No such queue")
    permit(engine, user, job)
    unfinished(job)
    try:
        _queue(engine, user, name)
    except Refused as refusal:
        refusal.of_queue = True
        raise
    if name == job.queue:
        return
    job.queue = name
    job.position = 0
    engine.event(job, f"Switched to Queue <{name}> by user or administrator <{user}>;")
    if job.state in STARTED:
        engine.poke(engine.first_host(job))
    engine.wake()


def _reachable(engine, job):
    """Raises an error for a request that needs the job's sbatchd, which mbatchd has already given up."""
    if job.state in ("UNKWN", "ZOMBI"):
        raise Refused("Operation is in progress", engine.timing["LSB_MBD_CONNTIMEOUT"])
    engine.poke(engine.first_host(job))


def stop(engine, user, job):
    permit(engine, user, job)
    unfinished(job)
    if job.state == "PEND":
        engine.enter(job, "PSUSP")
        job.reason = HELD
        engine.event(job, "Suspended by the user or administrator while pending;")
    elif job.state in ("RUN", "SSUSP"):
        _reachable(engine, job)
        if engine.first_host(job).power == "on":
            engine.runner.signal(job, "STOP")
            engine.enter(job, "USUSP")
            engine.event(job, "Suspended by the user or administrator;")
    elif job.state in ("UNKWN", "ZOMBI"):
        _reachable(engine, job)


def resume(engine, user, job):
    """Before a requeued job is PSUSP this is accepted but lost."""
    permit(engine, user, job)
    unfinished_or_requeued(job)
    if job.state == "PSUSP":
        engine.enter(job, "PEND")
        job.reason = "Waiting for scheduling after resumed by user: 1 host;"
        engine.event(job, "Pending: Waiting for scheduling after resumed by user: 1 host;")
        if job.requeued_held:   # measured: 3.7 to 4.9 s to RUN, while other resumed jobs take one interval
            job.not_before = engine.now + 1.5 * engine.timing["MBD_SLEEP_TIME"]
        engine.wake(job.not_before)
    elif job.state == "USUSP":
        _reachable(engine, job)
        engine.enter(job, "SSUSP")
        engine.event(job, "Suspended:  Waiting for re-scheduling after being resumed by user;")
        engine.at(engine.now + 2 * engine.timing["SBD_SLEEP_TIME"], _running_again, engine, job, job.run_number)
    elif job.state in ("UNKWN", "ZOMBI"):
        _reachable(engine, job)


def unfinished_or_requeued(job):
    if not (job.state == "EXIT" and job.requeue):
        unfinished(job)


def _running_again(engine, job, run_number):
    if job.run_number == run_number and job.state == "SSUSP":
        engine.runner.signal(job, "CONT")
        engine.enter(job, "RUN")
        engine.event(job, "Running;")


def kill(engine, user, job, remove=False):
    permit(engine, user, job)
    if remove and job.state in ("DONE", "EXIT"):
        engine.forget(job)
        return
    unfinished(job)
    if job.state in PENDING:
        engine.event(job, f"Signal <KILL> requested by user or administrator <{user}>;")
        engine.finish(job, "Exited")
        job.events.pop()
        engine.event(job, "Exited. The CPU time used is unknown;")
        return
    if remove:
        if job.state not in ("UNKWN", "ZOMBI"):
            raise Refused("Operation is in progress")
        engine.finish(job, "Exited")
        engine.forget(job)
        return
    if job.state in ("UNKWN", "ZOMBI"):
        # Refused after the time limit of the call; a non-rerunnable job ends in the meantime nevertheless.
        engine.at(engine.now + engine.timing["LSB_MBD_CONNTIMEOUT"] * 0.9, _unknown_ends, engine, job, job.run_number)
        _reachable(engine, job)
    _reachable(engine, job)
    engine.event(job, f"Signal <KILL> requested by user or administrator <{user}>;")
    if job.state in ("USUSP", "SSUSP") and engine.first_host(job).power == "on":
        engine.runner.signal(job, "CONT")
    job.requeue = ""
    engine.terminate(job)
    engine.advance(engine.now)


def _unknown_ends(engine, job, run_number):
    host = engine.first_host(job)
    if job.run_number == run_number and job.state in ("UNKWN", "ZOMBI") and host.seen == "unavail" \
            and not loss.is_rerunnable(engine, job):
        engine.finish(job, "Exited")


def signal(engine, user, job, name):
    """bkill -s: the verb of the message."""
    if name == "STOP":
        stop(engine, user, job)
        return "stopped"
    if name == "CONT":
        resume(engine, user, job)
        return "resumed"
    if name == "KILL":
        kill(engine, user, job)
        return "terminated"
    permit(engine, user, job)
    unfinished(job)
    if job.state in PENDING:
        raise Refused("Job has not started yet")
    _reachable(engine, job)
    if engine.first_host(job).power == "on":
        engine.runner.signal(job, name)
    return "signaled"


def requeue(engine, user, job, held, states=()):
    """states: of finished jobs to include, "EXIT" and "DONE" (brequeue -e, -d)."""
    permit(engine, user, job)
    target = "PSUSP" if held else "PEND"
    if job.state in PENDING:
        raise Refused("Job has not started yet")
    if job.state in ("DONE", "EXIT"):
        if job.state not in states or job.requeue:
            raise Refused("Job has already finished")
        engine.finished.pop(job.key)
        engine.event(job, "Pending: Job has been requeued;")
        engine.to_pending(job, target, HELD if held else "Requeue the job for the next run: 1 host;")
        return
    if job.ending or job.requeue:
        raise Refused("Operation is in progress")
    engine.event(job, f"Signal <REQUEUE_{target}> requested by user or administrator <{user}>;")
    job.requeue = target
    host = engine.first_host(job)
    if job.state in ("UNKWN", "ZOMBI"):
        if host.seen == "unavail":   # for a non-rerunnable job no other event is pending
            engine.at(engine.mbd_tick(engine.now + engine.timing["MBD_SLEEP_TIME"]), loss._rerun, engine, job, job.run_number)
        return
    if host.power != "on":
        engine.poke(host)
        return
    if job.state != "RUN":
        engine.runner.signal(job, "CONT")
    engine.terminate(job)


def move(engine, user, job, top):
    """btop, bbot: move to the position from the top or bottom."""
    permit(engine, user, job)
    unfinished(job)
    if job.state not in PENDING:
        raise Refused("Job has been started")
    positions = [one.position for one in engine.pending.values() if one.queue == job.queue] or [0]
    job.position = min(positions) - 1 if top else max(positions) + 1
    engine.wake()


def run_now(engine, user, job, names):
    """brun -m: starts at once, also in an inactive queue."""
    if not engine.cluster.is_administrator(user):
        raise Refused("User permission denied")
    if job.state not in PENDING:
        raise Refused("Job has been started" if job.state in STARTED else "Job has already finished")
    _, _, _, ptile, _ = resreq.parse(job.res_req, engine.known)
    left, chosen = job.slots, []
    for name in names:
        if name not in engine.cluster.hosts:
            raise Refused("Bad host name, host group name or cluster name")
        take = min(left, ptile or engine.cluster.hosts[name].slots)
        if take:
            chosen.append((name, take))
            left -= take
    if left:
        raise Refused("Not enough hosts")
    queue = engine.cluster.queues[job.queue]
    engine.start(job, chosen, resreq.combined(queue.res_req, job.res_req, True, engine.known))
