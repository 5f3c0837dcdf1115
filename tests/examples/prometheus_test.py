#!/usr/bin/env python3
"""The example's rules and dashboards: promtool runs each alert against what fires it and its near miss; every alert has its entry in
railyard(7), every metric is one that a daemon has, and every query of a dashboard is one that Prometheus can read."""

import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
TOP = HERE.parents[1]
RULES = TOP / "examples/prometheus/railyard.rules.yml"
CASES = HERE / "alerts.yml"
DASHBOARDS = sorted((TOP / "examples/grafana").glob("*.json"))


def alerts():
    return re.findall(r"(?m)^ *- alert: (\w+)$", RULES.read_text())


def queries():
    """What each dashboard asks, by its panel; Grafana's own variables are given values."""
    for path in DASHBOARDS:
        for panel in json.loads(path.read_text())["panels"]:
            for target in panel.get("targets", []):
                yield f"{path.name}: {panel['title']}", target["expr"].replace("$__rate_interval", "5m").replace("$instance", ".*")


def metrics():
    """All that restartd and nodewatchd print, from their sources."""
    text = "".join((TOP / path).read_text() for path in ("src/restart/daemon/metrics.cpp", "src/restart/watch/metrics_page.cpp"))
    counters = re.findall(r'"(\w+)"', "".join(path.read_text() for path in (TOP / "src/restart/watch").glob("metric*.cpp")))
    return set(re.findall(r'"(railyard_\w+|DCGM_FI_DEV_\w+|node_infiniband_\w+)"', text)) | {f"node_infiniband_{name}_total" for name in counters}


class Rules(unittest.TestCase):
    maxDiff = 2000

    def promtool(self, folder, *words):
        done = subprocess.run(["promtool", *words], cwd=folder, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    @unittest.skipUnless(shutil.which("promtool"), "promtool is not installed")
    def test_each_alert_fires_when_it_should_and_not_before(self):
        self.promtool(HERE, "check", "config", TOP / "examples/prometheus/prometheus.yml")
        self.promtool(HERE, "check", "rules", RULES)
        self.promtool(HERE, "test", "rules", CASES.name)

    def test_each_alert_has_both_cases_and_a_runbook(self):
        cases, manual = CASES.read_text(), (TOP / "man/railyard.7").read_text()
        self.assertGreater(len(alerts()), 10)
        for name in alerts():
            quiet = re.findall(rf"(?m)^ *- {{eval_time: \w+, alertname: {name}}}$", cases)
            fires = re.findall(rf"(?m)^ *alertname: {name}\n *exp_alerts:$", cases)
            self.assertGreaterEqual(len(quiet), 2, f"{name}: a sound cluster, and a moment before")
            self.assertEqual(len(fires), 1, name)
            self.assertTrue(f".It Li {name}\n" in manual, f"{name} has no entry in railyard(7), ALERTS")
        self.assertEqual(RULES.read_text().count("runbook: man 7 railyard, ALERTS"), len(alerts()))
        self.assertEqual(len(re.findall(r"labels: {severity: (?:critical|warning|info)}", RULES.read_text())), len(alerts()))

    def test_every_metric_is_printed_by_a_daemon(self):
        known = metrics()
        for where, query in [*queries(), ("rules", RULES.read_text())]:
            for name in re.findall(r"(?<![\w:])(railyard_\w+|DCGM_FI_DEV_\w+|node_infiniband_\w+)", query):
                self.assertIn(re.sub(r"(?<=_seconds)_(bucket|sum|count)$", "", name), known, f"{where}: {name}")
        recorded = set(re.findall(r"- record: (\S+)", RULES.read_text()))
        for where, query in queries():
            for name in re.findall(r"\brailyard:[\w:]+", query):
                self.assertIn(name, recorded, where)

    @unittest.skipUnless(shutil.which("promtool"), "promtool is not installed")
    def test_every_query_of_a_dashboard_can_be_read(self):
        rules = [{"record": f"railyard:q{number}", "expr": query} for number, (_, query) in enumerate(queries())]
        self.assertGreater(len(rules), 20)
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "q.yml").write_text(json.dumps({"groups": [{"name": "q", "rules": rules}]}))
            self.promtool(folder, "check", "rules", "q.yml")

    def test_dashboards_can_be_imported(self):
        """One data source to choose, no number of another server, ids and titles of their own."""
        self.assertEqual([path.stem for path in DASHBOARDS], ["railyard-cluster", "railyard-fabric", "railyard-host"])
        for path in DASHBOARDS:
            board = json.loads(path.read_text())
            self.assertIsNone(board["id"], path)
            self.assertEqual(board["uid"], path.stem)
            self.assertIn("datasource", [each["type"] for each in board["templating"]["list"]])
            panels = board["panels"]
            self.assertEqual(len({panel["id"] for panel in panels}), len(panels), path)
            for panel in panels:
                self.assertTrue(panel.get("description"), f"{path.name}: {panel['title']} does not say what it shows")
                if panel["type"] != "row":
                    self.assertEqual(panel["datasource"], {"type": "prometheus", "uid": "${source}"}, panel["title"])


if __name__ == "__main__":
    sys.exit(unittest.main())
