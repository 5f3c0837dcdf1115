"""railctl doctor on a cluster with nothing wrong, and with mistakes made in earnest."""

import json
import shutil

from railcluster.cluster import Options
from railcluster.process import wait_for
from railcluster.testing import check, equal, holds

NEEDS = ["restartd", "nodewatchd", "fabricwatchd", "railctl"]


def options(build):
    return Options(build=build)


def findings(cluster, *flags, host="ctl"):
    """Codes by weight, but for notes."""
    answer = cluster.run("railctl", "--json", "doctor", *flags, host=host, timeout=60)
    found = json.loads(answer.stdout)["findings"]
    equal(answer.returncode, int(any(finding["weight"] != "note" for finding in found)), f"exit status with {found}")
    return {finding["code"]: finding["text"] for finding in found if finding["weight"] != "note"}


def await_sound(cluster):
    """The agents have reported, and nothing is wrong."""
    def sound():
        equal(findings(cluster), {}, "findings")
        return True
    wait_for(sound, 30, "the doctor to be content", [cluster.log("ctl", "restartd")])


def finds(cluster, code, *flags, host="ctl"):
    """The text of a finding, which must be there."""
    found = findings(cluster, *flags, host=host)
    check(code in found, f"no {code}: {found}")
    return found[code]


def test_a_sound_cluster_has_nothing_wrong(cluster):
    await_sound(cluster)
    equal(findings(cluster, "--host", host=cluster.nodes[0]), {}, "on a node")


def test_what_is_away_is_found(cluster):
    await_sound(cluster)
    cluster.agents.stop(cluster.nodes[2], "nodewatchd")
    wait_for(lambda: "agent.silent" in findings(cluster), 30, "the silent agent", [cluster.log("ctl", "restartd")])
    holds(finds(cluster, "agent.silent"), cluster.nodes[2], "finding")
    cluster.agents.stop("ctl", "restartd")
    holds(finds(cluster, "restartd.away"), cluster.agents.url, "finding")
    finds(cluster, "restartd.away", "--host", host=cluster.nodes[0])
    cluster.agents.start_restartd()
    cluster.agents.start_node(cluster.nodes[2])


def test_files_that_do_not_fit_are_found(cluster):
    conf = cluster.agents.conf
    good = conf.read_text()
    try:
        conf.write_text(good.replace('user = "root"', 'user = "nobody"'))
        holds(finds(cluster, "restartd.user", host=cluster.nodes[0]), "[restartd] user", "finding")
        conf.write_text(good.replace("poll_interval", "poll_intervall") + "\n[throttle]\nclera = \"1s\"\n")
        holds(finds(cluster, "config.wrong", "--host"), str(conf), "finding")
    finally:
        conf.write_text(good)
    fabric = cluster.agents.fabric
    kept = fabric.with_suffix(".kept")
    shutil.copy(fabric, kept)
    fabric.unlink()
    try:
        holds(finds(cluster, "fabric.unreadable", "--host"), str(fabric), "finding")
    finally:
        kept.rename(fabric)


def test_a_plugin_that_is_loaded_twice_is_found(cluster):
    settings = cluster.out("scontrol", "show", "config")
    named = [line.split(" = ")[1] for line in settings.splitlines() if line.startswith("PlugStackConfig")]
    plugstack = cluster.yard.outside(named[0])
    good = plugstack.read_text()
    plugstack.write_text(good + "required spank_rail.so\n")
    try:
        found = findings(cluster, "--host")
        check("spank.twice" in found and "spank.required" in found, f"found {found}")
    finally:
        plugstack.write_text(good)


def test_a_slurmd_that_was_not_started_anew_is_found(cluster):
    """slurm.conf has select/rail, and one slurmd runs with what stood there before; one has no spank_rail."""
    await_sound(cluster)
    victim, mute = cluster.nodes[3], cluster.nodes[4]
    conf = cluster.slurm.conf(victim)
    before = conf.parent.parent / "before"
    shutil.copytree(conf.parent, before)
    text = (before / "slurm.conf").read_text().replace(str(conf.parent), str(before))
    check("SelectType=select/rail" in text, "the cluster places with select/rail")
    (before / "slurm.conf").write_text(text.replace("SelectType=select/rail", "SelectType=select/cons_tres"))
    silent = conf.parent.parent / "silent"
    shutil.copytree(conf.parent, silent)
    (silent / "slurm.conf").write_text(conf.read_text().replace(str(conf.parent), str(silent)))
    (silent / "plugstack.conf").write_text("")

    def restart(node, *flags):
        cluster.agents.stop(node, "slurmd")
        cluster.spawn(node, "slurmd", [*cluster.slurm.slurmd(node), *flags], own_log=True)
    restart(victim, "-f", str(before / "slurm.conf"))
    restart(mute, "-f", str(silent / "slurm.conf"))
    logs = [cluster.log("ctl", "restartd"), cluster.log(victim, "slurmd")]
    wait_for(lambda: {"slurmd.lacks", "slurmd.untold"} <= set(findings(cluster)), 30, "both to be found", logs)
    found = findings(cluster)
    holds(found["slurmd.lacks"], f"slurmd on {victim} has not", "finding")
    holds(found["slurmd.untold"], mute, "finding")
    restart(victim)
    restart(mute)
    await_sound(cluster)


def test_an_agent_by_a_wrong_name_is_found(cluster):
    node = cluster.nodes[5]
    cluster.agents.stop(node, "nodewatchd")
    cluster.spawn(node, "nodewatchd", ["nodewatchd", "--host", f"{node}.example", "--config", str(cluster.agents.conf)])
    wait_for(lambda: "agent.name" in findings(cluster), 30, "the wrong name", [cluster.log("ctl", "restartd")])
    holds(finds(cluster, "agent.name"), f"{node}.example", "finding")
    cluster.agents.stop(node, "nodewatchd")
    cluster.agents.start_node(node)


def test_a_plugin_of_another_release_is_found(cluster):
    """One of ours, with the number of its release changed to .99."""
    release = [int(part) for part in cluster.out("scontrol", "--version").split()[1].split(".")]

    def number(micro):
        return (release[0] << 16 | release[1] << 8 | micro).to_bytes(4, "little")

    link = cluster.root / "plugins" / "job_submit_rail.so"
    built = link.resolve()
    data = built.read_bytes()
    check(number(release[2]) in data, "the plugin's version is not in it")
    link.unlink()
    link.write_bytes(data.replace(number(release[2]), number(99)))
    try:
        holds(finds(cluster, "plugin.release"), f"{release[0]}.{release[1]:02}.99", "finding")
    finally:
        link.unlink()
        link.symlink_to(built)
