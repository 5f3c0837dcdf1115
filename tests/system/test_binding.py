"""What a rank gets of its host: GPU, HCA, CPUs, and the variables that say so to UCX and NCCL."""

import contextlib
import json
import re
import subprocess

from railcluster.cluster import Options
from railcluster.process import wait_for
from railcluster.queue import output_of
from railcluster.testing import check, equal, holds, skip

NEEDS = ["railtopo", ".libs/spank_rail.so"]
LINE = re.compile(r"^rail-bind: rank (\d+) host (\S+) gpu (\S+) hca (\S+) numa (\S+) cpus (\S+)( \(.*\))?$", re.M)
ALL = ",".join(f"mlx5_{rail}:1" for rail in range(8))
TOLD = ("UCX_NET_DEVICES", "NCCL_IB_HCA", "NCCL_CROSS_NIC", "NCCL_TOPO_FILE", "CUDA_VISIBLE_DEVICES")


def options(build):
    # The tests take HCAs away for a moment: restartd is not to drain the host for that.
    return Options(build=build, railyard={"restartd.observe_only": "true"})


def allowed_cpus():
    """The first two CPUs this machine lets us use."""
    with open("/proc/self/status", encoding="ascii") as status:
        ranges = next(line.split()[1] for line in status if line.startswith("Cpus_allowed_list"))
    cpus = []
    for part in ranges.split(","):
        first, _, last = part.partition("-")
        cpus += range(int(first), int(last or first) + 1)
    return cpus[:2]


def write_numa(root, nodes):
    """What hwloc reads of a machine with these CPUs in each NUMA node."""
    def put(path, text):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{text}\n")

    def listed(cpus):
        return ",".join(str(cpu) for cpu in cpus)

    def mask(cpus):
        words = [sum(1 << cpu % 32 for cpu in cpus if cpu // 32 == word) for word in range(max(cpus) // 32 + 1)]
        return ",".join(f"{word:08x}" for word in reversed(words))

    system, everything = root / "sys/devices/system", [cpu for cpus in nodes for cpu in cpus]
    for name in ("online", "possible", "present"):
        put(system / "cpu" / name, listed(everything))
    put(system / "node/online", f"0-{len(nodes) - 1}")
    for number, cpus in enumerate(nodes):
        node = system / f"node/node{number}"
        put(node / "cpumap", mask(cpus))
        put(node / "cpulist", listed(cpus))
        put(node / "meminfo", f"Node {number} MemTotal: 1000000 kB")
        for cpu in cpus:
            topology = system / f"cpu/cpu{cpu}/topology"
            put(topology / "physical_package_id", number)
            put(topology / "core_id", cpu)
            for name, of in (("core_siblings", cpus), ("package_cpus", cpus), ("thread_siblings", [cpu]), ("core_cpus", [cpu])):
                put(topology / name, mask(of))
    put(root / "proc/cpuinfo", "\n".join(f"processor\t: {cpu}\n" for cpu in everything))
    put(root / "proc/meminfo", "MemTotal: 2000000 kB")
    put(root / "proc/mounts", "")


@contextlib.contextmanager
def facts(cluster, change=lambda document: None):
    """Hosts of 8 GPUs in two NUMA nodes, each with the HCA of its rail; their kernels have these HCAs."""
    agents = cluster.agents
    before = agents.fabric.read_bytes()
    document = json.loads(before)
    for host in document["hosts"]:
        for rail, hca in enumerate(host["hcas"]):
            hca.update(pci=f"0000:{0x18 + 8 * rail:02x}:00.0", numa=rail // 4, gpu=rail)
        host["gpus"] = [{"pci": f"0000:{0x19 + 8 * rail:02x}:00.0", "numa": rail // 4} for rail in range(8)]
    change(document)
    agents.fabric.write_text(json.dumps(document))
    cpus = allowed_cpus()
    if len(cpus) == 2:
        for node in cluster.nodes:
            write_numa(agents.hardware(node), [[cpus[0]], [cpus[1]]])
    stacks = [cluster.slurm.conf(node).parent / "plugstack.conf" for node in {None, *cluster.nodes}]
    stacks = {path: path.read_text() for path in stacks}
    try:
        for path, text in stacks.items():
            path.write_text(text.replace("spank_rail.so", f"spank_rail.so fsroot={cluster.root}/hardware/%n"))
        yield cpus
    finally:
        agents.fabric.write_bytes(before)
        for path, text in stacks.items():
            path.write_text(text)


def printed(cluster, *words, env=None):
    """The lines of --rail-bind=print by rank: host, gpu, hca, numa, cpus, why not."""
    result = cluster.run("srun", "-Q", *words, "true", env=env)
    equal(result.returncode, 0, f"srun {' '.join(words)}: {result.stderr}")
    return {int(line[0]): line[1:] for line in LINE.findall(result.stderr)}


def variables(cluster, *words, env=None):
    """What each rank finds in its environment, by rank and variable."""
    script = f"env | grep -E '^({'|'.join(TOLD)})=' | sed \"s/^/$SLURM_PROCID /\"; echo $SLURM_PROCID"
    found = {}
    for line in cluster.out("srun", "-Q", *words, "sh", "-c", script, env=env).splitlines():
        rank, _, rest = line.partition(" ")
        name, _, value = rest.partition("=")
        found.setdefault(int(rank), {}).update({name: value} if name else {})
    return found


def test_each_rank_is_bound_to_its_gpu(cluster):
    """Rank by rank: GPU, HCA, NUMA node, and CPUs as the kernel says them."""
    with facts(cluster) as cpus:
        if len(cpus) < 2:
            skip("this machine lets us use one CPU only")
        lines = printed(cluster, "-N2", "-n16", "--ntasks-per-node=8", "--rail-bind=print")
        wanted = {8 * node + local: (name, str(local), f"mlx5_{local}:1", str(local // 4), str(cpus[local // 4]), "")
                  for node, name in enumerate(cluster.nodes[:2]) for local in range(8)}
        equal(lines, wanted, "lines")
        status = "echo $SLURM_PROCID $(sed -n 's/^Cpus_allowed_list:.//p' /proc/self/status)"
        said = cluster.out("srun", "-Q", "-N1", "-n8", "sh", "-c", status).splitlines()
        equal(sorted(said), [f"{local} {cpus[local // 4]}" for local in range(8)], "CPUs without a flag")
        said = cluster.out("srun", "-Q", "-N1", "-n2", "--rail-bind=off", "sh", "-c", status).splitlines()
        check(all(line.split()[1] != str(cpus[0]) for line in said), f"CPUs are bound with --rail-bind=off: {said}")


def test_the_environment_names_the_rails(cluster):
    """UCX is told of the rank's HCA, NCCL of all, and of a topology file that is there and whole."""
    with facts(cluster):
        found = variables(cluster, "-N1", "-n8")
        for rank in range(8):
            equal(found[rank]["UCX_NET_DEVICES"], f"mlx5_{rank}:1", "UCX_NET_DEVICES")
            equal((found[rank]["NCCL_IB_HCA"], found[rank]["NCCL_CROSS_NIC"]), ("=" + ALL, "0"), "NCCL")
            check("CUDA_VISIBLE_DEVICES" not in found[rank], "GPUs are hidden without being asked")
        exported = subprocess.run([cluster.agents.build / "railtopo", "export", cluster.agents.fabric, "--format",
                                   "nccl-topo", "--host", cluster.nodes[0]], capture_output=True, text=True, check=True).stdout
        path = found[0]["NCCL_TOPO_FILE"]
        equal(cluster.out("srun", "-Q", "-N1", "cat", path), exported.strip(), "topology file")
        equal(cluster.out("srun", "-Q", "-N1", "stat", "-c", "%U %a", path), "root 644", "owner and mode")
        equal(variables(cluster, "-N1", "-n1")[0]["UCX_NET_DEVICES"], ALL, "all rails of a single rank")
        equal(variables(cluster, "-N1", "-n2", "--rail-bind=off"), {0: {}, 1: {}}, "--rail-bind=off")


def test_gpus_are_those_of_the_step(cluster):
    """Fewer GPUs than the host has, and GPUs that Slurm gave to single tasks."""
    with facts(cluster):
        found = variables(cluster, "-N1", "-n2", "--gres=gpu:2")
        equal([(found[rank]["UCX_NET_DEVICES"], found[rank]["CUDA_VISIBLE_DEVICES"]) for rank in (0, 1)],
              [("mlx5_0:1", "0,1"), ("mlx5_1:1", "0,1")], "two GPUs")
        equal(found[0]["NCCL_IB_HCA"], "=mlx5_0:1,mlx5_1:1", "the rails of two GPUs")
        found = variables(cluster, "-N1", "-n2", "--gres=gpu:2", "--rail-bind=gpu")
        equal([found[rank]["CUDA_VISIBLE_DEVICES"] for rank in (0, 1)], ["0", "1"], "--rail-bind=gpu")
        found = variables(cluster, "-N1", "-n2", "--gpus-per-task=2", "--rail-bind=gpu")
        equal([(found[rank]["UCX_NET_DEVICES"], found[rank]["CUDA_VISIBLE_DEVICES"]) for rank in (0, 1)],
              [("mlx5_0:1,mlx5_1:1", "0,1"), ("mlx5_2:1,mlx5_3:1", "2,3")], "two GPUs a task")
        equal(variables(cluster, "-N1", "-n4", "--rail-bind=gpu")[3]["CUDA_VISIBLE_DEVICES"], "6,7", "two GPUs a rank")


def test_the_user_has_the_last_word(cluster):
    """Variables, GPUs and CPU binding that are given stay."""
    with facts(cluster):
        mine = {"UCX_NET_DEVICES": "mlx5_7:1", "NCCL_IB_HCA": "mlx5", "NCCL_CROSS_NIC": "2", "NCCL_TOPO_FILE": "/t"}
        equal(variables(cluster, "-N1", "-n2", env=mine), {0: mine, 1: mine}, "variables of the user")
        found = variables(cluster, "-N1", "-n2", "--rail-bind=gpu", "--gres=gpu:8", "--gpu-bind=map_gpu:6,5")
        equal([(found[rank]["CUDA_VISIBLE_DEVICES"], found[rank]["UCX_NET_DEVICES"]) for rank in (0, 1)],
              [("6", "mlx5_6:1"), ("5", "mlx5_5:1")], "GPUs of the user")
        lines = printed(cluster, "-N1", "-n8", "--cpu-bind=none", "--rail-bind=print")
        equal((lines[4][1], lines[4][5]), ("4", " (srun's --cpu-bind is none)"), "rank 4")
        check("UCX_NET_DEVICES" not in variables(cluster, "-N1", "-n2", env={"UCX_TLS": "tcp,self"})[0], "UCX over TCP is told of HCAs")
        (cluster.root / "nccl.conf").write_text("NCCL_IB_HCA=mlx5_1\n")
        found = variables(cluster, "-N1", "-n2", env={"NCCL_CONF_FILE": f"{cluster.root}/nccl.conf"})
        check("NCCL_IB_HCA" not in found[0] and "NCCL_CROSS_NIC" in found[0], f"nccl.conf is overruled: {found}")


def test_a_script_hands_on_and_its_steps_choose(cluster):
    """A batch script names all rails; its steps name each rank's, unless the script said otherwise."""
    with facts(cluster):
        show = "srun -Q -n8 sh -c 'echo rank $SLURM_PROCID $UCX_NET_DEVICES'"
        script = f"echo script $UCX_NET_DEVICES; {show}; export UCX_NET_DEVICES=mlx5_6:1; {show}"
        lines = output_of(cluster, "-N1", "--ntasks-per-node=8", script=script).splitlines()
        equal(lines[0], f"script {ALL}", "script")
        equal(sorted(lines[1:9]), [f"rank {rank} mlx5_{rank}:1" for rank in range(8)], "first step")
        equal(sorted(lines[9:]), [f"rank {rank} mlx5_6:1" for rank in range(8)], "second step")


def test_irregular_hosts(cluster):
    """A dead link, an HCA for storage and a device that the kernel has lost are not named; others stand in."""
    def change(document):
        host = document["hosts"][0]
        host["hcas"][7].update(role="storage")
        del host["hcas"][7]["rail"], host["hcas"][7]["gpu"]
        dead = host["hcas"][1]["guid"]
        for link in document["links"]:
            if dead in (link["ends"][0][0], link["ends"][1][0]):
                link["state"] = "down"
    with facts(cluster, change):
        device = cluster.agents.hardware(cluster.nodes[0]) / "sys/class/infiniband/mlx5_4"
        lost = device.parents[1] / "gone"  # under another name it would be known by its GUID
        device.rename(lost)
        try:
            lines = printed(cluster, "-N1", "-w", cluster.nodes[0], "-n8", "--rail-bind=print")
            equal([lines[rank][2] for rank in range(8)],
                  ["mlx5_0:1", "mlx5_0:1", "mlx5_2:1", "mlx5_3:1", "mlx5_5:1", "mlx5_5:1", "mlx5_6:1", "mlx5_6:1"], "HCAs")
        finally:
            lost.rename(device)


def test_without_facts_nothing_is_said(cluster):
    """A host the fabric does not know, a broken file: jobs run as without the plugin, with one line when asked."""
    def forget(document):
        document["hosts"][0]["name"] = "elsewhere"
    node = cluster.nodes[0]
    with facts(cluster, forget):
        equal(variables(cluster, "-w", node, "-n2"), {0: {}, 1: {}}, "variables")
        result = cluster.run("srun", "-Q", "-w", node, "-n2", "--rail-bind=gpu", "true")
        equal((result.returncode, result.stderr.count("rail-bind: ")), (0, 1), f"one line: {result.stderr}")
        holds(result.stderr, f"does not know this host, {node}", "line")
    with facts(cluster):
        cluster.agents.fabric.write_text('{"railyard_fabric": 1, "hosts": [')
        result = cluster.run("srun", "-Q", "-N1", "-n2", "true")
        equal((result.returncode, result.stderr), (0, ""), "a broken file without a flag")
        holds(cluster.run("srun", "-Q", "-N1", "--rail-bind=near", "true").stderr, "railtopo check shows where", "line")


def test_a_changed_fabric_counts_from_the_next_step(cluster):
    """What a host keeps of the fabric file is used while that file is the same, and no longer; damaged, it is made anew."""
    if not cluster.yard.namespaces:
        skip("hosts are plain processes: they share one /run")
    node = cluster.nodes[0]
    words = ("-w", node, "-N1", "-n8")
    with facts(cluster):
        kept = cluster.root / "hosts" / node / "run" / "railyard" / f"fabric-{node}"
        equal(variables(cluster, *words)[2]["UCX_NET_DEVICES"], "mlx5_2:1", "at first")
        good = kept.read_text()
        check(len(good.splitlines()) < 60, "more than the host's own part is kept")
        head, body = good.split("\n", 1)
        part = json.loads(body)
        hcas = part["hosts"][0]["hcas"]
        hcas[2]["gpu"], hcas[3]["gpu"] = 3, 2
        kept.write_text(f"{head}\n{json.dumps(part)}\n")
        equal(variables(cluster, *words)[2]["UCX_NET_DEVICES"], "mlx5_3:1", "from what is kept")
        kept.write_text(good[:len(good) // 2])
        equal(variables(cluster, *words)[2]["UCX_NET_DEVICES"], "mlx5_2:1", "after damage")
        equal(kept.read_text(), good, "what is kept after damage")
        document = json.loads(cluster.agents.fabric.read_text())
        hcas = document["hosts"][0]["hcas"]
        hcas[2]["gpu"], hcas[3]["gpu"] = 3, 2
        cluster.agents.fabric.write_text(json.dumps(document))
        equal(variables(cluster, *words)[2]["UCX_NET_DEVICES"], "mlx5_3:1", "after a change of the fabric")


def test_files_are_only_put_where_nobody_else_writes(cluster):
    """A run folder that others can write to, or a link in its place, gets no file."""
    if not cluster.yard.namespaces:
        skip("hosts are plain processes: they share one /run")
    node = cluster.nodes[0]
    with facts(cluster):
        folder = cluster.root / "hosts" / node / "run" / "railyard"
        for spoil in (["mkdir", "-m", "0777", str(folder)], ["ln", "-s", "/tmp", str(folder)]):
            # A step that is on its way out may put a file there in between.
            wait_for(lambda: cluster.run("rm", "-rf", str(folder)).returncode == 0 and cluster.run(*spoil).returncode == 0, 20,
                     f"{spoil[0]} in place of the run folder")
            found = variables(cluster, "-w", node, "-n2")
            check("NCCL_TOPO_FILE" not in found[0] and "NCCL_IB_HCA" in found[0], f"after {spoil[0]}: {found}")
            equal(list((cluster.root / "hosts" / node / "tmp").glob("nccl*")), [], "files behind the link")
        cluster.run("rm", "-rf", str(folder))
        check("NCCL_TOPO_FILE" in variables(cluster, "-w", node, "-n2")[0], "no file in a sound folder")


def test_bad_words_are_refused(cluster):
    for command in (("sbatch", "--wrap", "true"), ("salloc", "true"), ("srun", "true")):
        result = cluster.run(command[0], "--rail-bind=cores", *command[1:])
        check(result.returncode != 0, f"{command[0]} takes --rail-bind=cores")
        holds(result.stderr, "--rail-bind=cores: must be off, near, gpu, print, near,print or gpu,print", command[0])
    result = cluster.run("srun", "true", env={"RAIL_BIND": "cores"})
    holds(result.stderr, "RAIL_BIND in the environment: --rail-bind=cores", "srun")
