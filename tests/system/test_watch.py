"""Files that jobs read on a node, whose they are and how long they live; and what a fabric file cannot tell an agent."""

import json
import re
import signal

from railcluster.agents import SOURCE
from railcluster.process import wait_for
from railcluster.testing import check, equal, skip

from test_binding import facts

NEEDS = ["railtopo", "restartd", "nodewatchd", ".libs/spank_rail.so"]
RUN = "/run/railyard"
UNIT = SOURCE / "etc" / "systemd" / "nodewatchd.service.in"


def own_run_folders(cluster):
    if not cluster.yard.namespaces:
        skip("hosts are plain processes: they share /run")


def listing(cluster, node):
    """All that lies in the node's run folder, by path."""
    return cluster.run("find", RUN, host=node).stdout.split()


def stop_as_systemd_does(cluster, node, restarts):
    """Ends nodewatchd and does with its runtime folder what systemd.exec(5) says of the unit's settings."""
    cluster.agents.stop(node, "nodewatchd")
    unit = dict(re.findall(r"^(RuntimeDirectory\w*)=(.*)$", UNIT.read_text(), re.M))
    keep = unit.get("RuntimeDirectoryPreserve", "no")
    check(keep in ("no", "yes", "restart"), f"RuntimeDirectoryPreserve={keep}")
    if keep == "no" or (keep == "restart" and not restarts):
        for name in unit["RuntimeDirectory"].split():
            cluster.out("rm", "-rf", f"/run/{name}", host=node)


def waiting_job(cluster, name, **env):
    """A job of two nodes that tells its files and waits; its number, first node and these files."""
    told, go = cluster.root / f"{name}.told", cluster.root / f"{name}.go"
    script = (f"echo $SLURMD_NODENAME $RAIL_HOSTFILE $NCCL_TOPO_FILE >{told}.new; mv {told}.new {told}; "
              f"until [ -e {go} ]; do sleep 0.1; done; cat $RAIL_HOSTFILE >{told}.after")
    job = cluster.out("sbatch", "--parsable", "-N2", "--no-requeue", "-o", str(cluster.root / f"{name}.out"), "--wrap",
                      script, env=env)
    wait_for(told.exists, 30, "the job to start", [cluster.log("ctl", "slurmctld")])
    node, *files = told.read_text().split()
    return job, node, files, go


def is_file(cluster, node, path):
    return cluster.run("test", "-f", path, host=node).returncode == 0


def test_files_of_a_job_outlive_nodewatchd(cluster):
    """They are there after a restart of the agent, and after a stop and a start, until the job ends."""
    own_run_folders(cluster)
    with facts(cluster):
        job, node, files, go = waiting_job(cluster, "outlive")
        equal([path.startswith(RUN) for path in files], [True, True], f"RAIL_HOSTFILE and NCCL_TOPO_FILE: {files}")
        for restarts in (True, False):
            stop_as_systemd_does(cluster, node, restarts)
            cluster.agents.start_node(node)
            socket = f"{RUN}/job.sock"
            wait_for(lambda: cluster.run("test", "-S", socket, host=node).returncode == 0, 20, "nodewatchd to serve")
            for path in [*files, f"{RUN}/fabric-{node}"]:
                check(is_file(cluster, node, path), f"{path} has gone; {node} has {listing(cluster, node)}")
        hosts = cluster.out("cat", files[0], host=node)
        go.touch()
        after = cluster.root / "outlive.told.after"
        wait_for(after.exists, 20, "the job to go on")
        wait_for(lambda: f"{RUN}/job-{job}" not in listing(cluster, node), 20, "the job's files to go with it")
        equal(after.read_text().strip(), hosts, "what the job read at its end")
        check(is_file(cluster, node, files[1]), "the host's topology file, of no job, has gone")


def test_files_of_a_crashed_job_are_removed(cluster):
    """Where slurmstepd is killed nobody cleans up; the agent does, and leaves a running job's alone."""
    own_run_folders(cluster)
    job, node, files, _ = waiting_job(cluster, "crash")
    stepds = cluster.out("pgrep", "-f", rf"slurmstepd: \[{job}\.batch\]", host=node).split()
    check(stepds, "a slurmstepd of the batch script")
    cluster.out("kill", "-KILL", *stepds, host=node)
    cluster.run("scancel", job)
    wait_for(lambda: not cluster.out("squeue", "-h", "-j", job), 60, "the job to be gone")
    other, beside, theirs, go = waiting_job(cluster, "beside")
    cluster.agents.stop(node, "nodewatchd")
    cluster.agents.start_node(node)
    wait_for(lambda: not is_file(cluster, node, files[0]), 20, "the crashed job's file to go",
             [cluster.log(node, "nodewatchd")])
    check(is_file(cluster, beside, theirs[0]), f"job {other} runs and has lost its file")
    go.touch()


def test_a_users_node_name_makes_no_file(cluster):
    """SLURMD_NODENAME of a user's environment names nothing that root writes."""
    own_run_folders(cluster)
    stacks = [cluster.slurm.conf(node).parent / "plugstack.conf" for node in {None, *cluster.nodes}]
    stacks = {path: path.read_text() for path in stacks}
    try:
        for path, text in stacks.items():
            path.write_text(text.replace("spank_rail.so", f"spank_rail.so run={RUN}/%n"))
        for evil in ("evil", "../../../evil"):
            out = cluster.root / "evil.out"
            for command in (["sbatch", "-W", "-N2", "-o", str(out), "--wrap", "echo $RAIL_HOSTFILE"], ["srun", "-N2", "true"]):
                done = cluster.run(*command, env={"SLURMD_NODENAME": evil}, timeout=60)
                equal(done.returncode, 0, f"{command}: {done.stderr}")
            check(re.search(rf"^{RUN}/n\d+/job-\d+/hosts$", out.read_text()), f"RAIL_HOSTFILE: {out.read_text()}")
        for node in cluster.nodes[:2]:
            found = cluster.run("find", "/run", "/tmp", "/evil", "-name", "*evil*", host=node).stdout
            equal(found, "", f"what {node} has")
            check(is_file(cluster, node, f"{RUN}/{node}/fabric-{node}"), f"the excerpt: {listing(cluster, node)}")
    finally:
        for path, text in stacks.items():
            path.write_text(text)


def test_a_file_of_units_is_no_reason_to_miss_ports(cluster):
    """A fabric of topology.conf has no devices: agents say that they cannot miss any, and find nothing."""
    fabric = cluster.agents.fabric
    before = fabric.read_bytes()
    node = cluster.nodes[0]
    try:
        conf = cluster.root / "units.conf"
        conf.write_text("".join(f"SwitchName=s{n} Nodes={','.join(unit)}\n" for n, unit in enumerate(cluster.units)) +
                        f"SwitchName=top Switches=s[0-{len(cluster.units) - 1}]\n")
        fabric.unlink()
        cluster.out("railtopo", "discover", "--from", str(conf), "--out", str(fabric))
        for name in cluster.nodes:
            cluster.daemons[name, "nodewatchd"].kill(signal.SIGHUP)
        wait_for(lambda: "tells no GUID of any of its 1 HCA" in cluster.out("railctl", "explain", node), 30,
                 "railctl to say what is not watched", [cluster.log(node, "nodewatchd")])
        equal(json.loads(cluster.out("railctl", "--json", "status"))["incidents"], [], "incidents")
        said = cluster.run("nodewatchd", "--once", "--host", node, "--nvml=", "--kmsg=", "--sysfs",
                           f"{cluster.root}/hardware/{node}/sys", host=node)
        equal(said.returncode, 0, f"nodewatchd --once: {said.stdout}{said.stderr}")
        check("not watching fabric" in said.stdout, said.stdout)
    finally:
        fabric.write_bytes(before)
