"""Hosts whose first process is a real systemd, each on an overlay of a Debian root: this machine's own, or another one.

They are a yard of the system tests (railcluster/hosts.py), so that nothing has a name outside; but each has file systems
and a cgroup of its own. What hosts write stays in a memory file system of the yard. cgroups would outlast their processes:
the yard's first process removes them, and the yard's folder, when its maker is gone, however that ended.
"""

import os
import shutil
import stat
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Optional

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "system"))

from railcluster.hosts import NotPermitted, Yard  # noqa: E402
from railcluster.process import Timeout, wait_for  # noqa: E402
from railcluster.speed import slowness  # noqa: E402

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
# A host that has this folder finds its HCAs, class/infiniband, in /sys.
HARDWARE = "/usr/local/share/hardware"
# `kill -1` reaches all that have a number here, and not the shell itself.
LAST = """\
read -r _
kill -9 -1 2>/dev/null
tries=0
while [ -d {group} ] && [ $tries -lt 200 ]; do
    find {group} -depth -type d -exec rmdir {{}} + 2>/dev/null
    tries=$((tries + 1))
    sleep 0.05
done
umount {root}/cgroup {root}/hardware
rm -rf --one-file-system {root}
"""
# Its first process joins the host's cgroup, which is the top of what it then sees.
BOOT = """\
set -e
mount --make-rprivate /
echo 0 >{group}/cgroup.procs
hostname {name}
exec unshare --cgroup sh -ec '
cd {home}/root
mount -t overlay overlay -o lowerdir={lower},upperdir={home}/upper,workdir={home}/work .
cd {home}/root
mount -t proc proc proc
mount --bind proc/sys proc/sys
mount -o remount,bind,ro proc/sys
mount -t sysfs -o ro sysfs sys
if [ -d .{hardware} ]; then
    mount -t tmpfs -o mode=755 tmpfs /mnt
    cp -a sys/class/. /mnt/ 2>/dev/null || : # a file that nobody may read
    ln -s {hardware}/class/infiniband /mnt/
    mount --move /mnt sys/class
fi
mount -t cgroup2 cgroup2 sys/fs/cgroup
mount -t tmpfs -o mode=755 tmpfs dev
for node in null zero full random urandom tty kmsg; do
    touch dev/$node
    mount --bind /dev/$node dev/$node
done
mkdir dev/pts dev/shm
mount -t devpts -o newinstance,ptmxmode=666,mode=620 devpts dev/pts
mount -t tmpfs -o mode=1777 tmpfs dev/shm
ln -s pts/ptmx dev/ptmx
ln -s /proc/self/fd dev/fd
ln -s fd/0 dev/stdin
ln -s fd/1 dev/stdout
ln -s fd/2 dev/stderr
mount -t tmpfs -o mode=755 tmpfs run
mount -t tmpfs -o mode=1777 tmpfs tmp
mount --bind {shared} home
echo up >{up}
until [ -e {home}/connected ]; do sleep 0.02; done
mkdir run/old
pivot_root . run/old
cd /
umount -l /run/old
rmdir /run/old
exec env -i container=lxc PATH={path} TERM=dumb /lib/systemd/systemd --system --log-target=journal --show-status=0'
"""


class Hosts(Yard):
    """`lower` is the Debian root that all of them lie over."""

    def __init__(self, lower: Path = Path("/")):
        super().__init__(Path(tempfile.mkdtemp(prefix="rail-firstday-", dir="/var/tmp")))
        self.lower = lower
        self.group = self.root / "cgroup" / self.root.name
        (self.root / "log").mkdir()

    def prepared(self) -> str:
        return (f"mkdir {self.root}/cgroup && mount -t cgroup2 cgroup2 {self.root}/cgroup && mkdir {self.group} && "
                f"mkdir -m 1777 {self.shared_home()} && ")

    def until_closed(self) -> str:
        return LAST.format(group=self.group, root=self.root)

    def shared_home(self) -> Path:
        """What is /home on every host, as the yard sees it."""
        return self.root / "hardware" / "home"

    def files(self, name: str) -> Path:
        """A host's own files, as this process reaches them: what it has changed, also before its first boot."""
        folder = self.outside(self.root / "hardware" / name)
        for part in ("upper", "work", "root"):
            (folder / part).mkdir(parents=True, exist_ok=True)
        return folder / "upper"

    def put(self, name: str, path: str, text: str, mode: int = 0o644, owner: str = "root") -> Path:
        """Writes a file of a host that is off, and returns it as this process reaches it.

        Folders on its way are made as the Debian below has them.
        """
        below = Path("/")
        for part in Path(path).parent.parts[1:]:
            below /= part
            folder = self.files(name) / below.relative_to("/")
            if not folder.exists():
                folder.mkdir()
                stock = self.lower / below.relative_to("/")
                if stock.exists():
                    shutil.copystat(stock, folder)
                    os.chown(folder, stock.stat().st_uid, stock.stat().st_gid)
        file = self.files(name) / path.lstrip("/")
        file.write_text(text)
        file.chmod(mode)
        os.chown(file, *self.user(owner))
        return file

    def remove(self, name: str, path: str) -> None:
        """A host that is off will not have this file of the Debian below."""
        file = self.put(name, path, "")
        file.unlink()
        os.mknod(file, stat.S_IFCHR)

    def user(self, name: str) -> tuple[int, int]:
        """The numbers that the Debian below knows it by."""
        for line in (self.lower / "etc/passwd").read_text().splitlines():
            fields = line.split(":")
            if fields[0] == name:
                return int(fields[2]), int(fields[3])
        raise KeyError(f"no user {name} in {self.lower}/etc/passwd")

    def enable_only(self, name: str, units: dict[str, list[str]]) -> None:
        """A host that is off will start these units for these targets and, but for systemd's own, nothing else."""
        folder = self.files(name) / "etc/systemd/system"
        self.put(name, "/etc/systemd/system/.keep", "")
        os.setxattr(folder, "trusted.overlay.opaque", b"y")
        for target, wanted in units.items():
            (folder / f"{target}.wants").mkdir()
            for unit in wanted:
                (folder / f"{target}.wants" / unit).symlink_to(f"/lib/systemd/system/{unit}")

    def boot(self, name: str) -> None:
        """Powers a host on; returns when its systemd takes orders. NotPermitted where it does not come to that."""
        self.files(name)
        home, group = self.root / "hardware" / name, self.group / name
        self._yard("mkdir", "-p", str(group))
        (self.outside(home) / "connected").unlink(missing_ok=True)
        script = BOOT.format(name=name, home=home, group=group, lower=self.lower, shared=self.shared_home(), path=PATH,
                             hardware=HARDWARE, up=self.root / f"{name}.up")
        enter = ["nsenter", "-t", str(self.init.pid), "-n", "-m", "-p", "--"]
        self.inits[name] = self._unshare(enter, name, ["--net", "--uts", "--mount", "--ipc"], script, subprocess.DEVNULL)
        self._connect(name)
        (self.outside(home) / "connected").touch()
        try:
            wait_for(lambda: self.on(name, "systemctl is-system-running").stdout.strip() in ("starting", "running", "degraded"), 30,
                     f"systemd of {name} to take orders", [self.root / "log" / f"{name}.init.log"], needs=self.inits[name])
        except Timeout as error:
            raise NotPermitted(str(error)) from error

    def on(self, name: str, command: str, user: str = "root", env: Optional[dict[str, str]] = None, answer: str = "",
           seconds: float = 120) -> subprocess.CompletedProcess:
        """Runs a shell's command in a host, as a person who logged in there; stdout has its errors, too. It has these seconds,
        more on a slow machine."""
        home = "/root" if user == "root" else f"/home/{user}"
        enter = ["nsenter", "-t", str(self.inits[name].pid), "-m", "-n", "-p", "-u", "-i", "-C", "--", "env", "-i",
                 f"PATH={PATH}", f"HOME={home}", f"USER={user}", "TERM=dumb", "LC_ALL=C.UTF-8"]
        become = [] if user == "root" else ["setpriv", f"--reuid={user}", f"--regid={user}", "--init-groups", "--"]
        enter += [f"{key}={value}" for key, value in (env or {}).items()]
        return subprocess.run([*enter, *become, "bash", "-c", f"cd {home}\n{command}"], input=answer,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=seconds * slowness(), check=False)

    def close(self) -> None:
        """Ends all; the yard takes its folder and its cgroups along."""
        if self._lifeline is not None:
            os.close(self._lifeline)
            self._lifeline = None
        try:
            if self.init.pid:
                wait_for(lambda: not self.init.alive(), 20, "the yard to end", every=0.02)
        finally:
            if self.init.pid and self.init.alive():
                super().close()
            shutil.rmtree(self.root, ignore_errors=True)


def lacking() -> str:
    """What this machine lacks for such hosts; empty when nothing is known to be missing."""
    if os.geteuid() != 0:
        return "not root: hosts with systemd need it"
    missing = [name for name in ("unshare", "nsenter", "ip", "slurmctld", "slurmd", "munged", "ibsim", "opensm", "apt-get", "dh")
               if not shutil.which(name)]
    missing += [] if Path("/lib/systemd/systemd").exists() else ["systemd"]
    return f"{', '.join(missing)}: not installed" if missing else ""
