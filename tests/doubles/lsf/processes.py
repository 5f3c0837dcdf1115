"""Jobs that really run: a job's command as its user, on its first host through the host's prefix.

One session and process group per run. Output is collected in DIR/spool and appended to the file of -o when the run has ended,
after the engine's report, as the engine does; output of a run that REQUEUE_EXIT_VALUES requeue is lost. Pre-exec commands run
before it in the same group, a POST_EXEC after it in a separate group. The text of a JOB_STARTER is put before the command line,
which a shell then parses: of several commands only the first runs under the starter.
"""
import contextlib
import os
import pwd
import signal
import subprocess
import time

import show_jobs

SIGNALS = {"INT": signal.SIGINT, "TERM": signal.SIGTERM, "KILL": signal.SIGKILL, "STOP": signal.SIGSTOP, "CONT": signal.SIGCONT,
           "HUP": signal.SIGHUP, "USR1": signal.SIGUSR1, "USR2": signal.SIGUSR2, "TSTP": signal.SIGTSTP, "QUIT": signal.SIGQUIT,
           "ABRT": signal.SIGABRT}
# $0 gets their result: an exit status, or 0 when the job itself starts.
PRE_EXEC = ('for pre in "$1" "$2"; do [ -z "$pre" ] || (cd /tmp && unset HOME && exec /bin/sh -c "$pre"); code=$?; '
            '[ $code -eq 0 ] || { echo $code >"$0"; exit 0; }; done; echo 0 >"$0"; shift 2; exec "$@"')
PATIENCE = 5   # seconds for operations that take milliseconds: appending a file


def become(uid, gid):
    """Command prefix to switch from root to the user; none if the server is not root."""
    if os.geteuid() != 0 or uid < 0:
        return []
    try:
        pwd.getpwuid(uid)
        groups = ["--init-groups"]
    except KeyError:
        groups = ["--clear-groups"]
    return ["setpriv", f"--reuid={uid}", f"--regid={gid}", *groups, "--"]


def on_host(host, uid, gid, cwd, words):
    """The command to run something on a host as a user: a prefix that enters a mount namespace leaves the caller's folder."""
    if host.prefix:
        words = ["/bin/sh", "-c", 'cd "$0" || cd /tmp; exec "$@"', cwd, *words]
    return [*host.prefix, *become(uid, gid), *words]


class Run:
    """The processes of one run of a job."""

    def __init__(self, process, host, paths, before):
        self.process, self.host, self.paths = process, host, paths
        self.before = before   # its pre-exec commands are still running
        self.signals = set()   # sent to it
        self.killed = False

    def ended(self):
        """Whether its first process has ended; if a signal of ours caused that, all others must have ended, too. An nsenter in
        front of the job dies of the INT that the job itself catches in order to save.
        """
        code = self.process.poll()
        if code is None or code >= 0 or self.killed or -code not in self.signals:
            return code is not None
        try:
            os.killpg(self.process.pid, 0)
        except (ProcessLookupError, PermissionError):
            return True
        return False


class Task:
    """A command of lsrun on a host; the caller's connection is closed when it ends."""

    def __init__(self, process, host, job_id):
        self.process, self.host, self.job_id = process, host, job_id
        self.orphan = False   # its caller's host lost power: nothing ends it


class Processes:
    def __init__(self, engine, folder, environment):
        self.engine = engine
        self.spool = os.path.join(folder, "spool")
        self.environment = environment   # LSF_* of every job
        self.runs = {}                   # (job key, run number) -> Run
        self.lingers = False             # a run whose end must be polled, since there is no notification
        self.tasks = {}                  # connection -> Task
        self.posts = []                  # (process, job key, run number) of post-exec commands

    def start(self, job, host):
        stem = os.path.join(self.spool, f"{int(job.submitted)}.{job.id_text}.{job.run_number}")
        paths = {"script": stem, "out": stem + ".out", "err": stem + ".err", "pre": stem + ".pre"}
        starter = self.engine.cluster.queues[job.queue].job_starter
        text = job.script or f"#!/bin/sh\n# LSBATCH: User input\n{starter + ' ' if starter else ''}{job.command}\n"
        for name, mode in (("script", 0o700), ("out", 0o600), ("err", 0o600), ("pre", 0o600)):
            with open(os.open(paths[name], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode), "w", encoding="utf-8",
                      errors="surrogateescape") as stream:
                if name == "script":
                    stream.write(text)
            if os.geteuid() == 0 and job.uid >= 0:
                os.chown(paths[name], job.uid, job.gid)
        shell = [stem] if text.startswith("#!") else ["/bin/sh", stem]
        if starter and job.script:   # a script on standard input is passed to it as one word
            shell = ["/bin/sh", "-c", f'{starter} "$0"', stem]
        if job.in_file:   # opened by the user, not by the server, which is root
            shell = ["/bin/sh", "-c", 'exec "$@" <"$0"', self.path(job, job.in_file), *shell]
        if self.engine.has_pre_exec(job):
            queue = self.engine.cluster.queues[job.queue]
            shell = ["/bin/sh", "-c", PRE_EXEC, paths["pre"], queue.pre_exec, job.pre_exec, *shell]
        environment = {**job.env, **self._of_job(job, self._job_file(job))}
        cwd = job.cwd if os.path.isdir(job.cwd) else "/tmp"
        words = on_host(host, job.uid, job.gid, cwd, shell)
        with open(paths["out"], "ab") as out, open(paths["err"], "ab") as err:
            try:
                process = subprocess.Popen(words, cwd=cwd, env=environment, stdin=subprocess.DEVNULL, stdout=out,
                                           stderr=err if job.err_file else out, start_new_session=True)
            except (OSError, ValueError) as fault:   # a missing prefix or folder
                out.write(f"{fault}\n".encode("utf-8", "surrogateescape"))
                self.engine.at(self.engine.now, self.engine.process_ended, job.key, job.run_number, 127 << 8)
                return 0
        self.runs[(job.key, job.run_number)] = Run(process, host.name, paths, self.engine.has_pre_exec(job))
        return process.pid

    def _job_file(self, job):
        """The same at each start of the job, in a folder of the user, like the one in the home: files next to it persist."""
        folder = os.path.join(os.path.dirname(self.spool), "lsbatch")
        for path, mode, owner in ((folder, 0o755, (-1, -1)), (os.path.join(folder, str(job.uid)), 0o700, (job.uid, job.gid))):
            if not os.path.isdir(path):
                os.mkdir(path)
                os.chmod(path, mode)
                if os.geteuid() == 0:
                    os.chown(path, *owner)
        index = f".{job.index}" if job.index else ""
        return os.path.join(folder, str(job.uid), f"{int(job.submitted)}.{job.id}{index}")

    def _of_job(self, job, job_file):
        names = [name for name, slots in job.exec_hosts for _ in range(slots)]
        found = {**self.environment,
                 "LSB_JOBID": str(job.id), "LSB_JOBINDEX": str(job.index), "LSB_JOBNAME": job.shown_name, "LSB_QUEUE": job.queue,
                 "LSB_HOSTS": " ".join(names), "LSB_MCPU_HOSTS": "".join(f"{name} {slots} " for name, slots in job.exec_hosts),
                 "LSB_SUB_HOST": self.engine.cluster.keys["master"], "LSB_JOBFILENAME": job_file, "LSB_CHKFILENAME": job_file,
                 "LSB_ACCT_FILE": f"/tmp/.{int(job.submitted)}.{job.id}.acct", "LSB_EXIT_PRE_ABORT": "99", "LSB_JOBEXIT_STAT": "0",
                 "LSB_TRAPSIGS": "trap # 15 10 12 2 1", "LSB_UNIXGROUP": job.env.get("LSB_UNIXGROUP", job.user), "LS_EXEC_T": "START",
                 "LS_JOBPID": str(os.getpid()), "LS_SUBCWD": job.cwd.rstrip("/") + "/", "HOME": job.home, "USER": job.user,
                 "PWD": job.cwd}
        queue = self.engine.cluster.queues[job.queue]
        if queue.job_starter:
            found["LSB_JOB_STARTER"] = queue.job_starter
        values = queue.requeue_exit_values
        if values:
            found["LSB_EXIT_REQUEUE"] = "".join(f"{value} " for value in values)
        for name, path in (("LSB_OUTPUTFILE", job.out_file), ("LSB_ERRORFILE", job.err_file)):
            if path:
                found[name] = self.path(job, path)
        return found

    @staticmethod
    def path(job, text):
        text = text.replace("%J", str(job.id)).replace("%I", str(job.index))
        return text if text.startswith("/") else os.path.join(job.cwd, text)

    def _signal(self, process, number):
        try:
            os.killpg(process.pid, number)
        except ProcessLookupError:
            pass

    def signal(self, job, name):
        run = self.runs.get((job.key, job.run_number))
        if run:
            run.signals.add(SIGNALS[name])
            run.killed = run.killed or name == "KILL"
            self._signal(run.process, SIGNALS[name])

    def kill_copy(self, job, run_number):
        run = self.runs.get((job.key, run_number))
        if run:
            run.killed = True
            self._signal(run.process, signal.SIGKILL)

    def host_off(self, host):
        """All processes there end at once; tasks that its jobs started on other hosts with lsrun continue."""
        for (key, _), run in list(self.runs.items()):
            if run.host == host.name:
                for task in self.tasks.values():
                    task.orphan = task.orphan or task.job_id == str(key[0])
                run.killed = True
                self._signal(run.process, signal.SIGKILL)
                with contextlib.suppress(subprocess.TimeoutExpired):   # reaped later
                    run.process.wait(PATIENCE)
        for task in self.tasks.values():
            if task.host == host.name:
                self._signal(task.process, signal.SIGKILL)
        self.reap()

    def _pre_exec(self, key, run_number, run):
        """The exit status of a failed command, 0 while they run and on success."""
        text = self._text(run.paths["pre"])
        run.before = not text.endswith("\n")
        code = int(text) if text.strip().isdigit() else 0
        if not run.before and code == 0:
            self.engine.pre_exec_ended(key, run_number, 0)
        return code

    def reap(self):
        """Reports each run that has ended to the engine."""
        self.lingers = False
        self._reap_posts()
        for (key, run_number), run in list(self.runs.items()):
            process, name, paths = run.process, run.host, run.paths
            ended = run.ended()
            failure = self._pre_exec(key, run_number, run) if run.before else 0
            if not ended:
                self.lingers = self.lingers or run.before or process.returncode is not None
                continue
            del self.runs[(key, run_number)]
            self._signal(process, signal.SIGKILL)   # leftovers of the job in its group
            status = process.returncode << 8 if process.returncode >= 0 else -process.returncode
            job = self.engine.jobs.get(key)
            started, queue = (job.started, job.queue) if job else (0.0, "")
            current = job is not None and run_number == job.run_number
            lost = self.engine.cluster.hosts[name].power != "on"
            if current and job.interactive:
                job.output = self._text(paths["out"])
            if failure:
                self.engine.pre_exec_ended(key, run_number, failure)
            else:
                self.engine.process_ended(key, run_number, status)
            again = current and job.state == "PEND"   # requeued by REQUEUE_EXIT_VALUES: the output is lost
            if current and not lost and not again:
                self._deliver(job, queue, status, started, name, paths)
            for path in paths.values():
                if os.path.exists(path):
                    os.unlink(path)

    def post_exec(self, job, host):
        """As the user, in /tmp of its first host; its output is discarded."""
        words = on_host(host, job.uid, job.gid, "/tmp", ["/bin/sh", "-c", self.engine.cluster.queues[job.queue].post_exec])
        environment = {**job.env, **self._of_job(job, self._job_file(job)), "LSB_JOBEXIT_STAT": str(job.status), "LS_EXEC_T": "END",
                       "PWD": "/tmp"}
        try:
            process = subprocess.Popen(words, cwd="/tmp", env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL, start_new_session=True)
        except (OSError, ValueError):
            self.engine.at(self.engine.now, self.engine.post_exec_ended, job.key, job.run_number, 127)
            return
        self.posts.append((process, job.key, job.run_number))

    def _reap_posts(self):
        for one in list(self.posts):
            process, key, run_number = one
            if process.poll() is not None:
                self.posts.remove(one)
                self.engine.post_exec_ended(key, run_number, process.returncode)

    def _deliver(self, job, queue, status, started, host, paths):
        if job.out_file:
            report = self.report(job, queue, status, started, host)
            with open(paths["script"] + ".report", "w", encoding="utf-8", errors="surrogateescape") as stream:
                stream.write(report)
            with open(paths["script"] + ".report", "ab") as stream, open(paths["out"], "rb") as out:
                stream.write(out.read())
                if job.err_file:
                    stream.write(f"\n\nPS:\n\nRead file <{self.path(job, job.err_file)}> for stderr output of this job.\n".encode())
            self._append(job, paths["script"] + ".report", job.out_file)
            os.unlink(paths["script"] + ".report")
        if job.err_file:
            self._append(job, paths["err"], job.err_file)

    def _append(self, job, source, target):
        """As the user: the server is root, and the user chose the file name."""
        with open(source, "rb") as stream:
            try:
                subprocess.run([*become(job.uid, job.gid), "/bin/sh", "-c", 'cat >>"$0"', self.path(job, target)], stdin=stream,
                               stderr=subprocess.DEVNULL, check=False, timeout=PATIENCE)
            except subprocess.TimeoutExpired:
                pass   # a file that blocks, such as a FIFO without a reader

    def report(self, job, queue, status, started, host):
        """The header of an output file, as recorded."""
        name = job.name and job.shown_name or job.command
        code = os.waitstatus_to_exitcode(status)
        administrator = self.engine.cluster.keys["administrators"][0]
        hosts = [f"<{slots}*{one}>" if slots > 1 else f"<{one}>" for one, slots in job.exec_hosts]
        if job.requeue:
            end = "Job was killed by user or admin, and will be re-queued with the same jobid.."
        elif code == 0:
            end = "Successfully completed."
        elif code > 0:
            end = f"Exited with exit code {code}."
        else:
            end = f"Exited with signal termination: {signal.strsignal(-code)}."
        clock = lambda seconds: f"{show_jobs.day(seconds)} {time.localtime(seconds).tm_year}"
        return (f"Sender: LSF System <{administrator}@{host}>\nSubject: Job {job.id_text}: <{name}> {'Done' if code == 0 else 'Exited'}\n\n"
                f"Job <{name}> was submitted from host <{self.engine.cluster.keys['master']}> by user <{job.user}>.\n"
                f"Job was executed on host(s) {hosts[0]}, in queue <{queue}>, as user <{job.user}>.\n"
                + "".join(f"{'':28}{one}\n" for one in hosts[1:])
                + f"<{job.home}> was used as the home directory.\n<{job.cwd}> was used as the working directory.\n"
                f"Started at {clock(started)}\nResults reported at {clock(self.engine.now)}\n\nYour job looked like:\n\n"
                f"{'-' * 60}\n# LSBATCH: User input\n{job.command}\n{'-' * 60}\n\n{end}\n\nResource usage summary:\n\n"
                "    CPU time   :      0.00 sec.\n\nThe output (if any) follows:\n\n")

    def output(self, job):
        """The output for bpeek, None if it is not running."""
        run = self.runs.get((job.key, job.run_number))
        if not run:
            return None
        return self._text(run.paths["out"])

    @staticmethod
    def _text(path):
        with open(path, "rb") as stream:
            return stream.read(1 << 20).decode("utf-8", "surrogateescape")

    def stop(self):
        for run in self.runs.values():
            self._signal(run.process, signal.SIGKILL)
        for process, _, _ in self.posts:
            self._signal(process, signal.SIGKILL)
        for task in self.tasks.values():
            self._signal(task.process, signal.SIGKILL)
