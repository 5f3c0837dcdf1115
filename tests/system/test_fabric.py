"""The simulated fabric is the one railtopo made, as programs that speak MADs see it."""

import json

from railcluster.testing import check, equal

NEEDS = ["railtopo"]


def discovered(cluster):
    """Hosts with the number of their HCAs, and units, as seen live."""
    live = cluster.root / "etc" / "live.json"
    cluster.out("railtopo", "discover", "--live", "--force", "--out", str(live), env=cluster.fabric.environment())
    return json.loads(live.read_text())


# What a fabric file says beside the fabric itself: where it came from, and what the subnet manager gave or knows.
CIRCUMSTANCES = ("source", "lid", "state", "time")


def essence(part):
    if isinstance(part, dict):
        return {key: essence(value) for key, value in part.items() if key not in CIRCUMSTANCES}
    return [essence(item) for item in part] if isinstance(part, list) else part


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
