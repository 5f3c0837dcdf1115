"""Replays recordings of the engine (recorded/*.txt, format in recorded/README) with the double on the virtual clock.

Unavoidable differences are masked on both sides: times, process ids, CPU times and load averages (their columns stay). Job ids
match: before each submission the double gets the id that the engine assigned.
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import client
import commands
import model
from pretend import Pretend
from state import Engine

FOLDER = pathlib.Path(__file__).resolve().parent / "recorded"
DAY = re.compile(r"(?:Sun|Mon|Tue|Wed|Thu|Fri|Sat) [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d")
MASKS = ((DAY, "<day>"), (re.compile(r"[A-Z][a-z]{2} [ \d]\d \d\d:\d\d(:\d\d \d+ (?=[36 4]))?"), "<minute>"),
         (re.compile(r"\(Pid \d+\)"), "(Pid)"), (re.compile(r"(Execution Pid |unication Pid )<\d+>"), "<pid>"),
         (re.compile(r"CPU time used is \d+\.\d"), "CPU time used is N"), (re.compile(r"<day> 20\d\d"), "<day> year"),
         (re.compile(r"\d\d/\d\d-\d\d:\d\d:\d\d"), "<moment>"), (re.compile(r"<minute>\d* \d+ 4 22"), "<minute> pid 4 22"))
LOADS = ("r15s", "r1m", "r15m", "ut", "pg", "io", "ls", "it", "tmp", "swp", "mem")
SUMMARY = "  PEND     PSUSP    RUN "


class Item:
    """A section of a recording: a command ("argv"), a time line ("states") or a text ("title" and "lines")."""

    def __init__(self, title):
        self.title = title
        self.number = title.split()[0] if title.split()[:1] and title.split()[0].isdigit() else ""
        self.argv, self.env, self.stdin, self.exit, self.user = None, {}, "", 0, ""
        self.seconds, self.out, self.err, self.lines, self.states = 0.0, "", "", [], None
        self.notes = []      # "# …" lines after it

    @property
    def name(self):
        return self.number or self.title


def read(path):
    items, item, into = [Item("start")], None, None
    item = items[0]
    for line in path.read_text(encoding="utf-8").split("\n"):
        if line.startswith("==== "):
            item = Item(line[5:].strip())
            items.append(item)
            into = "lines"
        elif line.startswith("#"):
            item.notes.append(line[1:].strip())
        elif line.startswith("|"):
            if into == "out":
                item.out += line[1:] + "\n"
            elif into == "err":
                item.err += line[1:] + "\n"
            else:
                item.lines.append(line[1:])
        elif line == "(no newline at the end)":
            if into == "err":
                item.err = item.err[:-1]
            else:
                item.out = item.out[:-1]
        else:
            key, _, value = line.partition(":")
            value = value.strip()
            if key == "user":
                item.user = value.split("@")[0]
            elif key == "env" and "=" in value:
                name, _, text = value.partition("=")
                item.env[name] = text
            elif key in ("argv", "stdin"):
                setattr(item, key, json.loads(value))
            elif key == "exit":
                item.exit = int(value)
            elif key == "seconds":
                item.seconds = float(value)
            elif key == "stdout":
                into = "out"
            elif key == "stderr":
                into = "err"
    for item in items:
        if item.argv is None and "states" in item.title and item.lines:
            try:
                item.states = [tuple(one) for one in json.loads(item.lines[0])]
            except (ValueError, TypeError):
                pass
    return items


def mask(text):
    """The same text for two runs that differ only in times and loads."""
    lines, columns, rows, masked, after_summary = text.split("\n"), [], [], [], False
    for line in lines:
        if "r15s" in line and "loadSched" not in line or line.startswith("HOST_NAME") and "status" in line:
            columns = [(match.end(), match.group()) for match in re.finditer(r"\S+", line)]
        elif columns and (re.match(r"\S+\s+(ok|unavail)\b", line) or line.startswith(" Total")):
            ends = {end for end, name in columns if name in LOADS}
            line = re.sub(r"\S+", lambda match: "#".rjust(match.end() - match.start()) if match.end() in ends else match.group(), line)
            if line[:1] != " ":
                rows.append(line)     # lsload sorts by load
                continue
        if not line.strip():
            columns = []
        if after_summary:
            line = re.sub(r"\d+", "N", line).replace(" ", "")
        after_summary = line.startswith(SUMMARY) or line.startswith("JOBID   USER    JOB_NAME  PEND")
        masked.append(line)
    text = "\n".join(masked + sorted(rows))
    for pattern, instead in MASKS:
        text = pattern.sub(instead, text)
    return text


def unwrapped(text):
    """badmin's histories wrap their lines after 79 columns, some after 80."""
    return text.replace("\n" + " " * 21, "").replace(" ", "")


def without_older(text, known):
    """A listing of bjobs without the jobs that ran before the recording began."""
    lines, keep = [], True
    for line in text.split("\n"):
        if line[:1].isdigit():
            keep = int(line.split()[0].split("[")[0]) in known
        elif not line.startswith(" " * 20):
            keep = True
        if keep:
            lines.append(line)
    return "\n".join(lines)


class Player:
    """A cluster on the virtual clock, and the commands of its users."""

    def __init__(self, keys=None, queues=None):
        rows = queues or QUEUES
        self.folder = tempfile.TemporaryDirectory(prefix="lsf_double.")
        self.probe = pathlib.Path(self.folder.name)
        (self.probe / "sbin").mkdir()
        keys = {"queues": rows, "first_request_is_administrators": False, "clock": "virtual", "run": False, **(keys or {})}
        self.engine = Engine(model.Cluster(keys), 1795310000.0)
        self.engine.runner = Pretend(self.engine, 0.1)
        self.path = "/opt/lsf/bin:/opt/lsf/sbin:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"
        self.user = ""
        self.esub_errors = ""
        self.last_job = 0
        self.passed = {}     # title of a time line -> (job id, host whose loss starts its time)

    # The two interfaces of client.Server and of starting an esub, without a socket.
    def ask(self, request, _descriptors=()):
        if request["command"] == "settings":
            return {"mandatory_esub": self.engine.cluster.keys["mandatory_esub"], "commandname": True, "bindir": "/opt/lsf/bin",
                    "serverdir": str(self.probe / "sbin"), "envdir": "/opt/lsf/etc", "now": self.engine.now}
        if request["command"] == "submit":
            home = "/root" if self.user == "root" else f"/home/{self.user}"
            request["spec"].update(uid=-1, gid=-1, home=home, cwd=home, env=request["environment"])
        return commands.serve(self.engine, {**request, "user": self.user})

    def _esub(self, words, **options):
        done = subprocess.run(words, **options, stderr=subprocess.PIPE, text=True)   # pylint: disable=subprocess-run-check
        self.esub_errors += done.stderr
        return done

    def type(self, user, argv, env=None, stdin=""):
        """(exit status, standard output, standard error)"""
        self.user, self.esub_errors = user, ""
        command, words = argv[0], list(argv[1:])
        env = dict(env or {})
        if command == "env":
            while words and "=" in words[0]:
                name, _, value = words.pop(0).partition("=")
                env[name] = value
            command = words.pop(0)
        if command in ("bsub", "bmod"):
            environment = {"HOME": f"/home/{user}", "USER": user, "PATH": self.path, "PROBE": str(self.probe), **env}
            answer, _ = client.submit(self, command, words, environment, "/", lambda: stdin, self._esub)
        else:
            answer = commands.serve(self.engine, {"command": command, "argv": words, "user": user, "env": env})
        self.engine.advance(self.engine.now + answer.get("seconds", 0.0))
        return answer["exit"], answer["out"], self.esub_errors + answer["err"]

    def expect(self, user, argv, **more):
        """A step that prepares a recording; it must succeed."""
        status, out, err = self.type(user, argv, **more)
        if status:
            sys.exit(f"lsf double: {argv}: exit status {status}: {err}")
        return out

    def esub_runs(self):
        path = self.probe / "runs"
        return path.read_text().count("\n") if path.exists() else 0

    def pass_time(self, seconds):
        self.engine.advance(self.engine.now + seconds)

    def state(self, job_id, with_hosts=True):
        jobs = self.engine.elements.get(job_id, [])
        if not jobs:
            return ("gone",)
        status, out, _ = self.type("lsfadmin", ["bjobs", "-w", "-a", str(job_id)], {"LSB_SHORT_HOSTLIST": "1"})
        words = out.split("\n")[1].split()
        return (words[2], words[5]) if with_hosts and status == 0 else (words[2],)

    def time_line(self, job_id, recorded, tolerance):
        """Watches the job like the recording; returns the difference, or "". Each state in order, its time within tolerance."""
        with_hosts = len(recorded[0]) > 2
        began, seen = self.engine.now, []
        while self.engine.now - began <= recorded[-1][0] + tolerance:
            now = self.state(job_id, with_hosts)
            if not seen or seen[-1][1:] != now:
                seen.append((round(self.engine.now - began, 1), *now))
            if seen[-1][1:] == recorded[-1][1:] and len(seen) >= len(recorded) and self.engine.now - began >= recorded[-1][0]:
                break
            self.pass_time(0.1)
        return self.compared(seen, recorded, tolerance)

    def history(self, job_id, began, recorded, tolerance):
        """The same for the past, in seconds since began."""
        job = self.engine.elements[job_id][0]
        before = [state for when, state in job.states if when <= began][-1:]
        seen = [(0.0, state) for state in before] + [(round(when - began, 1), state) for when, state in job.states if when > began]
        return self.compared(seen[:len(recorded)], recorded, tolerance)

    @staticmethod
    def compared(seen, recorded, tolerance):
        words = [one[1:] for one in recorded]
        if [one[1:] for one in seen] != words:   # the recorder missed states shorter than its interval
            long = [one for place, one in enumerate(seen) if place + 1 == len(seen) or seen[place + 1][0] - one[0] > 0.15]
            seen = long if [one[1:] for one in long] == words else seen
        if [one[1:] for one in seen] != words:
            return f"states {seen}, recorded {recorded}"
        for mine, other in zip(seen, recorded):
            if abs(mine[0] - other[0]) > tolerance:
                return f"{mine[1]} after {mine[0]} s, recorded after {other[0]} s; {seen}"
        return ""


QUEUES = [
    {"name": "gangrun", "priority": 45, "users": ["lsfadmin"], "rerunnable": True, "description": "only the administrator may put jobs here"},
    {"name": "rail", "priority": 40, "rerunnable": True, "description": "managed gang jobs"},
    {"name": "railx", "priority": 40, "rerunnable": True, "res_req": "select[planned>0]", "description": "jobs that cannot start by themselves"},
    {"name": "starter", "priority": 35, "rerunnable": True, "description": "starter, pre, requeue", "pre_exec": "/home/lsfadmin/qpre",
     "post_exec": "/home/lsfadmin/qpost", "job_starter": "/home/lsfadmin/starter", "requeue_exit_values": ["99", "75", "EXCLUDE( 76 )"]},
    {"name": "normal", "priority": 30, "description": "any job"},
    {"name": "closed", "priority": 20, "description": "for tests of an inactive queue"},
]
