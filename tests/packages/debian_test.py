#!/usr/bin/env python3
"""The Debian packages: made of what stands in the build directory, held to lintian, and installed, used, upgraded, kept
from being removed and purged on a copy of this system, where munged, slurmctld and slurmd run and a job goes on all the
time. Run in the build directory, as root.
"""

import os
import re
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

sys.dont_write_bytecode = True
from scratch import SLOWNESS, check, main, new_files, packed, run

SLURM_CONF = """\
ClusterName=packages
SlurmctldHost=head
SlurmUser=root
AuthType=auth/munge
CredType=cred/munge
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
StateSaveLocation=/var/spool/slurm-state
SlurmdSpoolDir=/var/spool/slurm-d
SlurmctldPidFile=/run/slurmctld.pid
SlurmdPidFile=/run/slurmd.pid
ReturnToService=2
SlurmdParameters=config_overrides
NodeName=head CPUs=1
PartitionName=all Nodes=ALL Default=YES
"""


def wait_for(condition, what, seconds=30):
    end = time.monotonic() + seconds * SLOWNESS
    while not condition():
        check(time.monotonic() < end, f"{what} did not come within {seconds * SLOWNESS:g} s")
        time.sleep(0.1)


def enabled():
    return sorted(str(path) for path in Path("/etc/systemd/system").glob("*.wants/*"))


def processes():
    return {Path(f"/proc/{pid}/comm").read_text().strip() for pid in os.listdir("/proc") if pid.isdigit()}


class Slurm:
    """One node, on this host; daemons end with the process namespace."""

    conf = Path("/etc/slurm/slurm.conf")

    def __init__(self):
        self.daemons = []
        for folder in ("/etc/slurm", "/var/spool/slurm-state", "/var/spool/slurm-d", "/run/munge"):
            Path(folder).mkdir(parents=True, exist_ok=True)
        self.conf.write_text(SLURM_CONF)
        self.conf.with_name("cgroup.conf").write_text("CgroupAutomount=no\n")
        shutil.rmtree("/etc/slurm/plugstack.conf.d", ignore_errors=True)
        shutil.chown("/run/munge", "munge", "munge")
        run("setpriv", "--reuid=munge", "--regid=munge", "--clear-groups", "/usr/sbin/munged", "--force")
        self.start()

    def start(self):
        self.daemons = [subprocess.Popen([program, "-D"], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
                        for program, log in (("slurmctld", open("/tmp/slurmctld.log", "w")), ("slurmd", open("/tmp/slurmd.log", "w")))]
        wait_for(lambda: "idle" in self.ask("sinfo", "-h", "-o", "%T") or "alloc" in self.ask("sinfo", "-h", "-o", "%T"), "the node")

    def stop(self):
        for daemon, port in zip(self.daemons, (6817, 6818)):
            daemon.terminate()
            wait_for(lambda: self.ended(daemon, port), f"the end of {daemon.args[0]}", 120)

    @staticmethod
    def ended(daemon, port):
        """Slurm looks whether it is to end and then waits for a connection: a signal in between is heard with the next."""
        try:
            daemon.wait(5)
        except subprocess.TimeoutExpired:
            threads = sorted(Path(f"/proc/{daemon.pid}/task").glob("*"))
            where = [f"{(one / 'comm').read_text().strip()} in {(one / 'wchan').read_text()}" for one in threads]
            print(f"{daemon.args[0]} still runs: {', '.join(where)}")
            daemon.terminate()
            with socket.socket() as connection:
                connection.connect_ex(("head", port))
        return daemon.returncode is not None

    def change(self, what, into):
        """In the safe order: everything stops, every host changes, then all start."""
        self.stop()
        text = self.conf.read_text()
        check(what in text, f"no {what} in slurm.conf")
        self.conf.write_text(text.replace(what, into))
        self.start()

    @staticmethod
    def ask(*words):
        return subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False).stdout

    def job_state(self, job):
        return self.ask("squeue", "-h", "-o", "%T", "-j", job).strip()


def apt_installs_slurm(version, status):
    """What apt says to this version of Slurm's plugins, from an archive made up here."""
    package, name = Path("/tmp/slurm"), f"slurm-wlm-basic-plugins_{version}_all.deb"
    (package / "DEBIAN").mkdir(parents=True, exist_ok=True)
    (package / "DEBIAN/control").write_text(f"Package: slurm-wlm-basic-plugins\nVersion: {version}\nArchitecture: all\n"
                                            "Maintainer: nobody <nobody@example.org>\nDescription: none\n")
    run("dpkg-deb", "-b", package, f"/tmp/{name}")
    return run("apt-get", "install", "-y", "--allow-change-held-packages", "--no-download", f"/tmp/{name}", status=status)


def inside(folder):
    debs = {re.match(r"[^_]*", path.name).group(): path for path in folder.glob("*.deb")}
    before, files = enabled(), new_files()
    slurm = Slurm()
    job = run("sbatch", "--parsable", "-o", "/dev/null", "--wrap", "sleep 600").strip()
    wait_for(lambda: slurm.job_state(job) == "RUNNING", "the job")

    def goes_on(what):
        check(slurm.job_state(job) == "RUNNING", f"after {what} the job is {slurm.job_state(job) or 'gone'}")

    # Installed: nothing is enabled, started or switched on, and everything is where Slurm and people look for it.
    run("dpkg", "-i", *debs.values())
    check(enabled() == before, f"enabled: {set(enabled()) - set(before)}")
    check(not processes() & {"restartd", "nodewatchd", "fabricwatchd"}, f"started: {processes()}")
    check("--rail-span" not in run("sbatch", "--help"), "the flags are there although nobody asked for them")
    run("restartd", "--check-config")
    check("rail" in run("railctl", "--help"), "railctl")
    Path("/tmp/ck").mkdir()
    run("/usr/bin/python3", "-B", "-c", "import railckpt; railckpt.open('/tmp/ck').close()", cwd="/")
    check(not list(Path("/usr/lib").glob("*/slurm-wlm/*rail*.la")), ".la files in PluginDir")
    goes_on("the installation")

    # Switched on, by hand and in order.
    Path("/etc/slurm/plugstack.conf").write_text("include /etc/slurm/plugstack.conf.d/*.conf\n")
    shutil.copytree("/usr/share/railyard/plugstack.conf.d", "/etc/slurm/plugstack.conf.d")
    check("--rail-span" in run("sbatch", "--help"), "the flags are not there")
    slurm.change("SelectType=select/cons_tres", "SelectType=select/rail\nJobSubmitPlugins=rail")
    check("select/rail" in run("scontrol", "show", "config"), "slurmctld does not run select/rail")
    goes_on("switching on")
    check("bad" in run("sbatch", "--rail-span=bad", "--wrap", "true", status=255), "a wrong flag is taken")

    # An upgrade, with the job running and slurm.conf naming the plugins.
    run("dpkg", "-i", *debs.values())
    goes_on("an upgrade")

    # apt is stopped before Slurm changes to a release that the plugins are not built for.
    said = apt_installs_slurm("99.05.1-1", status=100)
    for words in ("Slurm would become 99.05.1", "/etc/slurm/slurm.conf:", "Nothing has been changed"):
        check(words in said, f"no \"{words}\" in:\n{said}")
    check("ii " in run("dpkg-query", "-W", "-f", "${db:Status-Abbrev}", "railyard-login"), "railyard-login is gone")
    goes_on("a refused upgrade of Slurm")

    # Removal is refused while Slurm names the plugins, and says what to do.
    for package in ("railyard-head", "railyard-login"):
        text = run("dpkg", "--remove", "--force-depends", package, status=1)
        for words in ("cannot be removed", "/etc/slurm/slurm.conf:", "select/cons_tres"):
            check(words in text, f"{package}: no \"{words}\" in:\n{text}")
    check("select/rail" in run("scontrol", "show", "config"), "slurmctld does not answer any more")
    goes_on("refused removals")
    conf = Path("/etc/slurm/slurm.conf")  # changed, and not yet in force: the saved jobs are select/rail's
    named = conf.read_text()
    conf.write_text(named.replace("SelectType=select/rail\nJobSubmitPlugins=rail", "SelectType=select/cons_tres"))
    text = run("dpkg", "--remove", "--force-depends", "railyard-login", status=1)
    check("slurmctld that runs: SelectType" in text, f"slurmctld is not asked:\n{text}")
    said = apt_installs_slurm("99.05.1-1", status=100)
    check("slurmctld that runs: SelectType" in said, f"apt does not ask slurmctld:\n{said}")
    conf.write_text(named)
    slurm.change("SelectType=select/rail\nJobSubmitPlugins=rail", "SelectType=select/cons_tres")
    stock = conf.read_text()
    conf.write_text(f"PluginDir=/usr/lib/railyard/shadow:/usr/lib\n{stock}")
    check("PluginDir" in run("dpkg", "--remove", "--force-depends", "railyard-login", status=1), "shadow is not looked at")
    conf.write_text(stock)
    plugstack = Path("/etc/slurm/plugstack.conf.d/railyard.conf")
    plugstack.write_text(plugstack.read_text().replace("optional", "required"))
    check("required spank_rail.so" in run("dpkg", "--remove", "--force-depends", "railyard-login", status=1), "plugstack is not looked at")
    shutil.rmtree("/etc/slurm/plugstack.conf.d")

    # Purged: nothing is left, and the job has gone on.
    run("dpkg", "--purge", *debs)
    left = [path for path in new_files() - files if "rail" in path]
    check(not left, f"left behind: {left}")
    check(not Path("/etc/railyard").exists(), "/etc/railyard is left behind")
    goes_on("everything")
    slurm.stop()


def make(build, folder):
    packed(build, folder)
    if shutil.which("lintian"):
        found = run("lintian", "--allow-root", "--fail-on", "error,warning", *folder.glob("*.deb"), *folder.glob("*.dsc"))
        check(not found, f"lintian:\n{found}")


if __name__ == "__main__":
    missing = [name for name in ("dh", "slurmctld", "slurmd", "munged") if not shutil.which(name)]
    sys.exit(main(__file__, f"{', '.join(missing)} not installed" if missing else "", make, inside,
                  ("/tmp/slurmctld.log", "/tmp/slurmd.log")))
