"""restartd's web page in a real browser: what a person looks at, while a fault is planted and a job with an evil name runs."""

import re
import shutil

from railcluster.cluster import Options
from railcluster.process import wait_for
from railcluster.queue import running_on, submit
from railcluster.testing import check, equal, holds, skip

NEEDS = ["restartd", "nodewatchd", "railctl"]
EVIL = '<img src=x onerror="document.title=1">'
# Virtual time: the page asks every two seconds, and the browser ends when six of these have passed for it.
BROWSER = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
           "--disable-component-update", "--disable-sync", "--virtual-time-budget=6000", "--dump-dom"]


def options(build):
    return Options(build=build, units=2, hosts_per_unit=2, rails=2, railyard={"restartd.observe_only": "true", "throttle.window": '"2s"'})


def logs(cluster):
    return [cluster.log("ctl", "restartd")]


def look(cluster, view):
    """What a browser has of the page once it has had its answers, as HTML."""
    browser = shutil.which("chromium") or skip("chromium is not installed")
    profile = cluster.root / "scratch" / "chromium"
    done = cluster.run(browser, *BROWSER, f"--user-data-dir={profile}", f"{cluster.agents.url}/#/{view}", timeout=120)
    check("<title>" in done.stdout, f"chromium, status {done.returncode}: {done.stderr[-2000:]}")
    return done.stdout


def rows(html):
    """The rows of its tables: the texts of their cells."""
    return [[re.sub(r"<[^>]*>", "", cell) for cell in re.findall(r"<td[^>]*>(.*?)</td>", row)] for row in re.findall(r"<tr>(.*?)</tr>", html)]


def test_the_page_is_served_and_needs_nothing_from_elsewhere(cluster):
    """Its files, with what they are and may do; the map has every host."""
    def get(path):
        text = cluster.out("curl", "-sSi", f"{cluster.agents.url}{path}")
        head, _, body = text.replace("\r\n", "\n").partition("\n\n")
        return head, body
    head, body = get("/")
    for part in ("200 OK", "text/html", "default-src 'none'; script-src 'self'", "nosniff"):
        holds(head, part, "the page's head")
    for name in re.findall(r'(?:src|href)="(/web/[^"]*)"', body):
        holds(get(name)[0], "200 OK", name)
    holds(get("/web/../../etc/passwd")[0], "404", "a path that leads elsewhere")
    holds(get("/web/%2e%2e/index.html")[0], "404", "the same, encoded")
    head, body = get("/v1/map")
    for node in cluster.nodes:
        holds(body, f'"name":"{node}"', "the map")


def test_a_person_sees_a_fault(cluster):
    """A host turns, with its finding; its job is there with its age; what would be done is told; nothing becomes markup."""
    cluster.agents.wait_heard()
    job = submit(cluster, "-N2", f"--job-name={EVIL}", "--restart=auto", script="sleep 600")
    nodes = running_on(cluster, job)
    table = {row[0]: row for row in rows(look(cluster, "fabric?as=table")) if row}
    equal(sorted(table), sorted(cluster.nodes), "hosts")
    for node in nodes:
        equal((table[node][2], table[node][4]), ("in use", job), f"{node}'s row")
    cluster.power_brake(nodes[1], 3, True)
    wait_for(lambda: "hw_power_brake" in cluster.out("railctl", "status", "--json"), 60, "the finding", logs(cluster))
    html = look(cluster, f"fabric/host/{nodes[1]}")
    for part in ("gpu3", "gpu.throttle.hw_power_brake", "observing only"):
        holds(html, part, "the host's panel")
    holds(html, "<canvas", "the picture")
    wait_for(lambda: "would drain" in cluster.out("railctl", "history"), 60, "what would be done", logs(cluster))
    holds(look(cluster, "incidents"), f"drain {nodes[1]}", "incidents")
    html = look(cluster, f"jobs/{job}")
    for part in ("running", "at risk", nodes[0]):
        holds(html.lower(), part, "the job's panel")
    check("<img" not in html, "a job's name became an element")
    check("<title>1<" not in html, "a job's name was run")


def test_a_page_that_is_not_there_stops_nothing(cluster):
    """Without its files restartd serves everything else, and says so in its log."""
    conf = cluster.agents.conf
    before = conf.read_text()
    daemon = cluster.daemons["ctl", "restartd"]
    try:
        conf.write_text(re.sub(r"(?m)^files = .*$", 'files = "/nonexistent"', before))
        daemon.kill(1)
        wait_for(lambda: "[web] files: /nonexistent" in daemon.log.read_text(), 30, "its log to say so", logs(cluster))
        equal(cluster.out("curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", f"{cluster.agents.url}/"), "404", "the page")
        holds(cluster.out("railctl", "status", "--all"), cluster.nodes[0], "railctl status")
    finally:
        conf.write_text(before)
        daemon.kill(1)
