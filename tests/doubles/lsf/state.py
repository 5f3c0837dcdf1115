"""The engine as a state machine over an external time: advance(t) executes everything due until t.

Delays follow the recorded time lines: mbatchd examines its jobs on a grid of MBD_SLEEP_TIME, each sbatchd its processes on one of
SBD_SLEEP_TIME. The runner (pretend.py or processes.py) starts and signals processes, and reports their ends by process_ended.
Requests of users are in control.py, loss of hosts in loss.py.
"""
import heapq
import math
import os

import dispatch
from model import STARTED

KEPT = 20000  # finished jobs; the oldest are forgotten, as after CLEAN_PERIOD
GRACE = 0.5   # events less than this before a daemon's cycle are seen by the next one


class Engine:
    def __init__(self, cluster, now):
        self.cluster = cluster
        self.timing = cluster.timing
        self.origin = self.now = now
        self.jobs = {}          # (id, index) -> Job
        self.elements = {}      # id -> [Job]
        self.pending = {}       # key -> Job; dispatch.order defines the order of the queues
        self.started = {}       # key -> Job, in the order of their starts
        self.finished = {}      # key -> Job, in the order of their ends
        self.next_id = 1
        self.history = []       # (time, text): badmin hist
        self.runner = None
        self.known = frozenset(set(cluster.indices) | {key for host in cluster.hosts.values() for key in host.resources})
        self.trusts_next = cluster.keys["first_request_is_administrators"]
        self.mbatchd_up = True
        self._events = []
        self._sequence = 0
        self._cycle_at = None
        self.note_start()

    def note_start(self):
        servers = len(self.cluster.compute)
        self.history.append((self.now, "mbatchd", f"mbatchd started on host <{self.cluster.keys['master']}>; cluster name "
                             f"<{self.cluster.keys['cluster']}>, {servers} server hosts, {len(self.cluster.queues)} queues."))

    # ---- time

    def at(self, when, action, *arguments):
        self._sequence += 1
        heapq.heappush(self._events, (max(when, self.now), self._sequence, action, arguments))

    def next_event(self):
        return self._events[0][0] if self._events else None

    def advance(self, until):
        while self._events and self._events[0][0] <= until:
            when, _, action, arguments = heapq.heappop(self._events)
            self.now = max(self.now, when)
            action(*arguments)
        self.now = max(self.now, until)

    def _grid(self, when, period, phase):
        return self.origin + phase + math.ceil(max(0.0, when - self.origin - phase) / period - 1e-9) * period

    def mbd_tick(self, when):
        return self._grid(when, self.timing["MBD_SLEEP_TIME"], 0.0)

    def sbd_tick(self, when, asked):
        """An sbatchd examines its jobs every SBD_SLEEP_TIME, counted from the last request that woke it."""
        period = self.timing["SBD_SLEEP_TIME"]
        return asked + max(1, math.ceil((when - asked) / period - 1e-9)) * period

    def wake(self, when=None):
        """Makes mbatchd look for jobs to start at its next cycle at or after when."""
        tick = self.mbd_tick(max(self.now + GRACE * min(1.0, self.timing["MBD_SLEEP_TIME"] / 2), when or 0.0))
        if self._cycle_at is None or tick < self._cycle_at:
            self._cycle_at = tick
            self.at(tick, self._cycle, tick)

    def _cycle(self, tick):
        if self._cycle_at != tick:
            return
        self._cycle_at = None
        if not self.mbatchd_up:
            return
        later = dispatch.cycle(self)
        if later is not None:
            self.wake(later)

    # ---- jobs

    def add(self, job):
        self.jobs[job.key] = job
        self.elements.setdefault(job.id, []).append(job)
        self.pending[job.key] = job
        self.enter(job, "PSUSP" if job.hold else "PEND")
        if job.hold:
            job.reason = "The job was suspended by the user while pending: 1 host;"
        self.wake()

    def forget(self, job):
        for where in (self.jobs, self.pending, self.started, self.finished):
            where.pop(job.key, None)
        self.elements[job.id].remove(job)
        if not self.elements[job.id]:
            del self.elements[job.id]

    def enter(self, job, state):
        job.state = state
        job.states.append((self.now, state))

    def event(self, job, text, wrapped=True):
        job.events.append((self.now, text, wrapped))

    def start(self, job, chosen, effective):
        """Starts it on [(host name, slots)]; its processes run on the first."""
        self.pending.pop(job.key)
        self.started[job.key] = job
        job.exec_hosts, job.effective, job.started = chosen, effective, self.now
        job.run_number += 1
        job.requeue, job.ending, job.killed, job.pid, job.requeued_held = "", False, False, 0, False
        job.home_told = False
        for name, slots in chosen:
            host = self.cluster.hosts[name]
            host.used += slots
            host.jobs[job.key] = slots
        names = [name for name, slots in chosen for _ in range(slots)]
        self.enter(job, "RUN")
        where = "".join(f" <{name}>" for name in names)
        self.event(job, f"Dispatched to{where};" if len(names) == 1
                   else f"Dispatched to {len(names)} Hosts/Processors{where};", wrapped=False)
        host = self.cluster.hosts[chosen[0][0]]
        if host.power != "on":   # mbatchd does not know yet that the host is gone
            self.poke(host)
            return
        job.pid = self.runner.start(job, host)
        self.event(job, f"Starting (Pid {job.pid});")
        if not self.has_pre_exec(job):
            self._running(job)
        if job.run_limit:
            self.at(self.now + job.run_limit, self._run_limit, job, job.run_number)

    def has_pre_exec(self, job):
        return bool(job.pre_exec or self.cluster.queues[job.queue].pre_exec)

    def _running(self, job):
        job.home_told = True
        self.event(job, f"Running with execution home <{job.home}>, Execution CWD <{job.cwd}>, Execution Pid <{job.pid}>;")

    def pre_exec_ended(self, key, run_number, code):
        """Called by the runner: the pre-exec commands of this run have ended. The job was RUN during them; it continues, waits
        for the next cycle, or with 99 has ended.
        """
        job = self.jobs.get(key)
        if job is None or run_number != job.run_number or job.state not in STARTED or self.first_host(job).power != "on":
            return
        if code == 0:
            self._running(job)
        elif job.requeue or job.killed:
            self.process_ended(key, run_number, code << 8)
        elif code == 99:   # regardless of REQUEUE_EXIT_VALUES
            job.status = code << 8
            self.finish(job, f"Exited with exit code {code}. The CPU time used is 0.0 seconds")
        else:
            whose = "queue" if self.cluster.queues[job.queue].pre_exec else "job"   # the second is not recorded
            reason = f"The {whose}'s pre-exec command exited with non-zero status: 1 host;"
            self.event(job, f"Pending: {reason}(exit code {code})")
            self.to_pending(job, "PEND", reason)

    def _run_limit(self, job, run_number):
        if job.run_number == run_number and job.state in STARTED and not job.killed:
            self.event(job, "Signal <KILL> requested by user or administrator <lsfadmin>;")
            self.terminate(job)

    def release(self, job):
        for name, slots in job.exec_hosts:
            host = self.cluster.hosts[name]
            if host.jobs.pop(job.key, None) is not None:
                host.used -= slots
        self.wake()

    def finish(self, job, text):
        """Sets DONE or EXIT permanently."""
        self.pending.pop(job.key, None)
        ran = self.started.pop(job.key, None) is not None
        if ran:
            self.release(job)
        self.finished[job.key] = job
        while len(self.finished) > KEPT:
            self.forget(next(iter(self.finished.values())))
        job.finished, job.exit_text = self.now, text
        self.enter(job, "DONE" if text.startswith("Done") else "EXIT")
        self.event(job, text + ("" if text == "Exited" else ";"))
        if ran and self.cluster.queues[job.queue].post_exec and self.first_host(job).power == "on":
            self.runner.post_exec(job, self.first_host(job))
        self.wake()   # others may depend on it

    def post_exec_ended(self, key, run_number, code):
        """Called by the runner: the post-exec command of the last run has ended. Nothing is recorded for a requeued run."""
        job = self.jobs.get(key)
        if job is not None and code != 0 and run_number == job.run_number:
            self.event(job, "Post job process failed;")

    def to_pending(self, job, state, reason):
        """Removes it from its hosts and returns it to its queue."""
        if self.started.pop(job.key, None):
            self.release(job)
        self.pending[job.key] = job
        job.reason, job.requeue, job.ending = reason, "", False
        self.enter(job, state)
        self.wake()

    def first_host(self, job):
        return self.cluster.hosts[job.exec_hosts[0][0]]

    # ---- ends of processes

    def process_ended(self, key, run_number, status):
        """Called by the runner: the processes of this run have ended with this wait status."""
        job = self.jobs.get(key)
        if job is None:
            return
        if run_number != job.run_number or job.state not in STARTED:
            job.copies.pop(run_number, None)
            return
        host = self.first_host(job)
        if host.power == "off":
            return                    # there is no sbatchd to report it
        job.status = status
        if host.power == "cut":
            job.ending = True         # reported when the cable is back, see loss.py
            return
        if job.requeue:
            job.ending = True
            self.at(self.sbd_tick(self.now + GRACE / 5, job.asked), self._shown_exit, job, run_number)
            return
        self.at_end(job)

    def at_end(self, job):
        code = os.waitstatus_to_exitcode(job.status)
        used = "The CPU time used is 0.0 seconds"
        queue = self.cluster.queues[job.queue]
        exclude = any(value.replace(" ", "") == f"EXCLUDE({code})" for value in queue.requeue_exit_values)
        if code > 0 and (exclude or str(code) in queue.requeue_exit_values) and not job.killed:
            if exclude:   # the trap: a gang that is planned on this host stays pending forever
                job.excluded.append(job.exec_hosts[0][0])
            self.event(job, "Pending: Requeued job is waiting for rescheduling: 1 host;(exit code %d)" % code)
            self.to_pending(job, "PEND", "Requeued job is waiting for rescheduling: 1 host;")
        elif code == 0:
            self.finish(job, f"Done successfully. {used}")
        elif code > 0:
            self.finish(job, f"Exited with exit code {code}. {used}")
        else:
            self.finish(job, self._signalled(-code) + used)

    @staticmethod
    def _signalled(number):
        # The end of a shell by INT or TERM is reported as its exit code, of a killed job as the signal.
        return f"Exited by signal {number}. " if number == 9 else f"Exited with exit code {128 + number}. "

    def _shown_exit(self, job, run_number):
        """sbatchd has reported the end of a job to be requeued: EXIT for a while."""
        if job.run_number != run_number or not job.ending or job.state not in STARTED:
            return
        code = os.waitstatus_to_exitcode(job.status)
        text = f"Exited with exit code {code}. " if code >= 0 else self._signalled(-code)
        self.event(job, text + "The CPU time used is 0.0 seconds;")
        self.enter(job, "EXIT")
        self.at(self.mbd_tick(self.now + GRACE), self._requeued, job, run_number)

    def _requeued(self, job, run_number):
        if job.run_number != run_number or job.state != "EXIT" or not job.requeue:
            return
        if not self.mbatchd_up:
            self.at(self.mbd_tick(self.now + GRACE), self._requeued, job, run_number)
            return
        held = job.requeue == "PSUSP"
        self.event(job, "Pending: Job has been requeued;")
        self.to_pending(job, job.requeue, "The job was suspended by the user while pending: 1 host;" if held
                        else "Requeue the job for the next run: 1 host;")
        job.requeued_held = held

    # ---- signals

    def terminate(self, job):
        """INT, then TERM, then KILL, each one sbatchd cycle after JOB_TERMINATE_INTERVAL."""
        if job.killed or job.ending:
            return
        job.killed, job.asked = True, self.now
        self._signal_again(job, job.run_number, ("INT", "TERM", "KILL"))

    def _signal_again(self, job, run_number, names):
        if job.run_number != run_number or job.state not in STARTED or job.ending:
            return
        if self.first_host(job).power == "on":
            self.runner.signal(job, names[0])
        if len(names) > 1:
            when = self.sbd_tick(self.now + self.timing["JOB_TERMINATE_INTERVAL"], job.asked)
            self.at(when, self._signal_again, job, run_number, names[1:])

    # ---- mbatchd itself

    def mbatchd(self, up):
        """Stops or starts mbatchd: the sbatchds and their jobs keep running, nothing is dispatched or requeued while it is
        down."""
        if up and not self.mbatchd_up:
            self.restart_mbatchd()
        self.mbatchd_up = up

    def restart_mbatchd(self):
        self.trusts_next = self.cluster.keys["first_request_is_administrators"]
        self.note_start()
        self.mbatchd_up = True
        self.wake()

    def poke(self, host):
        """mbatchd contacts the sbatchd of a host: if it is gone it starts to notice (loss.py)."""
        if host.power != "on" and not host.poked_at:
            import loss  # pylint: disable=import-outside-toplevel  (it depends on this module's Engine)
            loss.poke(self, host)
