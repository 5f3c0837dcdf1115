"""The site around a cluster: a service manager, and programs that reach all hosts.

railctl runs them on the controller's host, which cannot reach processes of other hosts here. So each is a script that writes its
arguments to a folder and waits; a thread of the test executes the request, and answers.
"""

import os
import signal
import subprocess
import threading
import time
from pathlib import Path
from typing import Callable

from .process import Timeout, descendants, wait_for

ASK = """\
#!/bin/sh
# Leaves its words, one a line, and goes by the answer: a status, then what to print.
name=$(mktemp {folder}/{kind}.XXXXXX)
for word in "$@"; do printf '%s\\n' "$word"; done >"$name.new"
mv "$name.new" "$name.ask"
while [ ! -e "$name.answer" ]; do sleep 0.05; done
sed 1d "$name.answer"
exit "$(sed 1q "$name.answer")"
"""

# A command of the host's own Slurm, for a program of this machine that runs next to it.
INSIDE = """\
#!/bin/sh
exec {prefix} env PATH=/usr/sbin:/usr/bin:/sbin:/bin {name} "$@"
"""


def run_railctl(cluster, *words: str, host: str = "ctl", timeout: float = 180) -> subprocess.CompletedProcess:
    """Runs railctl on a host. Another Debian cannot run it: there it uses the host's network, name and commands."""
    if not cluster.options.userland:
        return cluster.run("railctl", *words, host=host, timeout=timeout)
    folder = cluster.root / "inside" / host
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("scontrol", "squeue", "sinfo"):
        (folder / name).write_text(INSIDE.format(prefix=" ".join(cluster.yard.prefix(host)), name=name))
        (folder / name).chmod(0o755)
    environment = cluster.environment(host)
    environment["PATH"] = f"{folder}:{environment['PATH']}"
    (cluster.root / "tmp").mkdir(exist_ok=True)
    environment["TMPDIR"] = str(cluster.root / "tmp")  # visible to both
    init = str(cluster.yard.inits[host].pid)
    return subprocess.run(["nsenter", "-t", init, "-n", "-u", "--", "timeout", "-k", "1", str(timeout), "railctl", *words],
                          env=environment, input="", stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)


class Site:
    """Used as a context. `asked` holds the requests; `refuse` makes a request fail: word in it -> text; `when` does something
    first, once: word in it -> function."""

    def __init__(self, cluster):
        self.cluster = cluster
        self.folder = Path(cluster.root) / "site"
        self.asked: list[list[str]] = []
        self.refuse: dict[str, str] = {}
        self.when: dict[str, Callable[[], object]] = {}
        self.broken: list[BaseException] = []
        self.stays: set[str] = set()  # hosts whose slurmd is not restarted
        self._over = threading.Event()
        self._threads: list[threading.Thread] = []

    def program(self, kind: str) -> str:
        return str(self.folder / kind)

    def flags(self, *, hosts: bool = True) -> list[str]:
        reach = ["--run-on-hosts", self.program("run"), "--copy-to-hosts", self.program("copy")]
        return ["--service", self.program("service"), *(reach if hosts else [])]

    def __enter__(self) -> "Site":
        self.folder.mkdir(exist_ok=True)
        for kind in ("service", "run", "copy"):
            path = self.folder / kind
            path.write_text(ASK.format(folder=self.folder, kind=kind))
            path.chmod(0o755)
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *failure) -> None:
        for thread in self._threads:
            thread.join()
        self._over.set()
        self._thread.join()
        if self.broken and not any(failure):
            raise self.broken[0]

    def _serve(self) -> None:
        while not self._over.is_set():
            for ask in self.folder.glob("*.ask"):
                words = ask.read_text().splitlines()
                kind = ask.name.split(".")[0]
                ask.unlink()
                try:
                    status, text = self._answer(kind, words)
                except BaseException as error:  # noqa: BLE001: reported to the script, and by __exit__
                    self.broken.append(error)
                    status, text = 99, str(error)
                scratch = ask.with_suffix(".scratch")
                scratch.write_text(f"{status}\n{text}\n")
                scratch.rename(ask.with_suffix(".answer"))
            time.sleep(0.02)

    def later(self, function: Callable[[], object]) -> None:
        """Does something while railctl runs."""
        def run() -> None:
            try:
                function()
            except BaseException as error:  # noqa: BLE001: reported by __exit__
                self.broken.append(error)
        self._threads.append(threading.Thread(target=run, daemon=True))
        self._threads[-1].start()

    @staticmethod
    def kill_railctl(number: int = signal.SIGKILL) -> None:
        """Sends a signal to the railctl below this process."""
        for pid in descendants(os.getpid()):
            try:
                if Path(f"/proc/{pid}/comm").read_text().strip() == "railctl":
                    os.kill(pid, number)
            except (OSError, ProcessLookupError):
                pass

    def _answer(self, kind: str, words: list[str]) -> tuple[int, str]:
        self.asked.append([kind, *words])
        for word in list(self.when):
            if word in words:
                self.when.pop(word)()
        for word, text in self.refuse.items():
            if word in [kind, *words]:
                return 1, text
        if kind == "service":
            return self._service(*words)
        hosts = self._hosts(words[0])
        if kind == "copy":
            return 0, ""
        if words[1:3] == ["systemctl", "restart"]:
            self.restart_slurmds(hosts)
            return 0, ""
        results = [run_railctl(self.cluster, *words[2:], host=host) for host in hosts]
        return max(result.returncode for result in results), "".join(result.stdout + result.stderr for result in results)

    def _hosts(self, folded: str) -> list[str]:
        return self.cluster.out("scontrol", "show", "hostnames", folded).split()

    def _service(self, verb: str, unit: str) -> tuple[int, str]:
        if (verb, unit) == ("reload", "restartd"):
            self.cluster.daemons["ctl", "restartd"].kill(signal.SIGHUP)
            return 0, ""
        if unit != "slurmctld":
            return 5, f"Unit {unit}.service not found."
        if verb == "stop":
            self.stop()
        elif verb == "start":
            self.start()
        elif verb == "is-active":
            return (0, "active") if self.cluster.alive("ctl", "slurmctld") else (3, "failed")
        return 0, ""

    def stop(self, host: str = "ctl") -> None:
        daemon = self.cluster.daemons.get((host, "slurmctld"))
        if daemon and daemon.alive():
            daemon.kill(15)
            wait_for(lambda: not daemon.alive(), 90, "slurmctld to stop", [daemon.log])

    def start(self) -> None:
        """Like systemd: without -i, so that unreadable input stops it; it need not come up."""
        self.cluster.spawn("ctl", "slurmctld", ["slurmctld", "-D"], own_log=True)

    def restart_slurmds(self, hosts: list[str]) -> None:
        for host in hosts:
            daemon = self.cluster.daemons.get((host, "slurmd"))
            if host in self.stays or not self.cluster.yard.is_on(host):
                continue
            if daemon and daemon.alive():
                daemon.kill(15)
                try:
                    wait_for(lambda: not daemon.alive(), 5, "slurmd to stop")
                except Timeout:
                    daemon.kill(9)
            self.cluster.start_slurmd(host)
