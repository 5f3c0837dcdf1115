"""The parts of the double's cluster: hosts, queues, jobs and the timings of the daemons, from DIR/lsf.json.

This is only data; state.py changes it. Times are seconds (float) of the engine's clock, sizes are slots.
"""
import dataclasses
import json
import re

import configuration

# The configuration for most of the transcripts, which is the recommended one. Seconds, except the counts RETRY_LIMIT,
# HOST_INACTIVITY_LIMIT and MAX_SBD_FAIL.
TIMING = {
    "MBD_SLEEP_TIME": 2.0, "SBD_SLEEP_TIME": 2.0, "JOB_TERMINATE_INTERVAL": 2.0,
    "EXINTERVAL": 5.0, "ELIM_POLL_INTERVAL": 5.0, "HOST_INACTIVITY_LIMIT": 2, "RETRY_LIMIT": 1,
    "MAX_SBD_FAIL": 3, "LSB_MBD_CONNTIMEOUT": 2.0,
}
YARD = {
    "cluster": "yard",
    "master": "ctl",
    "administrators": ["lsfadmin"],
    "version": "volclava project 2.2, Nov 22 2026",
    "conf": "",                 # a folder of the engine's own files, read first (configuration.py)
    "prefix": [],               # for hosts without their own, such as those of "conf"
    "clock": "real",            # or "virtual": only `lsf_double advance` moves it
    "time_scale": 1.0,          # seconds of the engine per real second, with the real clock
    "run": True,                # False: jobs are only states; their length comes from "sleep N"
    "duration": 0.1,            # of a job whose duration is unknown, if "run" is false
    "mandatory_esub": "",       # LSB_ESUB_METHOD of lsf.conf
    "commandname": True,        # LSB_SUB_COMMANDNAME=Y of lsf.conf
    "serverdir": "",            # LSF_SERVERDIR, the folder of esubs; empty: DIR/sbin
    "first_request_is_administrators": True,   # a fault of the engine, see may_use in control.py
    "timing": TIMING,
    "hosts": [{"name": f"n{i}", "resources": {"leaf": "lfA" if i < 5 else "lfB", "podpos": i}} for i in range(1, 9)],
    "groups": {"lfA": ["n1", "n2", "n3", "n4"], "lfB": ["n5", "n6", "n7", "n8"], "compute": ["lfA/", "lfB/"]},
    "user_groups": {"mlteam": ["alice", "bob"]},
    "indices": {"health": {"value": 100.0, "loadSched": 50.0, "loadStop": 10.0, "description": "Health score from the elim"},
                "planned": {"value": 0.0, "description": "always zero: no host satisfies planned>0"}},
    "descriptions": {"leaf": "Leaf group", "podpos": "Position in the pod"},   # of the resources of hosts
    "default_queue": "normal",
    "queues": [
        {"name": "gangrun", "priority": 45, "users": ["lsfadmin"], "rerunnable": True,
         "description": "only the administrator may put jobs here"},
        {"name": "rail", "priority": 40, "rerunnable": True, "description": "managed gang jobs"},
        {"name": "railx", "priority": 40, "rerunnable": True, "res_req": "select[planned>0]",
         "description": "jobs that cannot start by themselves"},
        {"name": "gang", "priority": 40, "rerunnable": True, "res_req": "select[planned>0]",
         "description": "gangs that wait for their placement"},
        {"name": "normal", "priority": 30, "description": "any job"},
        {"name": "closed", "priority": 20, "description": "for tests of an inactive queue"},
    ],
}
UNFINISHED = ("PEND", "PSUSP", "RUN", "USUSP", "SSUSP", "UNKWN", "ZOMBI")
STARTED = ("RUN", "USUSP", "SSUSP", "UNKWN", "ZOMBI")


@dataclasses.dataclass
class Host:
    """A host as seen by the daemons (seen, load) and its real state (power)."""
    name: str
    slots: int = 8
    resources: dict = dataclasses.field(default_factory=dict)
    prefix: list = dataclasses.field(default_factory=list)   # command prefix to start a command there, as root; empty: none
    indices: dict = dataclasses.field(default_factory=dict)  # from the elim, as shown by the lim
    closed: bool = False
    note: str = ""
    power: str = "on"        # on, off, cut: the real state, which the daemons learn late
    seen: str = "ok"         # ok, unreach, unavail: mbatchd's view
    load: str = "ok"         # ok, unavail: the master lim's view
    busy: bool = False       # an index is below loadSched
    used: int = 0            # slots of started jobs
    order: int = 0           # its position in the configuration
    jobs: dict = dataclasses.field(default_factory=dict)     # Job.key -> slots
    lost_at: float = 0.0
    outage: int = 0          # counts losses and returns, to ignore timers of an earlier one
    poked_at: float = 0.0    # when mbatchd first failed to reach its sbatchd in this outage; 0: not yet


@dataclasses.dataclass
class Queue:
    name: str
    priority: int = 30
    description: str = ""
    users: list | None = None
    hosts: list | None = None
    res_req: str = ""
    rerunnable: bool = False
    exclusive: bool = False
    requeue_exit_values: list = dataclasses.field(default_factory=list)
    pre_exec: str = ""
    post_exec: str = ""
    job_starter: str = ""
    fairshare: dict = dataclasses.field(default_factory=dict)   # user, or "default", -> shares; empty: none
    open: bool = True
    active: bool = True
    closed_by: str = ""
    note: str = ""


@dataclasses.dataclass
class Job:
    """A job or an element of an array (index > 0)."""
    id: int
    index: int
    user: str
    queue: str
    command: str                       # one line, as bjobs shows it
    submitted: float
    uid: int = -1
    gid: int = -1
    script: str = ""                   # from standard input, with its newlines; empty: runs command
    name: str = ""
    description: str = ""
    project: str = "default"
    cwd: str = "/"
    home: str = "/"
    env: dict = dataclasses.field(default_factory=dict)
    slots: int = 1
    max_slots: int = 1
    res_req: str = ""
    hosts: list = dataclasses.field(default_factory=list)    # "n4+2", as given
    rerun: bool = False
    exclusive: bool = False            # -x; as documented, not recorded
    hold: bool = False                 # -H at the submission
    out_file: str = ""
    err_file: str = ""
    in_file: str = ""
    pre_exec: str = ""
    depend: str = ""
    run_limit: int = 0                 # seconds
    begin: int = 0                     # seconds since the epoch
    begin_clears: bool = False         # after bmod -bn
    state: str = "PEND"
    reason: str = "New job is waiting for scheduling: 1 host;"
    exec_hosts: list = dataclasses.field(default_factory=list)   # [(name, slots)] of the last run
    effective: str = ""
    started: float = 0.0
    finished: float = 0.0
    status: int = 0                    # wait status
    exit_text: str = ""
    excluded: list = dataclasses.field(default_factory=list)     # hosts, by EXCLUDE(n) of REQUEUE_EXIT_VALUES
    not_before: float = 0.0
    position: int = 0                  # btop and bbot
    requeue: str = ""                  # PEND or PSUSP: its next state after its process has ended
    requeued_held: bool = False
    run_number: int = 0                # to ignore timers of an earlier run
    ending: bool = False               # its process has ended, sbatchd has not reported it yet
    killed: bool = False
    asked: float = 0.0                 # when its sbatchd was told to end it
    copies: dict = dataclasses.field(default_factory=dict)       # run number -> host, alive behind a cut cable
    lost_copy: str = ""                # the host of a run given up by mbatchd
    pid: int = 0
    home_told: bool = False            # sbatchd has reported the execution home: pre-exec is done
    interactive: bool = False          # bsub -I: its output is kept until the caller has received it
    output: str = ""
    states: list = dataclasses.field(default_factory=list)       # [(time, state)]
    events: list = dataclasses.field(default_factory=list)       # [(time, text, wrapped)]

    @property
    def key(self):
        return (self.id, self.index)

    @property
    def id_text(self):
        return f"{self.id}[{self.index}]" if self.index else str(self.id)

    @property
    def shown_name(self):
        text = self.name or self.command
        return f"{text.split('[')[0]}[{self.index}]" if self.index else text


def expand(names):
    """"n[1-1024]" as a list of names; a plain name gives itself."""
    found = re.fullmatch(r"(.*)\[(\d+)-(\d+)\](.*)", names)
    if not found:
        return [names]
    width = len(found[2]) if found[2].startswith("0") else 0
    return [f"{found[1]}{number:0{width}}{found[4]}" for number in range(int(found[2]), int(found[3]) + 1)]


class Cluster:
    """The configuration: YARD, overridden by the keys of a dictionary; an unknown key is an error."""

    def __init__(self, keys=None):
        keys = keys or {}
        unknown = sorted(set(keys) - set(YARD))
        if unknown:
            raise ValueError(f"lsf.json: no such key: {', '.join(unknown)}; there are {', '.join(sorted(YARD))}")
        self.keys = {**YARD, **keys, "timing": {**TIMING, **keys.get("timing", {})}}
        unknown = sorted(set(self.keys["timing"]) - set(TIMING))
        if unknown:
            raise ValueError(f"lsf.json: timing: no such key: {', '.join(unknown)}; there are {', '.join(TIMING)}")
        self.timing = self.keys["timing"]
        self.indices = self.keys["indices"]
        self.hosts = {}
        self.queues = {}
        for row in self.keys["hosts"]:
            for name in expand(row["name"]):
                self.hosts[name] = Host(**{**row, "name": name, "order": len(self.hosts) + 1,
                                           "resources": dict(row.get("resources", {})),
                                           "prefix": [word.replace("%h", name) for word in row.get("prefix", self.keys["prefix"])],
                                           "indices": {key: one["value"] for key, one in self.indices.items()}})
        master = self.keys["master"]
        self.compute = [name for name in self.hosts if name != master]
        if master not in self.hosts:   # it answers, shows one slot, and runs no job from a queue
            self.hosts = {master: Host(master, slots=1, indices={key: one["value"] for key, one in self.indices.items()}),
                          **self.hosts}
        for row in self.keys["queues"]:
            self.queues[row["name"]] = Queue(**row)
        self.groups = {name: [one for words in members for one in expand(words)] for name, members in self.keys["groups"].items()}

    @staticmethod
    def read(path):
        with open(path, encoding="utf-8") as stream:
            keys = json.load(stream)
        if keys.get("conf"):
            given = configuration.read(keys["conf"])
            keys = {**given, **keys, "timing": {**given["timing"], **keys.get("timing", {})}}
        return Cluster(keys)

    def is_administrator(self, user):
        return user == "root" or user in self.keys["administrators"]

    def members(self, name):
        """The hosts of a host name or group, None if the name is unknown."""
        if name in self.hosts:
            return [name]
        if name not in self.groups:
            return None
        found = []
        for member in self.groups[name]:
            found += self.members(member.rstrip("/")) or []
        return found

    def queue_hosts(self, queue):
        if queue.hosts is None:
            return self.compute
        return [host for name in queue.hosts for host in self.members(name) or []]
