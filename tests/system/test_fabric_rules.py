"""The rules of links and rails, on a simulated fabric: the smallest that has them all, since each look of the many that a
rule wants reads every port by real MADs, which one thread of ibsim answers."""

import json

from railcluster.cluster import Options
from railcluster.fabric import discovered, essence
from railcluster.testing import check, equal

NEEDS = ["railtopo", "railcheck", "restartd", "railctl", "nodewatchd", "fabricwatchd"]


def options(build):
    return Options(build=build, hosts_per_unit=2, rails=3)


def selftest(cluster, *options, **more):
    return cluster.run("railcheck", "selftest", "--ibsim", str(cluster.fabric.pipe), "--json", *options, **more)


def fire(cluster, group, least):
    """Each rule of the group fires at its fault, set on ibsim's console and read by real MADs, and is silent below."""
    done = selftest(cluster, group, env=cluster.fabric.environment(), timeout=800)
    print(done.stdout, done.stderr)
    rules = {rule["rule"]: rule for rule in json.loads(done.stdout)}
    equal(done.returncode, 0, "exit status")
    check(len(rules) > least, f"only {sorted(rules)}")
    # ibsim counts waits with 32 bits, which are full before a minute of them is over.
    made = {"link.credit_loop", "link.slow_receiver"}
    equal({name: rule["through"] for name, rule in rules.items()},
          {name: "port readings" if name in made else "ibsim" for name in rules}, "injectors")
    # All is as it was.
    equal(essence(discovered(cluster)), essence(json.loads(cluster.agents.fabric.read_text())), "fabric")


def test_rules_of_links_fire_on_the_simulator(cluster):
    fire(cluster, "link.", 12)
    # Who sees another fabric, or none, changes nothing.
    blind = selftest(cluster, "link.", timeout=60)
    check(blind.returncode != 0 and "link." not in blind.stdout, f"{blind}")


def test_rules_of_rails_fire_on_the_simulator(cluster):
    fire(cluster, "rail.", 0)
