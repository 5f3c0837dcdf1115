"""A small cluster of a site that has never heard of Railyard: stock Slurm and munge by Debian's own units, under systemd.

A head with slurmctld, a login host and three compute nodes with two HCAs each on one InfiniBand fabric, which ibsim carries
and whose devices are doubles. /home is shared. scp and clush reach every host (doubles: no sshd runs here).
"""

import json
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Optional

from hosts import HARDWARE, Hosts
from railcluster.fabric import Fabric, umad2sim
from railcluster.process import tail, wait_for

SOURCE = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE / "tests" / "doubles"))
import gen_sysfs  # noqa: E402

NODES = ("n001", "n002", "n003")
ADDRESSES = {"head": "10.77.0.10", "login": "10.77.0.11", **{node: f"10.77.0.{21 + at}" for at, node in enumerate(NODES)}}
RAILS = 2
USER = "anna"
UMAD = "/usr/local/lib/libumad2sim.so"  # on the head
DROP_IN = "[Service]\nEnvironment={}\n"

SLURM_CONF = """\
ClusterName=site
SlurmctldHost=head
SlurmUser=slurm
AuthType=auth/munge
CredType=cred/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SwitchType=switch/none
ReturnToService=2
StateSaveLocation=/var/lib/slurm/slurmctld
SlurmdSpoolDir=/var/lib/slurm/slurmd
SlurmctldLogFile=/var/log/slurm/slurmctld.log
SlurmdLogFile=/var/log/slurm/slurmd.log
SlurmctldPidFile=/run/slurmctld.pid
SlurmdPidFile=/run/slurmd.pid
SchedulerType=sched/backfill
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
NodeName=n[001-003] CPUs=4 RealMemory=1000
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE
"""
# Jobs are told apart by their processes: the hosts' cgroups have no controllers.
CGROUP_CONF = {"22.05": "CgroupPlugin=cgroup/v1\nCgroupAutomount=no\n", "24.11": "CgroupPlugin=disabled\n"}
# The site's way to its other hosts, in place of sshd: a command and its input, in base64, a line each. What it says comes
# back, and in the last line its exit status.
REACH = """\
#!/bin/bash
# reach HOST COMMAND, a double of ssh: no sshd runs on these hosts.
exec 3<>"/dev/tcp/$1/22" || exit 255
{ base64 -w0 <<<"$2"; echo; base64 -w0; echo; } >&3
said=$(cat <&3)
status=${said##*$'\\n'}
[ "$said" = "$status" ] || printf '%s\\n' "${said%$'\\n'*}"
exit "${status:-255}"
"""
SCP = """\
#!/bin/bash
# scp FILE... HOST:FOLDER
to=${!#}
tar -c --transform 's,.*/,,' "${@:1:$#-1}" 2>/dev/null | reach "${to%%:*}" "tar -x -C '${to#*:}'"
"""
CLUSH = """\
#!/bin/bash
# clush -S [--copy] -w HOSTS COMMAND or FILE..., of ClusterShell: each file goes to where it is here.
copy= hosts=
while :; do
    case $1 in
    -S) ;;
    --copy) copy=yes ;;
    -w) hosts=$2 && shift ;;
    *) break ;;
    esac
    shift
done
running=() worst=0
for host in $(scontrol show hostnames "$hosts"); do
    { if [ -n "$copy" ]; then tar -cP "$@" | reach "$host" 'tar -xP'; else reach "$host" "$*" </dev/null; fi; } 2>&1 | sed "s/^/$host: /" &
    running+=($!)
done
for one in "${running[@]}"; do wait "$one" || worst=$?; done
exit $worst
"""
DOUBLES = {"reach": REACH, "scp": SCP, "clush": CLUSH.replace("#!/bin/bash\n", "#!/bin/bash\nset -o pipefail\n")}
HERE_SOCKET = "[Socket]\nListenStream=22\nAccept=yes\n"
HERE_SERVICE = "[Service]\nExecStart=-/usr/local/sbin/here\nStandardInput=socket\nStandardOutput=socket\nStandardError=journal\n"
HERE = """\
#!/bin/bash
read -r command
read -r input
base64 -d <<<"$input" | bash -c "$(base64 -d <<<"$command")" 2>&1
echo "${PIPESTATUS[1]}"
"""


class Site:
    """`build` has the program that makes the fabric; close() ends all, also as a context."""

    def __init__(self, build: Path, lower: Path = Path("/")):
        self.hosts = Hosts(lower)
        self.build = build
        self.lower = lower
        self.release = "22.05" if lower == Path("/") else "24.11"
        for name in ("run", "state"):
            (self.hosts.root / name).mkdir()
        self.fabric = Fabric(self.hosts.root)
        try:
            self._make()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> "Site":
        return self

    def __exit__(self, *failure) -> None:
        self.close()

    def close(self) -> None:
        self.hosts.close()

    # --- making it ---

    def _make(self) -> None:
        hosts = self.hosts
        hosts.start(ADDRESSES, tied=True)
        self._make_fabric()
        self._make_hcas()
        key = bytes(range(32)).hex()
        passwd, group = ((self.lower / "etc" / name).read_text() for name in ("passwd", "group"))
        names = "\n".join(["127.0.0.1 localhost", *(f"{address} {name}" for name, address in ADDRESSES.items())])
        for name in ADDRESSES:
            daemon = {"head": ["slurmctld.service"], "login": []}.get(name, ["slurmd.service"])
            hosts.enable_only(name, {"multi-user.target": ["munge.service", *daemon], "sockets.target": ["here.socket"]})
            hosts.put(name, "/etc/systemd/system/here.socket", HERE_SOCKET)
            hosts.put(name, "/etc/systemd/system/here@.service", HERE_SERVICE)
            hosts.put(name, "/usr/local/sbin/here", HERE, 0o755)
            for double, text in DOUBLES.items():
                hosts.put(name, f"/usr/local/bin/{double}", text, 0o755)
            hosts.put(name, "/etc/hostname", f"{name}\n")
            hosts.remove(name, "/usr/sbin/policy-rc.d")  # as container images have it: packages could start and stop nothing
            hosts.remove(name, "/var/lib/man-db/auto-update")  # an index of all pages on each host: a minute of all processors
            hosts.put(name, "/etc/hosts", f"{names}\n")
            hosts.put(name, "/etc/passwd", f"{passwd}{USER}:x:1999:1999::/home/{USER}:/bin/bash\n")
            hosts.put(name, "/etc/group", f"{group}{USER}:x:1999:\n")
            hosts.put(name, "/etc/munge/munge.key", key, 0o400, "munge")
            hosts.put(name, "/etc/slurm/slurm.conf", SLURM_CONF)
            hosts.put(name, "/etc/slurm/cgroup.conf", CGROUP_CONF[self.release])
        for folder, owner in ((USER, 1999), ("packages", 0)):
            (self.home / folder).mkdir()
            subprocess.run(["chown", f"{owner}:{owner}", self.home / folder], check=True)

    def _make_fabric(self) -> None:
        """Its switches and cables as ibsim reads them, and each node's devices in /sys."""
        facts = self.hosts.root / "etc" / "fabric.json"
        # One unit, whose hosts are called n001, n002 …
        subprocess.run([self.build / "railtopo", "synth", f"units=1 hosts={len(NODES)} rails={RAILS} rate=4xNDR", "--out", facts,
                        "--ibsim", self.fabric.net], check=True, stdout=subprocess.DEVNULL)
        for host in json.loads(facts.read_text())["hosts"]:
            for rail, hca in enumerate(host["hcas"]):
                gen_sysfs.make_hca(f"{self.hosts.files(host['name'])}{HARDWARE}", rail, host["name"], 400, int(hca["guid"], 16))

    def _make_hcas(self) -> None:
        """The head's HCA is a library, for fabricwatchd's unit too; the nodes' GPUs are one as well."""
        library = self.hosts.put("head", UMAD, "")
        shutil.copy(umad2sim(), library)
        self.fabric.read_net()
        words = " ".join(f"{key}={value}" for key, value in self.hca().items())
        self.hosts.put("head", "/etc/systemd/system/fabricwatchd.service.d/hca.conf",
                       DROP_IN.format(words) + "WorkingDirectory=/tmp\n")  # where the double makes its files
        for node in NODES:
            library = self.hosts.put(node, "/usr/local/lib/libnvidia-ml.so.1", "")
            shutil.copy(self.build / "tests/doubles/libnvidia-ml.so.1", library)
            self.hosts.put(node, f"{HARDWARE}/nvml.state", "count=2\n")
            words = f"LD_LIBRARY_PATH=/usr/local/lib RAIL_NVML_STATE={HARDWARE}/nvml.state"
            self.hosts.put(node, "/etc/systemd/system/nodewatchd.service.d/gpus.conf", DROP_IN.format(words))

    def boot(self) -> None:
        """All hosts at once; returns when Slurm has its nodes. NotPermitted where hosts cannot have a systemd."""
        with ThreadPoolExecutor() as pool:
            list(pool.map(self.hosts.boot, ADDRESSES))
        self.fabric.start(self)
        wait_for(lambda: self.ask("login", "sinfo -h -o %T").split() == ["idle"], 30, "stock Slurm to have its nodes")


    def spawn(self, _, label: str, command: list[str], env: Optional[dict[str, str]] = None,
              stdin: int = subprocess.DEVNULL) -> None:
        """A daemon of the fabric: in the head's network and the yard's everything else, whose end is its end."""
        enter = ["nsenter", "-t", str(self.hosts.init.pid), "-m", "-p", f"--net=/proc/{self.hosts.inits['head'].pid}/ns/net",
                 f"--wd={self.hosts.root}/run", "--", "env", *(f"{key}={value}" for key, value in (env or {}).items())]
        with open(self.hosts.root / "log" / f"ctl.{label}.log", "ab") as out:
            subprocess.Popen([*enter, *command], stdin=stdin, stdout=out, stderr=out, start_new_session=True)

    def hca(self) -> dict[str, str]:
        """The environment in which a program on the head has an HCA."""
        return self.fabric.environment() | {"LD_PRELOAD": UMAD}

    def power_off(self, name: str) -> None:
        """The host and its HCAs vanish at once."""
        self.fabric.set_links(name, False)
        self.hosts.power_off(name)

    def power_on(self, name: str) -> None:
        self.hosts.boot(name)
        self.fabric.set_links(name, True)

    # --- asking ---

    @property
    def home(self) -> Path:
        """/home of all hosts, as this process reaches it."""
        return self.hosts.outside(self.hosts.shared_home())

    def write(self, name: str, text: str) -> None:
        """A file of the user's, in her home."""
        path = self.home / USER / name
        path.write_text(text)
        subprocess.run(["chown", "1999:1999", path], check=True)

    def ask(self, host: str, command: str, user: str = "root") -> str:
        """What it prints, errors as well."""
        return self.hosts.on(host, command, user).stdout

    def diagnosis(self) -> str:
        """What each host says of itself, for the report of a failure."""
        said = []
        for name in ADDRESSES:
            if self.hosts.is_on(name):
                said.append(f"--- {name}\n" + self.ask(name, "systemctl --failed -q; journalctl -q -n 30 --no-hostname -o cat "
                            "-u slurmctld -u slurmd -u munge -u restartd -u nodewatchd; journalctl -q -n 15 -o cat -u fabricwatchd; "
                            "tail -qn 6 /var/log/slurm/*.log; [ $(hostname) != head ] || { sinfo; sinfo -R; squeue; } 2>&1"))
        return "\n".join([*said, *(tail(log) for log in sorted((self.hosts.root / "log").glob("ctl.*.log")))])
