"""railctl enable and disable on a cluster whose jobs run all the time, and what goes wrong on the way."""

import json

from railcluster.cluster import Options
from railcluster.process import wait_for
from railcluster.queue import fields, log_lines, nodes_of, running_on, state, submit, units_of, wait_for_resources, wait_state
from railcluster.site import Site, run_railctl
from railcluster.testing import check, equal, holds

NEEDS = ["railctl", "restartd", ".libs/select_rail.so", ".libs/job_submit_rail.so", ".libs/spank_rail.so"]


def options(build):
    """Stock Slurm to begin with."""
    return Options(build, units=2, hosts_per_unit=2,
                   settings={"SelectType": "select/cons_tres", "JobSubmitPlugins": "all_partitions"})


def running_with(cluster, key):
    text = cluster.out("scontrol", "show", "config")
    return next(line.split("=", 1)[1].strip() for line in text.splitlines() if line.split("=")[0].strip() == key)


def way(cluster):
    return "topology" if cluster.options.userland else "select"


def chooser(cluster):
    return running_with(cluster, {"select": "SelectType", "topology": "TopologyPlugin"}[way(cluster)])


class Watched:
    """A job that runs all the time: one step without end, and one that it starts whenever it is told to."""

    def __init__(self, cluster, nodes=2):
        self.cluster, self.told = cluster, 0
        self.folder = cluster.root / "watched"
        self.folder.mkdir(exist_ok=True)
        for old in self.folder.glob("*"):
            old.unlink()
        script = (f"srun -N1 -n1 sleep 1000 & n=0; while [ ! -e {self.folder}/end ]; do if [ -e {self.folder}/$n.go ]; then "
                  f"srun -N{nodes} --overlap hostname >{self.folder}/$n.out 2>&1; echo $? >{self.folder}/$n.rc; n=$((n+1)); fi; "
                  "sleep 0.1; done; scancel --signal=KILL $SLURM_JOB_ID.0; exit 0")
        self.job = submit(cluster, f"-N{nodes}", "-t60", script=script)
        self.nodes = running_on(cluster, self.job)
        self.began = fields(cluster, self.job)["StartTime"]
        self.step()

    def step(self):
        """It goes on, and starts a step on all its nodes."""
        # Until slurmctld has heard from a node again, srun is told to wait, for up to a minute.
        wait_for(lambda: set(self.cluster.out("sinfo", "-h", "-n", ",".join(self.nodes), "-o", "%t").split()) <= {"alloc", "drng"}, 60,
                 "the job's nodes to be known")
        (self.folder / f"{self.told}.go").touch()
        rc = self.folder / f"{self.told}.rc"
        wait_for(lambda: rc.exists() and rc.read_text(), 60, "the running job's new step to end",
                 [self.cluster.log("ctl", "slurmctld"), self.cluster.log(self.nodes[0], "slurmd")])
        equal(rc.read_text().strip(), "0", f"its status: {(self.folder / f'{self.told}.out').read_text()}")
        self.told += 1
        seen = fields(self.cluster, self.job)
        equal((seen["JobState"], seen["Restarts"], seen["StartTime"], nodes_of(self.cluster, self.job)),
              ("RUNNING", "0", self.began, self.nodes), "the job that runs all the time")

    def end(self):
        (self.folder / "end").touch()
        wait_state(self.cluster, self.job, "COMPLETED", 60)


def railctl(cluster, *words, status=0):
    result = run_railctl(cluster, *words)
    check(result.returncode == status, f"railctl {' '.join(words)}: exit {result.returncode}, not {status}:\n"
          f"{result.stdout}{result.stderr}")
    return result.stdout + result.stderr


def plan(cluster, *words):
    return json.loads(run_railctl(cluster, "--json", *words).stdout)


def kept(cluster):
    return sorted(path.name for path in (cluster.root / "etc").glob("slurm.conf.before-railyard-*"))


def test_the_plan_changes_nothing(cluster):
    """Without --apply the order is printed, with a line for each tool, and nothing is touched."""
    conf = cluster.slurm.conf("ctl")
    before, copies = conf.read_bytes(), kept(cluster)
    text = railctl(cluster, "enable")
    for line in ("clush -w", "pdsh -w", "ansible all"):
        holds(text, line, "the plan")
    found = plan(cluster, "enable")
    equal([step["id"] for step in found["steps"]],
          ["flags", "hosts.check", "slurmctld.stop", "conf.head", "hosts.copy", "hosts.restart", "slurmctld.start", "verify"]
          if way(cluster) == "select" else
          ["flags", "hosts.check", "slurmctld.stop", "conf.head", "slurmctld.start", "verify", "hosts.copy"], "steps")
    equal((conf.read_bytes(), kept(cluster)), (before, copies), "files")
    holds(railctl(cluster, "disable"), "nothing to do", "disable of what is not on")


def test_on_and_off_with_running_jobs(cluster):
    """A job with a step that runs and steps that it starts lives through both; a waiting one is not lost either."""
    watched = Watched(cluster)
    waiting = submit(cluster, "-N4", "-t5")
    wait_for_resources(cluster, waiting)
    conf = cluster.slurm.conf("ctl")
    before, copies = conf.read_text(), kept(cluster)
    mode = conf.stat()
    with Site(cluster) as site:
        text = railctl(cluster, "enable", "--apply", *site.flags())
        equal(chooser(cluster), f"{way(cluster)}/rail", "what slurmctld runs")
        equal(running_with(cluster, "JobSubmitPlugins"), "all_partitions,rail", "JobSubmitPlugins")
        holds(text, "jobs run on", "what it says")
        equal((conf.stat().st_mode, conf.stat().st_uid), (mode.st_mode, mode.st_uid), "mode and owner")
        copies = [name for name in kept(cluster) if name not in copies]
        equal(len(copies), 1, "kept files")
        equal((cluster.root / "etc" / copies[0]).read_text(), before, "the kept file")
        watched.step()
        equal(state(cluster, waiting), "PENDING", "the waiting job")
        job = submit(cluster, "-N2", "-t5", "--rail-span=unit", script="srun hostname")
        wait_state(cluster, job, "COMPLETED", 60)
        equal(len(units_of(cluster, nodes_of(cluster, job))), 1, "units of a job with a span")

        asked = len(site.asked)
        holds(railctl(cluster, "enable", "--apply", *site.flags()), "nothing to do", "a second time")
        equal(site.asked[asked:], [], "what a second time does")
        check(plan(cluster, "enable")["done"], "the plan is done")

        railctl(cluster, "disable", "--apply", *site.flags())
        equal(running_with(cluster, "JobSubmitPlugins"), "all_partitions", "JobSubmitPlugins")
        check(chooser(cluster) != f"{way(cluster)}/rail", "it is still on")
        equal(conf.read_text(), before, "slurm.conf after both")
        watched.step()
        watched.end()
        wait_state(cluster, waiting, "RUNNING", 60)
        holds(railctl(cluster, "disable", "--apply", *site.flags()), "nothing to do", "a second time")


def test_flags_alone(cluster):
    """The flags of jobs are switched on and off by a line of plugstack.conf, which keeps its other lines; no daemon stops."""
    path = cluster.root / "etc" / "plugstack.conf"
    good = path.read_text()

    def known():
        return "--rail-span" in cluster.out("sbatch", "--help")
    with Site(cluster) as site:
        try:
            path.write_text(f"# ours\n{good}")
            railctl(cluster, "disable", "flags", "--apply", *site.flags())
            equal((known(), path.read_text()), (False, "# ours\n"), "off")
            railctl(cluster, "enable", "flags", "--apply", *site.flags())
            equal((known(), path.read_text()), (True, "# ours\noptional spank_rail.so\n"), "on")
            holds(railctl(cluster, "enable", "flags", "--apply", *site.flags()), "nothing to do", "again")
        finally:
            path.write_text(good)
        equal([words for words in site.asked if words[0] == "service"], [], "services")


def test_the_log_has_the_emergency_line(cluster):
    """slurmctld's log says how to do without the plugin, at each start with it and in no other program."""
    with Site(cluster) as site:
        before = len(log_lines(cluster, "to do without this plugin"))
        railctl(cluster, "enable", "--apply", *site.flags())
        equal(len(log_lines(cluster, "to do without this plugin")), before + 1, "lines")
        check("to do without" not in cluster.run("sinfo").stderr, "sinfo says it")
        railctl(cluster, "disable", "--apply", *site.flags())


def test_a_slurmctld_that_does_not_start(cluster):
    """job_submit_rail.so goes between the look at it and the start: the former slurm.conf comes back, jobs run on."""
    watched = Watched(cluster)
    conf = cluster.slurm.conf("ctl")
    before = conf.read_text()
    plugin = cluster.root / "plugins" / "job_submit_rail.so"
    target = plugin.readlink()
    with Site(cluster) as site:
        site.when["stop"] = plugin.unlink
        try:
            text = railctl(cluster, "enable", "--apply", *site.flags(), status=1)
        finally:
            plugin.symlink_to(target)
        holds(text, "slurmctld runs with the former slurm.conf again", "what it says")
        equal(conf.read_text(), before, "slurm.conf")
        equal(running_with(cluster, "JobSubmitPlugins"), "all_partitions", "what runs")
        watched.step()
        job = submit(cluster, "-N2", "-t5", script="srun hostname")
        wait_state(cluster, job, "COMPLETED", 60)
        railctl(cluster, "enable", "--apply", *site.flags())  # with the plugin there
        watched.step()
        railctl(cluster, "disable", "--apply", *site.flags())
    watched.end()


def test_a_command_that_is_cut_off_goes_on(cluster):
    """Killed while slurmctld is stopped, while slurmds restart and while slurmctld starts: the next one goes on from there."""
    watched = Watched(cluster)
    with Site(cluster) as site:
        for moment in ("stop", "restart", "start") if way(cluster) == "select" else ("stop", "start"):
            site.when[moment] = site.kill_railctl
            text = run_railctl(cluster, "enable", "--apply", *site.flags()).stderr
            check(not site.when, f"it was not killed at {moment}: {text}")
            equal("stopping slurmctld" in text, moment == "stop", f"whether it begins anew: {text}")
            wait_for(lambda: cluster.alive("ctl", "slurmctld") == (moment == "start"), 30, f"slurmctld after {moment}")
            found = plan(cluster, "enable")
            equal((found["done"], found["obstacles"]), (moment == "start", []), f"the plan after a kill at {moment}")
        railctl(cluster, "enable", "--apply", *site.flags())
        watched.step()
        railctl(cluster, "disable", "--apply", *site.flags())
        watched.step()
    watched.end()


def test_something_in_the_way_stops_it_at_once(cluster):
    """A plugin for another release, a file that others can write to, hosts not looked at: nothing is touched."""
    conf = cluster.slurm.conf("ctl")
    before, copies = conf.read_bytes(), kept(cluster)
    plugin = cluster.root / "plugins" / f"{way(cluster)}_rail.so"
    target = plugin.readlink()
    with Site(cluster) as site:
        holds(railctl(cluster, "enable", "--apply", *site.flags(hosts=False), status=1), "--hosts-checked", "without a look at hosts")
        conf.chmod(0o666)
        holds(railctl(cluster, "enable", "--apply", *site.flags(), status=1), "others than root can write", "an open file")
        conf.chmod(0o644)
        plugin.unlink()
        try:
            holds(railctl(cluster, "enable", "--apply", *site.flags(), status=1), f"there is no {plugin.name} in", "a missing plugin")
            holds(railctl(cluster, "enable", "--check-host", status=1), "there is no", "this host")
        finally:
            plugin.symlink_to(target)
        holds(railctl(cluster, "enable", "--check-host", "--expect", "on", status=1), "has placement off", "a host with the former file")
        holds(railctl(cluster, "enable", "--check-host", "--expect", "off"), "can be switched on here", "a sound host")
        site.refuse["--check-host"] = "n002: there is no plugin"
        holds(railctl(cluster, "enable", "--apply", *site.flags(), status=1), "n002: there is no plugin", "a host without it")
        equal([words for words in site.asked if words[0] == "service"], [], "what was done to slurmctld")
    equal((conf.read_bytes(), kept(cluster)), (before, copies), "files")


def test_acting_and_observing(cluster):
    """restartd is told to observe, and to act again; not while the doctor finds an error."""
    conf = cluster.agents.conf
    before = conf.read_text()

    def observes():
        return json.loads(cluster.out("railctl", "--json", "status"))["observe_only"]
    with Site(cluster) as site:
        try:
            railctl(cluster, "disable", "acting", "--apply", *site.flags())
            equal((observes(), conf.read_text()), (True, before.replace("observe_only = false", "observe_only = true")), "observing")
            holds(railctl(cluster, "disable", "acting", "--apply", *site.flags()), "nothing to do", "a second time")
            cluster.agents.stop("ctl", "restartd")
            try:
                holds(railctl(cluster, "enable", "acting", "--apply", *site.flags(), status=1), "nothing has been changed", "with an error")
            finally:
                cluster.agents.start_restartd()
            site.refuse["reload"] = "Job failed"
            holds(railctl(cluster, "enable", "acting", "--apply", *site.flags(), status=1), "Job failed", "a reload that fails")
            equal((observes(), "observe_only = true" in conf.read_text()), (True, True), "what is left")
            site.refuse.clear()
            railctl(cluster, "enable", "acting", "--apply", *site.flags())
            equal((observes(), conf.read_text()), (False, before), "acting")
        finally:
            conf.write_text(before)
            cluster.daemons["ctl", "restartd"].kill(1)
