"""The simulated fabric is the one railtopo made, as programs that speak MADs see it."""

import itertools
import json
import os
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path

from railcluster.fabric import LIMITS, discovered, essence, umad2sim
from railcluster.process import wait_for
from railcluster.testing import check, equal

NEEDS = ["railtopo", "railcheck", "restartd", "railctl", "nodewatchd", "fabricwatchd"]


def test_live_discovery_equals_what_was_made(cluster):
    """railtopo discover --live over MADs finds the very fabric that railtopo synth wrote for ibsim."""
    made = json.loads(cluster.agents.fabric.read_text())
    live = discovered(cluster)
    equal(essence(live), essence(made), "fabric")


def test_text_of_ibnetdiscover_gives_the_same(cluster):
    """Discovery from ibnetdiscover's text and live discovery agree."""
    text = cluster.out("ibnetdiscover", env=cluster.fabric.environment())
    (cluster.root / "etc" / "ibnetdiscover.txt").write_text(text + "\n")
    cluster.out("railtopo", "discover", "--from", f"{cluster.root}/etc/ibnetdiscover.txt", "--out",
                f"{cluster.root}/etc/text.json")
    text_fabric = json.loads((cluster.root / "etc" / "text.json").read_text())
    equal(essence(text_fabric), essence(discovered(cluster)), "fabric")


def test_sound_fabric_has_no_findings(cluster):
    equal(json.loads(cluster.out("railtopo", "check", "--json", str(cluster.agents.fabric)))["findings"], [], "findings")


def test_unplugged_host_vanishes(cluster):
    """A host without power is not in the fabric any more, and is again when it is back."""
    victim = cluster.nodes[6]
    cluster.power_off(victim)
    text = json.dumps(discovered(cluster)["hosts"])
    check(victim not in text, f"{victim} is off and still in the fabric")
    cluster.power_on(victim)
    check(victim in json.dumps(discovered(cluster)["hosts"]), f"{victim} is on and not in the fabric")


@contextmanager
def simulated(net):
    """An ibsim of its own that carries the fabric of this net file; yields the environment of its clients."""
    name = f"railyard-{os.getpid()}-{net.stem}"
    log = net.with_suffix(".log")
    with log.open("w") as out:
        ibsim = subprocess.Popen(["ibsim", "-s", *LIMITS, str(net)], stdin=subprocess.PIPE, stdout=out,
                                 stderr=subprocess.STDOUT, env={**os.environ, "IBSIM_SOCKNAME": name})
    try:
        wait_for(lambda: "Network simulator ready" in log.read_text(errors="replace"), 20,
                 "ibsim to carry the fabric", [log])
        yield {**os.environ, "LD_PRELOAD": str(umad2sim()), "IBSIM_SOCKNAME": name}
    finally:
        ibsim.terminate()
        ibsim.wait()


PLANTED = {
    "rails_swapped": "hca.swapped", "hosts_swapped": "hca.swapped", "rails_rotated": "hca.rotated",
    "wrong_rail": "hca.wrong_rail", "wrong_unit": "hca.wrong_unit", "on_spine": "hca.on_spine",
    "dead_hca": "host.rails", "narrow_link": "link.narrow", "slow_link": "link.slow",
    "uplink_missing": "uplink.missing", "uplinks_crossed": "uplink.crossed", "uplink_narrow": "link.narrow",
}


def test_twelve_planted_faults_are_twelve_findings(build):
    """Twelve kinds of miswiring, found live and in ibnetdiscover's text: each as itself, and nothing else."""
    railtopo = build / "railtopo"
    with tempfile.TemporaryDirectory(prefix="railyard-faults-") as folder:
        root = Path(folder)
        net = root / "faulty.net"
        subprocess.run([railtopo, "synth", "units=2 hosts=16 rails=8 rate=4xHDR faults=12 seed=7", "--out",
                        root / "made.json", "--ibsim", net], check=True)
        with simulated(net) as environment:
            subprocess.run([railtopo, "discover", "--live", "--out", root / "live.json"], check=True, env=environment)
            text = subprocess.run(["ibnetdiscover"], check=True, env=environment, stdout=subprocess.PIPE).stdout
        (root / "text").write_bytes(text)
        subprocess.run([railtopo, "discover", "--from", root / "text", "--out", root / "text.json"], check=True)
        for name in ("live", "text"):
            done = subprocess.run([railtopo, "check", "--json", root / f"{name}.json"], stdout=subprocess.PIPE)
            findings = json.loads(done.stdout)["findings"]
            equal(sorted(f["code"] for f in findings), sorted(PLANTED.values()), f"findings of {name}")
            equal(done.returncode, 1, "exit status")
            table = subprocess.run([railtopo, "check", root / f"{name}.json"], stdout=subprocess.PIPE, text=True).stdout
            equal(len(table.splitlines()) - 2, 12, "lines of the table, without its heading and where rails meet")
            for finding in findings:
                check(finding["evidence"] and finding["fix"], f"{finding['code']} has no evidence or no fix")
                ends = 4 if finding["code"] in ("hca.swapped", "uplink.crossed") else 2
                check(len(finding["ends"]) >= ends, f"{finding['code']} names {finding['ends']}")


def counted(cluster, node, counter, value):
    """What port 1 of an HCA shows in a counter."""
    cluster.fabric.console(f'PerformanceSet "{node}"[1] PortCounters.{counter}={value}')


def test_explain_tells_of_the_links_of_a_job_and_its_hosts(cluster):
    """None is a finding; symbol errors on a host's rail are told with both ends and what passes; of others nothing."""
    cluster.agents.wait_heard()
    hosts, other = cluster.nodes[:2], cluster.nodes[2]
    job = cluster.out("sbatch", "--parsable", "-o", "/dev/null", "-N2", "-w", ",".join(hosts), "--wrap", "sleep 600")
    node = cluster.fabric.hcas[hosts[0]][1]
    logs = [cluster.log("ctl", name) for name in ("fabricwatchd", "restartd")]

    def links(named):
        return json.loads(cluster.out("railctl", "explain", named, "--json")).get("links") or {"unknown": "not told"}

    wait_for(lambda: "unknown" not in links(job), 60, "the job's links to be known", logs)
    equal(links(job)["findings"], [], "findings before the fault")
    try:
        # What a link counts is passed over for half a minute after its counters were set back, as another test may have done.
        errors = itertools.count(500, 500)

        def found_with_more_errors():
            counted(cluster, node, "SymbolErrorCounter", next(errors))
            return links(job)["findings"]

        wait_for(found_with_more_errors, 90, "the finding", logs, every=5)
        (found,) = links(job)["findings"]
        equal((found["finding"]["rule"], found["finding"]["rail"]), ("link.symbol_errors", 1), "rule and rail")
        equal((found["hosts"], found["passing"]), ([hosts[0]], "all"), "whose link it is")
        equal(links(hosts[0])["findings"][0]["passing"], "all", "as the host's story has it")
        for named in (job, hosts[0]):
            text = cluster.out("railctl", "explain", named)
            check(f"  {hosts[0]} mlx5_1:1 - " in text or f" - {hosts[0]} mlx5_1:1: " in text, f"both ends: {text}")
            check(f"all that {hosts[0]} sends and receives on rail 1 passes it" in text, f"what passes: {text}")
        equal(links(other)["findings"], [], "findings of another host")
        check("links it uses: none of them has a finding (judged " in cluster.out("railctl", "explain", other), "words for no finding")
        # Who does not hear of links does not know.
        cluster.agents.stop("ctl", "fabricwatchd")
        cluster.agents.stop("ctl", "restartd")
        cluster.agents.forget()
        cluster.agents.start_restartd()
        wait_for(lambda: "how they are is not known" in cluster.run("railctl", "explain", other).stdout, 20, "not to know", logs)
    finally:
        counted(cluster, node, "SymbolErrorCounter", 0)
        cluster.agents.stop("ctl", "fabricwatchd")
        cluster.agents.start_fabricwatchd()
        cluster.out("scancel", job)
