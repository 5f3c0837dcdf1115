"""README's section "On your own cluster" followed word for word, and what must be true after each of its parts.

A job of two nodes runs all the time: it counts, and at the end adds up, so that a step that was lost would show.
"""

import json
import re
import time
from concurrent.futures import ThreadPoolExecutor

from cluster import ADDRESSES, NODES, USER, Site
from railcluster.process import Timeout, wait_for
from readme import COMPUTE, EACH_LOGIN, EACH_OTHER, EVERY, HEAD, Command, Section

# Each task counts until it is told to stop, and then knows how far it came.
JOB = f"""\
#!/bin/bash
#SBATCH -N2 -n2 -w n[001-002] -t 60 -o /home/{USER}/job.out
srun bash -c 'n=0 sum=0
while [ ! -e /home/{USER}/stop ]; do
    n=$((n + 1)) sum=$((sum + n))
    echo $n >>/home/{USER}/count.$SLURM_PROCID
    sleep 0.2
done
echo rank $SLURM_PROCID counted to $n, the sum is $sum'
"""
# A job that may be moved: it ends well where it is started a second time.
MOVED = f"""\
#!/bin/bash
#SBATCH -N1 -t 60 --restart=auto --ckpt-dir=/home/{USER}/ckpt -o /home/{USER}/moved.out
echo on $(hostname) after $SLURM_RESTART_COUNT restarts
[ "$SLURM_RESTART_COUNT" = 1 ] || sleep 600
"""
# What chooses nodes: the key of slurm.conf, then its value with Railyard and without.
CHOOSER = {"22.05": ("SelectType", "select/rail", "select/cons_tres"),
           "24.11": ("TopologyPlugin", "topology/rail", "topology/default")}
# Daemons of ours that run once they are enabled.
DAEMONS = {"head": ("restartd", "fabricwatchd"), "login": (), **dict.fromkeys(NODES, ("nodewatchd",))}
# Prints what is left of Railyard, but for what the site itself wrote.
LEFT = """\
dpkg-query -W -f '${db:Status-Abbrev} ${Package}\\n' 'railyard-*' 2>/dev/null | grep -v ^un
find /usr /etc -xdev \\( -name '*rail*' -o -name 'restartd*' -o -name '*watchd*' \\) -newer /etc/hostname \
    -not -path '*.service.d*' -not -name '*.before-railyard-*' -not -path /etc/railyard -not -path /etc/railyard/fabric.json
ps -eo comm= | grep -xE 'restartd|nodewatchd|fabricwatchd'
systemctl --failed -q | grep -E 'slurm|munge|restartd|watchd'
systemctl list-units -q --all '*watchd*' restartd.service
"""


class Failed(Exception):
    """What is not as it must be, and after which command."""


def check(good, what: str) -> None:
    if not good:
        raise Failed(what)


class Walk:
    """`leave_out` is the number of a command that is forgotten: then this must fail."""

    def __init__(self, site: Site, section: Section, leave_out: int = 0):
        self.site, self.section, self.leave_out = site, section, leave_out
        self.ask, self.home = site.ask, site.home / USER
        self.last = "the start"
        self.job = ""
        self.key, self.ours, self.stock = CHOOSER[site.release]

    def run(self, say) -> None:
        self.start_job()
        try:
            for part, title in self.section.parts.items():
                begin = time.monotonic()
                for command in self.section.commands:
                    if command.part == part and command.number != self.leave_out:
                        self.follow(command)
                took = time.monotonic() - begin
                self.look_at(part)
                say(f"{title}: {took / 60:.1f} minutes, {(time.monotonic() - begin) / 60:.1f} with all that is looked at")
            self.finish_job()
        except (Failed, Timeout) as error:
            raise Failed(f"after {self.last}: {error}") from error

    def follow(self, command: Command) -> None:
        """On all its hosts at once."""
        self.last = f"README's command {command.number}, \"{command.text}\""
        def from_head(hosts):
            return [("head", command.text.replace("HOST", name)) for name in hosts]
        where = {HEAD: from_head(["head"]), EACH_LOGIN: from_head(["login"]), EACH_OTHER: from_head(["login", *NODES]),
                 EVERY: [(name, command.text) for name in ADDRESSES],
                 COMPUTE: [(name, command.text) for name in NODES]}[command.place]

        def one(task: tuple[str, str]) -> None:
            name, text = task
            done = self.site.hosts.on(name, f"cd /home/packages; {text}", env=self.site.hca() if "railtopo" in text else {}, answer="y\n")
            check(done.returncode == 0, f"status {done.returncode} on {name}: {done.stdout.strip()[-1500:]}")
        with ThreadPoolExecutor() as pool:
            list(pool.map(one, where))
        self.goes_on()

    def look_at(self, part: int) -> None:
        {0: self.after_packages, 1: self.after_looking, 2: self.after_placement, 3: self.after_acting, 4: self.after_the_way_back}[part]()
        self.goes_on()

    # --- the job that runs all the time ---

    def start_job(self) -> None:
        self.site.write("job", JOB)
        self.job = self.ask("login", "sbatch --parsable job", USER).strip()
        check(self.job.isdigit(), f"sbatch said {self.job}")
        wait_for(lambda: all(self.count(rank) > 3 for rank in (0, 1)), 60, "the job to run")

    def count(self, rank: int) -> int:
        path = self.home / f"count.{rank}"
        return len(path.read_text().splitlines()) if path.exists() else 0

    def goes_on(self) -> None:
        before = [self.count(rank) for rank in (0, 1)]
        wait_for(lambda: all(self.count(rank) > before[rank] for rank in (0, 1)), 30, "both ranks of the job to go on counting")

    def finish_job(self) -> None:
        self.site.write("stop", "")
        wait_for(lambda: "JobState=COMPLETED" in self.record(self.job), 60, f"the job to complete:\n{self.record(self.job)}")
        record = self.record(self.job)
        for words in ("ExitCode=0:0", "Restarts=0", "NodeList=n[001-002]"):
            check(words in record, f"no {words} in:\n{record}")
        said = (self.home / "job.out").read_text()
        found = re.findall(r"rank (\d) counted to (\d+), the sum is (\d+)", said)
        check(sorted(rank for rank, _, _ in found) == ["0", "1"], f"the job said:\n{said}")
        for rank, last, total in found:
            counted = (self.home / f"count.{rank}").read_text().split()
            check(counted == [str(n + 1) for n in range(int(last))] and int(total) == int(last) * (int(last) + 1) // 2,
                  f"rank {rank} did not count one by one to {last} ({total})")

    def record(self, job: str) -> str:
        return self.ask("login", f"scontrol show job {job}", USER)

    # --- what must be true ---

    def slurm_works(self, chooser: str) -> None:
        """Daemons and commands of all hosts agree; new jobs start, and new steps of the one that runs."""
        wait_for(lambda: sorted(self.ask("login", "sinfo -h -o %T", USER).split()) == ["idle", "mixed"], 60,
                 f"the nodes to be well:\n{self.ask('login', 'sinfo; sinfo -R', USER)}")
        for name in ADDRESSES:
            said = self.ask(name, "scontrol show config")
            check(re.search(rf"^{self.key}\s+= {chooser}$", said, re.M), f"{name}: no {self.key} {chooser} in:\n{said}")
        self.ranks(NODES, "srun -N3")
        self.ranks(NODES[:2], f"srun --jobid={self.job} --overlap -N2")
        check("JobState=RUNNING" in self.record(self.job), self.record(self.job))

    def ranks(self, nodes, srun: str) -> None:
        said = self.ask("login", f"{srun} -l hostname", USER)
        check(sorted(said.split()[1::2]) == list(nodes), f"{srun} said:\n{said}")

    def units(self, daemons: dict[str, tuple[str, ...]]) -> None:
        """These are enabled and run; no others of ours are or do."""
        for name in ADDRESSES:
            for unit in ("restartd", "fabricwatchd", "nodewatchd"):
                enabled, active = (self.ask(name, f"systemctl {word} {unit}").split("\n")[0] for word in ("is-enabled", "is-active"))
                on = unit in daemons.get(name, ())
                check((enabled == "enabled", active == "active") == (on, on),
                      f"{name}: {unit} is {enabled}, {active}\n{self.ask(name, f'journalctl -n 20 -u {unit}')}")

    def flags(self, there: bool) -> None:
        for name in ADDRESSES:
            check(("--rail-span" in self.ask(name, "sbatch --help")) == there, f"{name}: sbatch {'lacks' if there else 'has'} the flags")

    def doctor(self, *codes: str) -> None:
        """What it finds, on the head; on the other hosts it finds nothing of their own."""
        def found(name: str, words: str = "") -> list[str]:
            return sorted(finding["code"] for finding in json.loads(self.ask(name, f"railctl doctor --json {words}"))["findings"])
        try:
            wait_for(lambda: found("head") == sorted(codes), 30, f"railctl doctor to find {', '.join(codes) or 'nothing'}")
        except Timeout as error:
            raise Failed(f"{error}\n{self.ask('head', 'railctl doctor')}") from error
        for name in ADDRESSES:
            check(not found(name, "--host"), f"{name}: {self.ask(name, 'railctl doctor --host')}")

    def after_packages(self) -> None:
        """Nothing is enabled, started or switched on."""
        for name in ADDRESSES:
            check("rail" in self.ask(name, "railctl --help"), f"{name} has no railctl")
        self.units({})
        self.flags(False)
        self.slurm_works(self.stock)

    def after_looking(self) -> None:
        """Every host is heard, the fabric is watched from outside, and Slurm is as before."""
        self.units(DAEMONS)

        def heard() -> bool:
            hosts = json.loads(self.ask("head", "railctl status --all --json"))["hosts"]
            return len(hosts) == len(NODES) and all(host["agent"]["last_report"] and not host["agent"]["silent"] for host in hosts)
        wait_for(heard, 30, "railctl status to have heard all nodes")
        wait_for(lambda: "fabricwatchd: reports to" in self.ask("head", "journalctl -u fabricwatchd"), 30, "fabricwatchd to report")
        self.doctor("restartd.observes", "slurm.off")
        self.flags(False)
        self.slurm_works(self.stock)

    def after_placement(self) -> None:
        """Flags are there, and honoured or refused."""
        self.flags(True)
        self.slurm_works(self.ours)
        self.doctor("restartd.observes")
        said = self.ask("login", "sbatch -N4 --rail-span=unit --wrap true", USER)
        check("4 nodes never fit" in said or "Requested node configuration" in said, f"a span that never fits was answered:\n{said}")
        self.ranks(NODES, "srun -N3 --rail-span=unit")

    def after_acting(self) -> None:
        """A host is lost, its job goes on elsewhere, and the host is back after its own boot."""
        self.doctor()
        self.site.write("moved", MOVED)
        # It goes to n003 because nothing else is free then, not because it asks for it.
        self.ask("head", "scontrol update nodename=n001,n002 state=drain reason=test")
        job = self.ask("login", f"mkdir ckpt; sbatch --parsable moved", USER).strip()
        wait_for(lambda: (self.home / "moved.out").exists(), 30, f"job {job} to start")
        self.ask("head", "scontrol update nodename=n001,n002 state=resume")
        self.site.power_off("n003")
        wait_for(lambda: "JobState=COMPLETED" in self.record(job), 60, f"job {job} to be moved and to complete")
        check("Restarts=1" in self.record(job), self.record(job))
        check("railyard[" in self.ask("login", "sinfo -R -h -o %E"), self.ask("login", "sinfo -R"))
        self.site.power_on("n003")
        wait_for(lambda: "drained" in self.ask("login", "sinfo -h -n n003 -o %T").split(), 60, "n003 to be back")
        said = self.ask("head", "railctl resume n003")
        wait_for(lambda: "idle" in self.ask("login", "sinfo -h -n n003 -o %T"), 60, f"n003 to be idle ({said})")
        self.units(DAEMONS)
        self.other_versions()
        self.slurm_works(self.ours)

    def other_versions(self) -> None:
        """Packages are upgraded and go back a version, their daemons with them; none goes while slurm.conf names a plugin."""
        for folder in ("newer", "."):
            for name, package, daemons in (("login", "", ()), ("n001", "railyard-node", ("nodewatchd",)),
                                           ("head", "railyard-head", ("restartd", "fabricwatchd"))):
                before = {daemon: self.ask(name, f"systemctl show -P MainPID {daemon}") for daemon in daemons}
                files = " ".join(f"{folder}/{each}_*.deb" for each in ("railyard-login", package) if each)
                done = self.site.hosts.on(name, f"cd /home/packages; dpkg -i {files}")
                check(done.returncode == 0, f"{name}: dpkg -i {files}:\n{done.stdout}")
                for daemon, pid in before.items():
                    after = self.ask(name, f"systemctl is-active {daemon}; systemctl show -P MainPID {daemon}")
                    check(after.startswith("active") and pid not in after, f"{name}: {daemon} is {after.split()}, before it was {pid}")
            self.goes_on()
        for name, package, line in (("login", "railyard-login", self.ours), ("n001", "railyard-login", self.ours),
                                    ("head", "railyard-head", "JobSubmitPlugins")):
            done = self.site.hosts.on(name, f"dpkg --remove --force-depends {package}")
            check(done.returncode != 0 and f"{package} cannot be removed" in done.stdout and line in done.stdout,
                  f"{name}: dpkg --remove {package}, status {done.returncode}:\n{done.stdout}")
        self.doctor()

    def after_the_way_back(self) -> None:
        """Stock Slurm, and nothing of ours but what the site wrote, and the journal."""
        self.slurm_works(self.stock)
        for name in ADDRESSES:
            check("rail" not in self.ask(name, "sbatch --help; cat /etc/slurm/*.conf"), f"{name} still has something of ours in Slurm")
            left = self.ask(name, LEFT)
            check(not left.strip(), f"{name} still has:\n{left}")
