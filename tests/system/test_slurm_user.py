"""Slurm under another user than slurm or root: railyard.conf does not say so, slurm.conf does."""

import json

from railcluster.cluster import Options
from railcluster.process import wait_for
from railcluster.testing import equal, holds

NEEDS = ["restartd", "nodewatchd", "railctl"]
USER = "games"  # of every Debian


def options(build):
    return Options(build=build, units=1, hosts_per_unit=2, rails=2, slurm_user=USER)


def test_all_follow_the_user_of_slurm(cluster):
    """restartd may drain as this user, agents and railctl believe its answers, and it starts as no other."""
    holds(cluster.out("scontrol", "show", "config"), f"SlurmUser               = {USER}(", "slurmctld")
    log = [cluster.log("ctl", "restartd"), cluster.log("n001", "nodewatchd")]
    wait_for(lambda: json.loads(cluster.out("railctl", "--json", "explain", "n001", host="n002"))["host"]["agent"]["last_report"],
             20, "restartd to hear n001's agent", log)
    cluster.out("railctl", "drain", "n002", "fan tray", host="n001")
    holds(cluster.out("sinfo", "-h", "-n", "n002", "-o", "%E %u"), "fan tray", "Slurm's reason")
    cluster.out("railctl", "resume", "n002")
    wait_for(lambda: cluster.node_states()["n002"] == "idle", 20, "n002 to be idle", log)
    refused = cluster.run(str(cluster.options.build / "restartd"))
    equal(refused.returncode, 2, "exit status of a restartd that root starts")
    holds(refused.stderr, f"SlurmUser in slurm.conf is {USER}, but this is root", "its error")
    equal((cluster.root / "state" / "journal.db").owner(), USER, "the journal's owner")
