"""Who learns what from restartd: by Slurm's own rule, with PrivateData, AdminLevel and coordinators of a real slurmdbd."""

import json
import re
import signal

from railcluster.cluster import Options
from railcluster.process import wait_for
from railcluster.testing import check, equal, holds

NEEDS = ["restartd", "nodewatchd", "railctl"]
NOBODY, GAMES, DAEMON, MAN = "65534", "5", "1", "6"  # users of every Debian
NAMES = {NOBODY: "nobody", GAMES: "games", DAEMON: "daemon", MAN: "man"}


def options(build):
    return Options(build=build, units=1, hosts_per_unit=2, rails=2, accounting=True, railyard={"restartd.observe_only": "true"})


def run_as(cluster, uid, *command, host="ctl"):
    return cluster.run("setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups", *command, host=host)


def railctl(cluster, uid, *words, host="n001"):
    """What a user reads, on a host that is not restartd's: as on a login node."""
    return run_as(cluster, uid, "railctl", *words, host=host)


def shown(cluster, uid, *words, host="n001"):
    result = railctl(cluster, uid, *words, host=host)
    equal(result.returncode, 0, f"railctl {' '.join(words)} as {NAMES[uid]}: {result.stderr}")
    return result.stdout


def not_shown(cluster, uid, *words, host="n001"):
    result = railctl(cluster, uid, *words, host=host)
    check(result.returncode, f"railctl {' '.join(words)} as {NAMES[uid]} was answered: {result.stdout}")
    return result.stderr


def jobs_of(cluster, uid):
    return sorted(job["name"] for job in json.loads(shown(cluster, uid, "--json", "status", "--all"))["jobs"])


def submit(cluster, uid, account):
    result = run_as(cluster, uid, "sbatch", "--parsable", "-n1", f"--account={account}", "--output=/dev/null", "--wrap=sleep 600")
    equal(result.returncode, 0, f"sbatch: {result.stderr}")
    return result.stdout.strip().split(";")[0]


def set_private(cluster, what):
    """PrivateData of slurm.conf, while slurmctld runs."""
    conf = cluster.slurm.conf()
    lines = [line for line in conf.read_text().splitlines() if not line.startswith("PrivateData")]
    conf.write_text("\n".join([*lines, f"PrivateData={what}" if what else ""]) + "\n")
    cluster.out("scontrol", "reconfigure")


class Two:
    """A job of nobody's in account physics and one of daemon's in chemistry."""

    def __init__(self, cluster, private):
        self.cluster, self.private = cluster, private

    def __enter__(self):
        cluster = self.cluster
        cluster.run("sacctmgr", "-i", "add", "account", "physics,chemistry")
        cluster.run("sacctmgr", "-i", "add", "user", "nobody", "account=physics")
        cluster.run("sacctmgr", "-i", "add", "user", "daemon", "account=chemistry")
        cluster.run("sacctmgr", "-i", "add", "user", "games", "account=physics")
        self.own, self.other = submit(cluster, NOBODY, "physics"), submit(cluster, DAEMON, "chemistry")
        wait_for(lambda: len(json.loads(cluster.out("railctl", "--json", "status", "--all"))["jobs"]) == 2, 10,
                 "restartd to have read the jobs", [cluster.log("ctl", "restartd")])
        set_private(cluster, self.private)
        wait_for(lambda: private_of(cluster) == self.private, 20, "restartd to have read PrivateData anew",
                 [cluster.log("ctl", "restartd")])
        return self

    def __exit__(self, *failure):
        set_private(self.cluster, "")
        self.cluster.run("scancel", self.own, self.other)
        self.cluster.run("sacctmgr", "-i", "delete", "user", "games")
        self.cluster.run("sacctmgr", "-i", "delete", "user", "daemon")
        self.cluster.run("sacctmgr", "-i", "delete", "user", "nobody")


def private_of(cluster):
    """What restartd says that it keeps from a user."""
    status = json.loads(shown(cluster, MAN, "--json", "status"))
    return ",".join(sorted(re.search(r"PrivateData=(\w+)", text)[1] for text in status["not_shown"]))


def refusals(cluster):
    return [line for line in cluster.log("ctl", "restartd").read_text().splitlines() if "refused (" in line]


def test_users_read_all_where_nothing_is_private(cluster):
    """Also on a login node, by their credential; without one from there nothing."""
    with Two(cluster, "") as two:
        equal(jobs_of(cluster, NOBODY), sorted([two.own, two.other]), "jobs in status")
        holds(shown(cluster, NOBODY, "explain", two.other), f"job {two.other}", "explain")
        holds(shown(cluster, NOBODY, "explain", "n002"), "host n002", "explain")
        holds(not_shown(cluster, NOBODY, "drain", "n002", "for fun"), "nobody is not an operator", "railctl drain")


def test_private_jobs_are_seen_by_their_owners_coordinators_and_operators(cluster):
    """As squeue shows them, and no later than a moment after PrivateData changed in slurmctld."""
    with Two(cluster, "jobs") as two:
        equal(jobs_of(cluster, NOBODY), [two.own], "nobody's")
        holds(shown(cluster, NOBODY, "explain", two.own), f"job {two.own}", "explain of one's own")
        shown(cluster, NOBODY, "history", "--job", two.own)
        refused = not_shown(cluster, NOBODY, "explain", two.other)
        holds(refused, "PrivateData=jobs in slurm.conf: its owner", "explain of another's")
        holds(refused, "coordinators of its account (sacctmgr) and operators (AdminLevel=Operator", "who may")
        equal(not_shown(cluster, NOBODY, "explain", "4711").replace("4711", two.other), refused, "of a job that is not there")
        # On restartd's own machine as well, where reading was open.
        not_shown(cluster, NOBODY, "explain", two.other, host="ctl")
        equal(jobs_of(cluster, MAN), [], "of one who has none")
        cluster.out("sacctmgr", "-i", "add", "coordinator", "account=physics", "names=games")
        cluster.out("sacctmgr", "-i", "modify", "user", "daemon", "set", "adminlevel=operator")
        both = sorted([two.own, two.other])
        for uid, jobs in ((GAMES, [two.own]), (DAEMON, both)):
            wait_for(lambda: sorted(run_as(cluster, uid, "squeue", "-h", "-o", "%i").stdout.split()) == jobs, 20,
                     f"slurmctld to have heard of {NAMES[uid]}'s rights")
            equal(jobs_of(cluster, uid), jobs, f"{NAMES[uid]}'s jobs")
        holds(not_shown(cluster, DAEMON, "drain", "n002", "for fun"), "AdminLevel=Administrator", "an operator's drain")
        # slurmctld knows its users also while slurmdbd is away, and so does restartd.
        cluster.daemons["ctl", "slurmdbd"].kill(signal.SIGKILL)
        cluster.agents.stop("ctl", "restartd")
        cluster.agents.start_restartd()
        wait_for(lambda: railctl(cluster, GAMES, "status").returncode == 0, 20, "restartd to have read slurmctld")
        equal(jobs_of(cluster, GAMES), [two.own], "a coordinator's jobs without slurmdbd")
        equal(jobs_of(cluster, DAEMON), both, "an operator's jobs without slurmdbd")
        cluster.accounting.start_slurmdbd()
        before = refusals(cluster)
        shown(cluster, NOBODY, "status", host="ctl")
        equal(refusals(cluster), before, "refusals in the log, of requests that were answered")


def test_an_administrator_of_slurmdbd_drains(cluster):
    with Two(cluster, ""):
        cluster.out("sacctmgr", "-i", "modify", "user", "games", "set", "adminlevel=administrator")
        wait_for(lambda: run_as(cluster, GAMES, "scontrol", "update", "nodename=n002", "comment=fan").returncode == 0, 20,
                 "slurmctld to have heard that games is an administrator")
        holds(railctl(cluster, GAMES, "drain", "n002", "fan").stderr, "observe_only", "why nothing is drained here")


def test_private_nodes_are_shown_to_operators_alone(cluster):
    """As sinfo shows them; of their own jobs users read on."""
    with Two(cluster, "nodes") as two:
        check(run_as(cluster, NOBODY, "sinfo").stdout.find("n00") < 0, "sinfo shows nodes")
        holds(not_shown(cluster, NOBODY, "explain", "n001"), "PrivateData=nodes in slurm.conf", "explain of a host")
        status = shown(cluster, NOBODY, "status", "--all")
        holds(status, "not shown to you: hosts (PrivateData=nodes in slurm.conf)", "railctl status")
        holds(shown(cluster, NOBODY, "explain", two.own), "what hosts do is not shown to you", "explain of one's own job")
        holds(cluster.out("railctl", "explain", "n001"), "host n001", "what root reads")


def test_prometheus_reads_metrics_with_a_token_and_nothing_else(cluster):
    """Also where nodes, and so their numbers, are private; a file of tokens that is of no use changes nothing."""
    conf, token = cluster.agents.conf, cluster.root / "etc" / "metrics.token"
    before = conf.read_text()

    def get(path, secret=None):
        ask = f"r.Request('{cluster.agents.url}{path}', headers={{'Authorization': 'Bearer {secret}'}} if {bool(secret)} else {{}})"
        script = ("import urllib.request as r, urllib.error\n"
                  f"try: print(r.urlopen({ask}).read().decode())\nexcept urllib.error.HTTPError as error: print(error.code)")
        return cluster.out("python3", "-c", script, host="n001")

    def read_again():
        cluster.daemons["ctl", "restartd"].kill(signal.SIGHUP)
    try:
        with Two(cluster, "nodes"):
            equal(get("/metrics"), "401", "metrics without a token")
            token.write_text("0123456789abcdef0123456789abcdef\n")
            token.chmod(0o600)
            conf.write_text(before.replace("[restartd]\n", f'[restartd]\nmetrics_token = "{token}"\n'))
            read_again()
            secret = token.read_text().strip()
            wait_for(lambda: "railyard_hosts{" in get("/metrics", secret), 10, "the token to be good")
            equal(get("/metrics", secret[:-1] + "0"), "401", "another token")
            for path in ("/v1/status", "/v1/history", "/v1/explain?host=n001"):
                equal(get(path, secret), "401", f"{path} with the token")
            token.chmod(0o644)
            read_again()
            log = cluster.log("ctl", "restartd")
            wait_for(lambda: "everybody can read" in log.read_text(), 10, "restartd to refuse a token that all can read", [log])
            holds(get("/metrics", secret), "railyard_hosts{", "what the token that was good reads")
    finally:
        conf.write_text(before)
        read_again()
