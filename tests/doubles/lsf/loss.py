"""Hosts that lose power or their cable, and return: what the daemons notice, and when.

Measured (TIMINGS in scenarios.py; N = HOST_INACTIVITY_LIMIT + RETRY_LIMIT + 1):
  the master's lim says unavail at the N-th exchange after the loss, 15 to 20 s with the recommended timing;
  mbatchd gives up the sbatchd MAX_SBD_FAIL connections after it first needed it: for a request about a job
  there, or on its own 6 s after the lim's unavail: the host is unreach, its jobs UNKWN;
  at its first cycle 4 s after both, the host is unavail and rerunnable jobs go back to PEND (PSUSP after brequeue -H).
"""
from model import STARTED

# A timer of the lims is 5 s regardless of ELIM_POLL_INTERVAL: shorter values slow the detection.
LIM_TIMER = 5.0
GIVING_UP = 4.0
UNASKED = 6.0   # from the lim's unavail to mbatchd's own first call of the sbatchd


def exchange(timing):
    slow = max(1.0, LIM_TIMER / timing["ELIM_POLL_INTERVAL"])
    return timing["EXINTERVAL"] * slow


def switch(engine, host, power):
    """Sets the host's state: power off, cable cut, or normal."""
    if power == host.power:
        return
    before, host.power = host.power, power
    host.outage += 1
    host.poked_at = 0.0
    if power == "on":
        _returns(engine, host, before)
        return
    if power == "off":
        engine.runner.host_off(host)
        for job in engine.jobs.values():
            job.copies = {run: name for run, name in job.copies.items() if name != host.name}
    if before == "on":
        host.lost_at = engine.now
    timing = engine.timing
    period = exchange(timing)
    limit = timing["HOST_INACTIVITY_LIMIT"] + timing["RETRY_LIMIT"] + 1
    last = engine.origin + int((engine.now - engine.origin) / period) * period   # the last exchange it took part in
    engine.at(max(engine.now, last + limit * period), _lim_unavail, engine, host, host.outage)


def _patience(engine):
    """When mbatchd gives up a host that both daemons have lost: 4 s as measured, or one interval if longer."""
    return engine.mbd_tick(engine.now + max(GIVING_UP, engine.timing["MBD_SLEEP_TIME"]))


def _lim_unavail(engine, host, outage):
    if host.outage != outage:
        return
    host.load = "unavail"
    if host.seen == "unreach":
        engine.at(_patience(engine), _given_up, engine, host, outage)
    elif not host.poked_at:
        engine.at(engine.now + UNASKED, poke, engine, host)


def poke(engine, host):
    if host.power == "on" or host.poked_at:
        return
    host.poked_at = engine.now
    patience = engine.timing["MAX_SBD_FAIL"] * engine.timing["LSB_MBD_CONNTIMEOUT"]
    engine.at(engine.now + patience, _unreach, engine, host, host.outage)


def first_jobs(engine, host):
    """The started jobs for which this is the first host."""
    jobs = [engine.jobs[key] for key in list(host.jobs)]
    return [job for job in jobs if job.exec_hosts[0][0] == host.name and job.state in STARTED]


def _unreach(engine, host, outage):
    if host.outage != outage:
        return
    host.seen = "unreach"
    for job in first_jobs(engine, host):
        engine.event(job, "Unknown; unable to reach the execution host;")
        if job.requeue and job.state != "UNKWN":
            # It was requested while bjobs said RUN: mbatchd considers the job ended. The work is lost.
            engine.event(job, "Termination request issued; but unable to reach the execution host;")
            engine.finish(job, "Exited")
            job.events.pop()
        elif job.killed:
            engine.finish(job, "Exited")
        else:
            engine.enter(job, "UNKWN")
    if host.load == "unavail":
        engine.at(_patience(engine), _given_up, engine, host, outage)


def _given_up(engine, host, outage):
    if host.outage != outage:
        return
    host.seen = "unavail"
    early = host.poked_at < host.lost_at + UNASKED * 2   # noticed before the lim did: ZOMBI was observed in between
    for job in first_jobs(engine, host):
        if job.state == "UNKWN" and (is_rerunnable(engine, job) or job.requeue):
            zombie = early and job.requeue
            if zombie:
                engine.enter(job, "ZOMBI")
            engine.at(engine.now + (1.0 if zombie else 0.5), _rerun, engine, job, job.run_number)
        elif job.state == "UNKWN":
            engine.started[job.key] = engine.started.pop(job.key)   # observed: it moves to the end of the list
    engine.wake()


def is_rerunnable(engine, job):
    return job.rerun or engine.cluster.queues[job.queue].rerunnable


def _rerun(engine, job, run_number):
    if job.run_number != run_number or job.state not in ("UNKWN", "ZOMBI"):
        return
    host = engine.first_host(job)
    rerun = is_rerunnable(engine, job)
    if not rerun:
        engine.finish(job, "Exited")
        return
    if host.power == "cut":
        job.copies[job.run_number] = host.name   # its processes keep running there
    held = job.requeue == "PSUSP"
    engine.event(job, "Execution host unavailable; job is killed;")
    engine.event(job, "Pending: Job has been requeued;")
    engine.to_pending(job, "PSUSP" if held else "PEND", "The job was suspended by the user while pending: 1 host;" if held
                      else "Requeue the job for the next run: 1 host;")
    job.requeued_held = held
    job.lost_copy = host.name


def _returns(engine, host, before):
    outage = host.outage
    engine.at(engine.now + exchange(engine.timing), _lim_ok, engine, host, outage)
    when = engine.mbd_tick(engine.now + exchange(engine.timing) + 0.5)
    engine.at(when, _reachable, engine, host, outage, before)


def _lim_ok(engine, host, outage):
    if host.outage == outage:
        host.load = "ok"


def _reachable(engine, host, outage, before):
    if host.outage != outage:
        return
    host.seen = "ok"
    for job in first_jobs(engine, host):
        if before == "off":          # sbatchd has started and finds no such process
            if is_rerunnable(engine, job):
                engine.enter(job, "UNKWN")
                _rerun(engine, job, job.run_number)
            else:
                engine.finish(job, "Exited")
        elif job.ending:
            job.ending = False
            engine.process_ended(job.key, job.run_number, job.status)
        elif job.state in ("UNKWN", "ZOMBI"):
            engine.enter(job, "RUN")
    if before == "off":
        _old_copies(engine, host)
    engine.wake()


def _old_copies(engine, host):
    """A starting sbatchd kills the processes of jobs that now run elsewhere, and records this in their history."""
    for job in engine.jobs.values():
        if job.lost_copy == host.name:
            engine.event(job, "sbatchd startup; kill ZOMBIE job. The CPU time used is unknown;")
            job.lost_copy = ""


def restart_sbatchd(engine, host):
    """badmin hrestart: about 3 s later there is no old copy on the host."""
    if host.power == "on":
        engine.at(engine.now + 1.5 * engine.timing["SBD_SLEEP_TIME"], _restarted, engine, host, host.outage)


def _restarted(engine, host, outage):
    if host.outage != outage:
        return
    for job in engine.jobs.values():
        for run_number, name in list(job.copies.items()):
            if name == host.name:
                engine.runner.kill_copy(job, run_number)
                job.copies.pop(run_number, None)
    _old_copies(engine, host)


def set_index(engine, host, name, value):
    """Sets a new value of the elim: the lim shows it within 8 s, mbatchd acts on it within 20 s."""
    if name not in host.indices:
        raise KeyError(name)
    engine.at(engine.now + 1.2 * exchange(engine.timing), _shown_index, engine, host, name, value)


def _shown_index(engine, host, name, value):
    host.indices[name] = value
    engine.at(engine.now + 2.1 * exchange(engine.timing), _judge_index, engine, host)


def _judge_index(engine, host):
    rows = engine.cluster.indices
    host.busy = any(one.get("loadSched") is not None and host.indices[name] < one["loadSched"] for name, one in rows.items())
    engine.wake()
