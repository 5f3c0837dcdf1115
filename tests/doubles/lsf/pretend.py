"""Jobs that are only states, for the virtual clock and for ten thousand of them: the effect of a command line is derived from its
text, as far as tests need it: "sleep N", "exit N", "true", "false", and traps that catch a signal or end the job.
"""
import re
import signal

SLEEP = re.compile(r"\bsleep\s+(\d+(?:\.\d+)?)")
EXIT = re.compile(r"\bexit\s+(\d+)")
TRAP = re.compile(r"""trap\s+(["'])(.*?)\1\s+((?:[A-Z0-9]+\s*)+)""")


class Pretend:
    def __init__(self, engine, duration):
        self.engine = engine
        self.duration = duration
        self.pids = 100
        self.ends = {}      # job key -> (run number, when it ends on its own, wait status)
        self.stopped = {}   # job key -> seconds left
        self.outcomes = {}  # job id -> exit statuses of its runs, set by tests
        self.pre_exec = {}  # queue -> exit status of its pre-exec
        self.failing_post_exec = set()   # ids of jobs whose post-exec fails

    def start(self, job, host):
        del host
        self.pids += 1
        failure = self.pre_exec.get(job.queue, 0)
        if self.engine.has_pre_exec(job):
            self.engine.at(self.engine.now + (0.1 if failure else 0.0), self.engine.pre_exec_ended, job.key, job.run_number, failure)
        if failure:
            return self.pids
        command = job.script or job.command
        traps = TRAP.sub("", command)
        code = EXIT.search(traps)
        status = int(code[1]) << 8 if code else (1 << 8 if traps.strip() == "false" else 0)
        if self.outcomes.get(job.id):
            status = self.outcomes[job.id].pop(0) << 8
        seconds = sum(float(one) for one in SLEEP.findall(traps)) or self.duration
        self._ends_at(job, self.engine.now + (1e9 if "while :" in traps else seconds), status)
        return self.pids

    def post_exec(self, job, host):
        del host
        self.engine.at(self.engine.now, self.engine.post_exec_ended, job.key, job.run_number, int(job.id in self.failing_post_exec))

    def _ends_at(self, job, when, status):
        self.ends[job.key] = (job.run_number, when, status)
        self.engine.at(when, self._end, job, job.run_number, when)

    def _end(self, job, run_number, when):
        if self.ends.get(job.key, (0, 0, 0))[:2] == (run_number, when):
            status = self.ends.pop(job.key)[2]
            self.engine.process_ended(job.key, run_number, status)

    def signal(self, job, name):
        if job.key not in self.ends or self.ends[job.key][0] != job.run_number:
            return
        _, when, status = self.ends[job.key]
        if name == "STOP":
            self.stopped[job.key] = when - self.engine.now
            self.ends[job.key] = (job.run_number, float("inf"), status)
        elif name == "CONT":
            if job.key in self.stopped:
                self._ends_at(job, self.engine.now + self.stopped.pop(job.key), status)
        else:
            self._deadly(job, name)

    def _deadly(self, job, name):
        for found in TRAP.finditer(job.script or job.command):
            if name in found[3].split() and name != "KILL":
                code = EXIT.search(found[2])
                if code:
                    wait = sum(float(one) for one in SLEEP.findall(found[2]))
                    self._ends_at(job, self.engine.now + wait, int(code[1]) << 8)
                return
        self._ends_at(job, self.engine.now, getattr(signal, f"SIG{name}", signal.SIGTERM).value)

    def host_off(self, host):
        for key in host.jobs:
            if self.engine.jobs[key].exec_hosts[0][0] == host.name:
                self.ends.pop(key, None)

    def kill_copy(self, job, run_number):
        if self.ends.get(job.key, (0,))[0] == run_number:
            self.ends.pop(job.key)

    def output(self, job):
        """Its output for bpeek: unknown."""
        del job
