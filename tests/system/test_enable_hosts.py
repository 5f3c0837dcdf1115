"""railctl enable by select/rail, with which every slurmd must restart: hosts that do not, or are away."""

import signal

from railcluster.process import wait_for
from railcluster.queue import fields, log_lines, nodes_of, state, submit, units_of, wait_for_resources, wait_state
from railcluster.site import Site
from railcluster.testing import check, equal, holds
from test_enable import NEEDS as ENABLE
from test_enable import Watched, kept, options, railctl, running_with  # noqa: F401

NEEDS = [*ENABLE, "src/sched/slurm/shadow/.libs/select_cons_tres.so"]
MARK = "railctl enable: restart slurmd"


def reason(cluster, node):
    return cluster.out("sinfo", "-h", "-n", node, "-o", "%E")


def test_no_slurmd_restarts(cluster):
    """A person who was told to restart them went home: the former slurm.conf comes back, and all goes on."""
    watched = Watched(cluster)
    conf = cluster.slurm.conf("ctl")
    before = conf.read_text()
    with Site(cluster) as site:
        text = railctl(cluster, "enable", "--apply", "--hosts-checked", "--wait", "3s", *site.flags(hosts=False), status=1)
        for words in ("now run, on all hosts", "clush -w", "0 of 4 slurmds have restarted", "no slurmd has restarted"):
            holds(text, words, "what it says")
        equal((conf.read_text(), running_with(cluster, "SelectType")), (before, "select/cons_tres"), "what is in force")
        watched.step()
        watched.end()


def test_a_person_restarts_them(cluster):
    """Without a program that reaches hosts it tells what to run, and sees each slurmd restart."""
    watched = Watched(cluster)
    with Site(cluster) as site:
        copies = kept(cluster)

        def restart():
            wait_for(lambda: kept(cluster) != copies, 30, "slurm.conf to be changed")
            site.restart_slurmds(cluster.nodes)
        site.later(restart)
        text = railctl(cluster, "enable", "--apply", "--hosts-checked", *site.flags(hosts=False))
        holds(text, "all 4 slurmds have restarted", "what it says")
        watched.step()
        railctl(cluster, "disable", "--apply", *site.flags())
    watched.step()
    watched.end()


def test_the_terminal_goes_away(cluster):
    """A closed terminal does not leave the cluster without slurmctld; Ctrl-C while nobody restarts slurmds ends the wait."""
    watched = Watched(cluster)
    with Site(cluster) as site:
        site.when["restart"] = lambda: site.kill_railctl(signal.SIGHUP)
        railctl(cluster, "enable", "--apply", *site.flags())
        check(not site.when, "it had no SIGHUP")
        railctl(cluster, "disable", "--apply", *site.flags())
        copies = kept(cluster)

        def impatient():
            wait_for(lambda: kept(cluster) != copies, 30, "slurm.conf to be changed")
            wait_for(lambda: not cluster.alive("ctl", "slurmctld"), 30, "slurmctld to be stopped")
            site.kill_railctl(signal.SIGINT)
        site.later(impatient)
        text = railctl(cluster, "enable", "--apply", "--hosts-checked", *site.flags(hosts=False), status=1)
        holds(text, "slurmctld runs with the former slurm.conf again", "what it says")
        equal(kept(cluster), copies, "kept files after a way back")
        watched.step()
    watched.end()


def test_one_slurmd_does_not_restart(cluster):
    """It is drained before anything is started there, and comes back when it has restarted and the command is given again."""
    watched = Watched(cluster)
    late = next(node for node in cluster.nodes if node not in watched.nodes)
    with Site(cluster) as site:
        site.stays = {late}
        text = railctl(cluster, "enable", "--apply", "--wait", "3s", *site.flags(), status=1)
        holds(text, f"{late}: drained until slurmd has restarted there", "what it says")
        holds(reason(cluster, late), MARK, "reason")
        job = submit(cluster, "-N1", "-t5", "-w", next(n for n in cluster.nodes if n not in (*watched.nodes, late)), script="srun hostname")
        wait_state(cluster, job, "COMPLETED", 60)
        watched.step()
        holds(railctl(cluster, "enable", "--apply", *site.flags(), status=1), f"{late}: drained", "again, too soon")
        site.stays = set()
        site.restart_slurmds([late])
        wait_for(lambda: f"{late} can have jobs again" in railctl(cluster, "enable", "--apply", *site.flags()), 30, "its return")
        job = submit(cluster, "-N1", "-t5", "-w", late, script="srun hostname")
        wait_state(cluster, job, "COMPLETED", 60)
        railctl(cluster, "disable", "--apply", *site.flags())
    watched.end()


def test_few_slurmds_restart(cluster):
    """One of four: it goes back, and that one is named, for it has the new SelectType now."""
    watched = Watched(cluster)
    with Site(cluster) as site:
        site.stays = set(cluster.nodes[:3])
        text = railctl(cluster, "enable", "--apply", "--wait", "3s", *site.flags(), status=1)
        for words in ("only 1 of 4 slurmds have restarted", "slurmctld runs with the former slurm.conf again"):
            holds(text, words, "what it says")
        restarts = [words[1] for words in site.asked if "restart" in words]
        equal(restarts, ["n[001-004]", "n004"], "where slurmd was restarted, there and back")
        watched.step()
        job = submit(cluster, "-N2", "-t5", script="srun hostname")
        wait_state(cluster, job, "COMPLETED", 60)
    watched.end()


def test_a_host_that_is_away(cluster):
    """Nobody waits for it, no job goes there when it is back, until it has the new slurm.conf."""
    watched = Watched(cluster)
    away = next(node for node in cluster.nodes if node not in watched.nodes)
    cluster.agents.stop("ctl", "restartd")  # which would drain it first
    cluster.power_off(away)
    with Site(cluster) as site:
        text = railctl(cluster, "enable", "--apply", *site.flags(), status=1)
        holds(text, "all 3 slurmds have restarted", "whom it waited for")
        holds(reason(cluster, away), MARK, "reason")
        watched.step()
        cluster.power_on(away)
        wait_for(lambda: "can have jobs again" in cluster.run("railctl", "enable", "--apply", *site.flags(), timeout=120).stderr, 60,
                 "its return", [cluster.log("ctl", "slurmctld")])
        job = submit(cluster, "-N1", "-t5", "-w", away, script="srun hostname")
        wait_state(cluster, job, "COMPLETED", 60)
        railctl(cluster, "disable", "--apply", *site.flags())
    cluster.agents.start_restartd()
    watched.end()


def test_a_host_that_the_copy_missed(cluster):
    """It would restart with the former slurm.conf: nothing restarts, and the former file is back on the head."""
    watched = Watched(cluster)
    conf = cluster.slurm.conf("ctl")
    before = conf.read_text()
    with Site(cluster) as site:
        site.refuse["--expect"] = "n003: slurm.conf has placement off"
        text = railctl(cluster, "enable", "--apply", *site.flags(), status=1)
        holds(text, "n003: slurm.conf has placement off", "what it says")
        holds(text, "slurmctld runs with the former slurm.conf again", "what it says")
        check(not any("restart" in words for words in site.asked), "slurmds were restarted")
        equal((conf.read_text(), running_with(cluster, "SelectType")), (before, "select/cons_tres"), "what is in force")
        watched.step()
    watched.end()


def test_by_shadow(cluster):
    """slurmctld alone changes: no slurmd restarts, and jobs and their steps go on."""
    built = cluster.options.build / "src" / "sched" / "slurm" / "shadow" / ".libs"
    watched = Watched(cluster)
    conf = cluster.slurm.conf("ctl")
    before = conf.read_text()
    # Tried and taken back before: no slurmd is late for that.
    with Site(cluster) as site:
        railctl(cluster, "enable", "--apply", "--hosts-checked", "--wait", "1s", *site.flags(hosts=False), status=1)
    slurmds = [cluster.daemons[node, "slurmd"].pid for node in cluster.nodes]
    shadow = ("--shadow-dir", str(built))
    with Site(cluster) as site:
        railctl(cluster, "enable", "--apply", "--by", "shadow", *shadow, *site.flags())
        holds(running_with(cluster, "PluginDir"), f"{built}:", "PluginDir")
        equal(running_with(cluster, "SelectType"), "select/cons_tres", "SelectType")
        check(log_lines(cluster, "no railyard/shadow in PluginDir"), "the log lacks the emergency line")
        watched.step()
        job = submit(cluster, "-N2", "-t5", "--rail-span=unit", script="srun hostname")
        wait_state(cluster, job, "COMPLETED", 60)
        equal(len(units_of(cluster, nodes_of(cluster, job))), 1, "units")
        holds(railctl(cluster, "enable", "--apply", "--by", "shadow", *shadow, *site.flags()), "nothing to do", "again")
        holds(railctl(cluster, "enable", *shadow, status=1), "switched on by shadow already", "by another way")
        railctl(cluster, "disable", "--apply", *shadow, *site.flags())
        equal(conf.read_text(), before, "slurm.conf after both")
        watched.step()
        check(not any("restart" in words for words in site.asked), "slurmds were restarted")
    equal([cluster.daemons[node, "slurmd"].pid for node in cluster.nodes], slurmds, "slurmds")
    watched.end()


def test_saved_jobs_need_the_plugin_once(cluster):
    """slurmctld with select/cons_tres cannot read what it saved under select/rail without select_rail.so: it stops, loses
    nothing, and starts once the plugin is back; from then on it needs it no more. disable refuses to go there."""
    watched = Watched(cluster)
    waiting = submit(cluster, "-N4", "-t5")
    wait_for_resources(cluster, waiting)
    conf, plugin = cluster.slurm.conf("ctl"), cluster.root / "plugins" / "select_rail.so"
    stock, target = conf.read_text(), plugin.readlink()
    with Site(cluster) as site:
        railctl(cluster, "enable", "--apply", *site.flags())
        plugin.unlink()
        try:
            holds(railctl(cluster, "disable", status=1), "cannot be read without it", "what disable says")
            site.stop()
            conf.write_text(stock)  # the emergency line by hand
            site.restart_slurmds(cluster.nodes)
            lines = len(log_lines(cluster, "fatal: Incomplete job state save file"))
            site.start()
            wait_for(lambda: not cluster.alive("ctl", "slurmctld"), 90, "slurmctld to stop")
            equal(len(log_lines(cluster, "fatal: Incomplete job state save file")), lines + 1, "fatal lines")
        finally:
            plugin.symlink_to(target)
        site.start()
        wait_for(lambda: "UP" in cluster.run("scontrol", "ping").stdout, 30, "slurmctld")
        watched.step()
        equal(state(cluster, waiting), "PENDING", "the waiting job")
        site.stop()
        plugin.unlink()
        try:
            site.start()
            wait_for(lambda: "UP" in cluster.run("scontrol", "ping").stdout, 30, "slurmctld without the plugin")
            equal(fields(cluster, watched.job)["JobState"], "RUNNING", "the running job")
            watched.step()
        finally:
            plugin.symlink_to(target)
        check(state(cluster, waiting) == "PENDING", "the waiting job is gone")
    watched.end()
