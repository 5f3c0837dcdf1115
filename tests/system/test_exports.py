"""What railtopo export writes is read by the programs it is for: slurmctld, NCCL, Open MPI, Graphviz, a YAML reader.

None of these tests needs the cluster: each starts what it needs in a folder of its own.
"""

import ctypes
import json
import os
import re
import shutil
import socket
import subprocess
import tempfile
import xml.etree.ElementTree
from contextlib import contextmanager
from pathlib import Path

from railcluster.process import Pid, kill_tree, wait_for
from railcluster.testing import check, equal, skip
from railcluster.userland import Userland, debian13

NEEDS = ["railtopo"]
BLUE_VELA = "pods=2 units=4 hosts=32"


@contextmanager
def folder():
    with tempfile.TemporaryDirectory(prefix="railyard-export.") as path:
        yield Path(path)


def run(*command, seconds=60, **more):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=seconds, check=False,
                          **more)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(str(word) for word in command)}: exit status {done.returncode}:\n"
                             f"{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


def synth(build, here, words=BLUE_VELA):
    run(build / "railtopo", "synth", words, "--out", here / "fabric.json")
    return here / "fabric.json"


def export(build, fabric, name, *words):
    out = fabric.parent / name.replace("-", ".")
    run(build / "railtopo", "export", fabric, "--format", name, "--out", out, *words)
    return out


def with_facts(fabric, names=None):
    """Gives every host 8 GPUs, each near the HCA of its rail; and other names, if there are some."""
    document = json.loads(fabric.read_text())
    for index, host in enumerate(document["hosts"]):
        for rail, hca in enumerate(host["hcas"]):
            hca.update(pci=f"0000:{0x18 + 8 * rail:02x}:00.0", numa=rail // 4, gpu=rail)
        host["gpus"] = [{"pci": f"0000:{0x19 + 8 * rail:02x}:00.0", "numa": rail // 4}
                        for rail in range(len(host["hcas"]))]
        if names:
            host["name"] = names[index]
    fabric.write_text(json.dumps(document))


# --- Slurm ---

SLURM_CONF = """\
ClusterName=exports
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={root}/munge.sock
CredType=cred/munge
StateSaveLocation={root}/state
SlurmctldPidFile={root}/slurmctld.pid
SlurmctldLogFile={root}/slurmctld.log
PluginDir={plugins}
ProctrackType=proctrack/linuxproc
SlurmdTimeout=0
SuspendProgram=/bin/true
ResumeProgram=/bin/true
SuspendTime=3600
ResumeTimeout=36000
SelectType=select/cons_tres
TopologyPlugin=topology/{topology}
NodeName={nodes} CPUs=16 State=CLOUD
PartitionName=all Nodes=ALL Default=YES State=UP
"""


def inside(userland, *command):
    """The command, run with another Debian's programs where there is one."""
    if not userland.root:
        return [*command]
    return ["unshare", "--mount", "sh", "-ec", "\n".join([*userland.mounts(), 'exec "$@"']), "sh", *command]


@contextmanager
def slurmctld(root, nodes, topology="tree", userland=Userland()):
    """A controller with nodes that are never started; yields the environment for scontrol."""
    if os.geteuid() != 0:
        skip("not root: a private munged and slurmctld need it")
    for program in ("slurmctld", "scontrol", "munged"):
        if shutil.which(program) is None:
            skip(f"{program} is not installed")
    (root / "state").mkdir()
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    (root / "slurm.conf").write_text(SLURM_CONF.format(host=os.uname().nodename, port=port, root=root, nodes=nodes,
                                                       plugins=userland.plugins(), topology=topology))
    (root / "munge.key").write_bytes(os.urandom(128))
    (root / "munge.key").chmod(0o400)
    env = {**os.environ, "SLURM_CONF": str(root / "slurm.conf")}
    commands = [["munged", "--foreground", "--force", f"--key-file={root}/munge.key", f"--socket={root}/munge.sock",
                 f"--pid-file={root}/munged.pid", f"--log-file={root}/munged.log", f"--seed-file={root}/munged.seed"],
                inside(userland, "slurmctld", "-D", "-i", "-c")]
    started = []
    try:
        for name, command, ready in zip(("munged", "slurmctld"), commands, (root / "munge.sock", None)):
            with open(root / f"{name}.out", "wb") as out:
                process = subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, stdout=out, stderr=out)
            started.append(process)
            logs = [root / f"{name}.out", root / "slurmctld.log"]
            if ready:
                wait_for(ready.exists, 20, f"{name}'s socket", logs=logs)
            else:
                wait_for(lambda: subprocess.run(inside(userland, "scontrol", "ping"), env=env, capture_output=True, text=True, timeout=30,
                                                check=False).stdout.count(" is UP"), 60, "slurmctld", logs=logs)
        yield env
    finally:
        for process in reversed(started):
            kill_tree(Pid.of(process.pid))
            process.wait(timeout=10)


def test_slurmctld_has_the_units_as_its_topology(build):
    """scontrol show topology of a real controller names units, pods and the core with their hosts, and no problem."""
    with folder() as root:
        export(build, synth(build, root), "slurm-tree").rename(root / "topology.conf")
        units = json.loads(run(build / "railtopo", "show", root / "fabric.json", "--json"))["units"]
        with slurmctld(root, "n[001-256]") as env:
            shown = run("scontrol", "show", "topology", env=env)
            switches = {name: (int(level), nodes) for name, level, nodes in
                        re.findall(r"SwitchName=(\S+) Level=(\d+) LinkSpeed=\d+ Nodes=(\S+)", shown)}
            wanted = {unit["name"]: (0, run("scontrol", "show", "hostlist", ",".join(unit["hosts"]), env=env).strip())
                      for unit in units}
            wanted.update(pod1=(1, "n[001-128]"), pod2=(1, "n[129-256]"), core=(2, "n[001-256]"))
            equal(switches, wanted, "topology")
        equal(complaints((root / "slurmctld.log").read_text(), "switch|topolog"), [], "complaints")


# Of 64 hosts each, so that one controller loads them one after another.
ODD = {"pods of halves that meet nowhere": "pods=2 units=2 hosts=16 rails=8",
       "planes": "units=4 hosts=16 rails=4 planes=2",
       "NVLink domains": "units=4 hosts=16 rails=4 domains=4",
       "units of half the rails, and storage": "units=4 hosts=16 rails=4 halved=1 storage=1",
       "a Dragonfly+": "pods=4 units=2 hosts=8 rails=2 spines=4 globals=1",
       "spines back to back": "pods=2 units=2 hosts=16 rails=2 spines=2 globals=8",
       "hosts on a spine": "units=4 hosts=16 rails=1 spines=2",
       "two leaves cabled to each other": "units=2 hosts=32 rails=1 spines=1",
       "a ring of leaves": "units=4 hosts=16 rails=2 spines=1"}


def complaints(log, about):
    """Lines of slurmctld's log that warn of what `about` matches."""
    return [line for line in log.splitlines() if re.search(about, line, re.I)
            and re.search(r"error|warning|invalid|lack", line, re.I)]


def on_a_spine(fabric, hosts):
    """Plugs all cables of these hosts into the first spine."""
    document = json.loads(fabric.read_text())
    guids = {hca["guid"] for host in document["hosts"] if host["name"] in hosts for hca in host["hcas"]}
    spine = next(switch["guid"] for switch in document["switches"] if switch["name"].startswith("spine"))
    for port, link in enumerate(link for link in document["links"] if link["ends"][0][0] in guids):
        link["ends"][1] = [spine, 60 + port]
    fabric.write_text(json.dumps(document))


def in_a_ring(fabric):
    """Cables the leaves of each rail to each other, in a ring, instead of to spines."""
    document = json.loads(fabric.read_text())
    spines = {switch["guid"] for switch in document["switches"] if switch["name"].startswith("spine")}
    document["switches"] = [switch for switch in document["switches"] if switch["guid"] not in spines]
    document["links"] = [link for link in document["links"] if not spines & {guid for guid, _ in link["ends"]}]
    for rail in sorted({switch["name"].split("-")[-1] for switch in document["switches"]}):
        leaves = [switch["guid"] for switch in document["switches"] if switch["name"].endswith(rail)]
        for leaf, beside in zip(leaves, leaves[1:] + leaves[:len(leaves) > 2]):
            document["links"].append({**document["links"][0], "ends": [[leaf, 60], [beside, 61]]})
    fabric.write_text(json.dumps(document))


def test_slurmctld_loads_odd_fabrics(build):
    """Every host is in one switch of the lowest level and below one root, and slurmctld warns of nothing."""
    with folder() as root:
        log = root / "slurmctld.log"
        export(build, synth(build, root, ODD["planes"]), "slurm-tree").rename(root / "topology.conf")
        with slurmctld(root, "n[001-064]") as env:
            for what, words in ODD.items():
                (root / "fabric.json").unlink()
                fabric = synth(build, root, words)
                if what == "hosts on a spine":
                    on_a_spine(fabric, {"n001", "n040"})
                if "leaves" in what:
                    in_a_ring(fabric)
                export(build, fabric, "slurm-tree").rename(root / "topology.conf")
                read = len(log.read_text())
                run("scontrol", "reconfigure", env=env)
                switches = re.findall(r"SwitchName=(\S+) Level=(\d+) LinkSpeed=\d+ Nodes=(\S+)",
                                      run("scontrol", "show", "topology", env=env))
                leaves = ",".join(nodes for _, level, nodes in switches if level == "0")
                hosts = run("scontrol", "show", "hostnames", leaves, env=env).split()
                equal(sorted(hosts), [f"n{number:03}" for number in range(1, 65)], f"{what}: hosts of the lowest level")
                equal([nodes for _, level, nodes in switches if int(level) == max(int(l) for _, l, _ in switches)],
                      ["n[001-064]"], f"{what}: roots")
                equal(complaints(log.read_text()[read:], "switch|topolog"), [], f"{what}: complaints")


def test_slurmctld_loads_blocks(build):
    """Every host is in one block of Slurm 24.11, which warns of nothing: units, or NVLink domains where there are any."""
    userland = debian13()
    with folder() as root:
        log = root / "slurmctld.log"
        export(build, synth(build, root, ODD["planes"]), "slurm-block").rename(root / "topology.conf")
        with slurmctld(root, "n[001-064]", "block", userland) as env:
            for what, words in ODD.items():
                (root / "fabric.json").unlink()
                fabric = synth(build, root, words)
                export(build, fabric, "slurm-block").rename(root / "topology.conf")
                read = len(log.read_text())
                run(*inside(userland, "scontrol", "reconfigure"), env=env)
                shown = run(*inside(userland, "scontrol", "show", "topology"), env=env)
                blocks = [run("scontrol", "show", "hostnames", nodes, env=env).split()
                          for nodes in re.findall(r"BlockName=\S+ BlockIndex=\d+ Nodes=(\S+)", shown)]
                made = json.loads(run(build / "railtopo", "show", fabric, "--json"))
                equal(sorted(blocks), sorted(part["hosts"] for part in made.get("domains") or made["units"]),
                      f"{what}: blocks")
                equal(complaints(log.read_text()[read:], "block|topolog"), [], f"{what}: complaints")


def test_topology_yaml_is_what_slurm_documents(build):
    """topology.yaml holds a tree and blocks with the attributes of topology.yaml(5); no Slurm 25.05 reads it here."""
    try:
        import yaml  # pylint: disable=import-outside-toplevel
    except ImportError:
        skip("python3-yaml is not installed")
    with folder() as root:
        tree, block = yaml.safe_load(export(build, synth(build, root), "slurm-yaml").read_text())
        equal([tree["topology"], tree["cluster_default"], block["cluster_default"]], ["tree", True, False], "heads")
        switches = tree["tree"]["switches"]
        equal({key for switch in switches for key in switch}, {"switch", "nodes", "children"}, "attributes of switches")
        equal(switches[-1], {"switch": "core", "children": "pod[1-2]"}, "the core")
        equal(block["block"]["block_sizes"], [32, 128], "block sizes")
        equal(block["block"]["blocks"][0], {"block": "su1", "nodes": "n[001-032]"}, "the first block")


# --- NCCL ---

def nccl_library():
    for pattern in ("/usr/local/cuda*/lib*/libnccl.so.2", "/usr/lib/*/libnccl.so.2", "/usr/lib64/libnccl.so.2"):
        for path in sorted(Path("/").glob(pattern[1:])):
            return path
    return skip("NCCL is not installed: its reader cannot be asked")


def nccl_reader(path):
    """NCCL's functions that read a topology file and write one, found by the symbols that are not exported."""
    if shutil.which("nm") is None:
        skip("nm is not installed: NCCL's reader is found by its symbols")
    symbols = {}
    for line in subprocess.run(["nm", path], capture_output=True, text=True, check=False).stdout.splitlines():
        fields = line.split()
        if len(fields) == 3 and fields[1] in "tTwW":
            symbols[fields[2]] = int(fields[0], 16)
    read = next((name for name in symbols if re.match(r"_Z\d+ncclTopoGetXmlFromFile", name)), None)
    dump = next((name for name in symbols if re.match(r"_Z\d+ncclTopoDumpXmlToFile", name)), None)
    if not (read and dump and "ncclGetVersion" in symbols):
        skip(f"{path} is stripped: its reader cannot be found")
    library = ctypes.CDLL(str(path))
    base = ctypes.cast(library.ncclGetVersion, ctypes.c_void_p).value - symbols["ncclGetVersion"]
    return (ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_int)(base + symbols[read]),
            ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p)(base + symbols[dump]))


def test_nccl_reads_its_topology_file(build):
    """NCCL's own reader takes the file, and its writer gives the same bytes back."""
    read, dump = nccl_reader(nccl_library())
    with folder() as root:
        fabric = synth(build, root, "units=1 hosts=1")
        with_facts(fabric)
        file = export(build, fabric, "nccl-topo", "--host", "n001")
        nodes = 256
        parsed = ctypes.create_string_buffer(nodes * 65536)  # struct ncclXml: nodes used, nodes there, the nodes
        ctypes.cast(parsed, ctypes.POINTER(ctypes.c_int))[1] = nodes
        equal(read(str(file).encode(), parsed, 1), 0, "ncclTopoGetXmlFromFile")
        equal(ctypes.cast(parsed, ctypes.POINTER(ctypes.c_int))[0], 1 + 2 + 8 + 16, "elements NCCL knows")
        equal(dump(str(root / "dump.xml").encode(), parsed), 0, "ncclTopoDumpXmlToFile")
        equal((root / "dump.xml").read_text(), file.read_text(), "what NCCL read")


def test_nccl_topology_file_has_the_form_nccl_knows(build):
    """Well-formed; elements and attributes of NCCL's src/graph/xml.cc; each GPU beside the HCA of its rail."""
    with folder() as root:
        fabric = synth(build, root, "units=1 hosts=1")
        with_facts(fabric)
        text = export(build, fabric, "nccl-topo", "--host", "n001").read_text()
        check("\t" not in text and "<?" not in text and "  version" not in text, "NCCL's reader knows no such text")
        system = xml.etree.ElementTree.fromstring(text)
        equal((system.tag, system.attrib), ("system", {"version": "1"}), "top")
        equal([cpu.attrib for cpu in system], [{"numaid": "0"}, {"numaid": "1"}], "CPUs")
        bridges = [bridge for cpu in system for bridge in cpu]
        for rail, bridge in enumerate(bridges):
            equal(set(bridge.attrib), {"busid", "class", "link_speed", "link_width"}, "attributes of a bridge")
            equal([(device.tag, device.get("busid"), device.get("class")) for device in bridge],
                  [("pci", f"0000:{0x18 + 8 * rail:02x}:00.0", "0x020700"),
                   ("pci", f"0000:{0x19 + 8 * rail:02x}:00.0", "0x030200")], f"rail {rail}")
        equal(len(bridges), 8, "bridges")


# --- Open MPI ---

def mpirun(root, *words):
    if shutil.which("mpirun") is None:
        skip("mpirun is not installed")
    return run("mpirun", "--allow-run-as-root", "--display-map", *words, cwd=root,
               env={**os.environ, "OMPI_MCA_rmaps_base_oversubscribe": "1"})


def test_mpirun_reads_the_hostfile(build):
    """mpirun maps ranks to the hosts of a hostfile in its order, without starting anything there."""
    with folder() as root:
        hosts = export(build, synth(build, root, "units=2 hosts=4 rails=2"), "hostfile", "--nodes", "n[003-006]")
        shown = mpirun(root, "--do-not-launch", "-np", "8", "--hostfile", hosts, "true")
        equal(re.findall(r"Data for node: (\S+)\s+Num slots: (\d+)", shown),
              [(f"n{number:03}", "2") for number in range(3, 7)], "the map")


def test_mpirun_reads_the_rankfile(build):
    """mpirun runs the ranks of a rankfile on this host, bound as it says."""
    with folder() as root:
        fabric = synth(build, root, "units=1 hosts=1 rails=1")
        with_facts(fabric, [os.uname().nodename])
        shown = mpirun(root, "-np", "1", "--hostfile", export(build, fabric, "hostfile"), "--rankfile",
                       export(build, fabric, "rankfile"), "printenv", "OMPI_COMM_WORLD_RANK")
        equal(shown.split()[-1], "0", "the rank that ran")
        shown = mpirun(root, "-np", "1", "--hostfile", export(build, fabric, "hostfile"), "--rankfile",
                       export(build, fabric, "rankfile", "--cores", "1"), "true")
        check("socket 0[core 0" in shown or os.cpu_count() == 1, f"rank 0 is not bound to core 0:\n{shown}")


# --- Graphviz ---

def test_dot_draws_every_detail(build):
    """dot makes a picture of 1,024 hosts at each detail, with as many nodes as the detail has."""
    if shutil.which("dot") is None:
        skip("graphviz is not installed")
    with folder() as root:
        fabric = synth(build, root, "pods=8 units=4 hosts=32")
        for most, nodes in ((400, 32 + 8 + 1), (40, 8 + 1)):
            file = export(build, fabric, "dot", "--max", most)
            picture = xml.etree.ElementTree.fromstring(run("dot", "-Tsvg", file))
            groups = [group.get("class") for group in picture.iter("{http://www.w3.org/2000/svg}g")]
            equal(groups.count("node"), nodes, f"nodes at --max {most}")
            check(groups.count("edge") >= nodes - 1, f"{groups.count('edge')} edges at --max {most}")
        small = synth(build, root, "units=2 hosts=4 rails=2")
        picture = run("dot", "-Tsvg", export(build, small, "dot")).replace("&#45;", "-")
        for name in ("n001", "n008", "leaf-su2-r1", "su1", "su2", "pod1"):
            check(f">{name}<" in picture, f"{name} is not in the picture")
