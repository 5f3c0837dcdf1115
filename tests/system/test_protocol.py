"""Who may report to restartd and who may read it."""

import json
import shutil
import time

from railcluster import request
from railcluster.testing import check, equal, holds, skip

NEEDS = ["restartd", "nodewatchd", "railctl"]
NOBODY = "65534"


def ask(cluster, method, path, body="", *flags, host="ctl", uid=None, credential=True):
    """Status and body of each answer to a request made on a host, as root or as another user."""
    script = cluster.root / "request.py"
    if not script.exists():
        shutil.copy(request.__file__, script)
    user = ["setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups"] if uid else []
    socket = [f"--socket={cluster.root}/munge/munge.sock"] if credential else []
    lines = cluster.out(*user, "python3", "-B", str(script), method, cluster.agents.url + path, *([body] if body else []),
                        *socket, *flags, host=host).splitlines()
    return [(int(line.split(" ", 1)[0]), line.split(" ", 1)[1]) for line in lines]


def report(cluster, **changes):
    """A report of n001 that would be taken."""
    body = {"v": 1, "host": cluster.nodes[0], "boot_id": "b", "not_watching": [], "findings": [], "jobs": []}
    return json.dumps({**body, **changes})


def counter(cluster, name, label):
    text = ask(cluster, "GET", "/metrics")[0][1]
    for line in text.split("\\n"):
        if line.startswith(name) and f'"{label}"' in line:
            return float(line.split()[-1])
    return 0.0


def counted(cluster, reason):
    """railyard_reports_refused_total for one reason."""
    return counter(cluster, "railyard_reports_refused_total", reason)


def refused(cluster, status, reason, *flags, body=None, **how):
    """The report is refused with this status, and the refusal is counted."""
    before = counted(cluster, reason)
    answers = ask(cluster, "POST", "/v1/report", body or report(cluster), *flags, **how)
    equal([answer[0] for answer in answers], [status], f"status of {answers}")
    equal(counted(cluster, reason), before + 1, f"counted refusals for {reason}")
    return answers[0][1]


def test_report_of_the_agent_is_taken(cluster):
    equal(ask(cluster, "POST", "/v1/report", report(cluster))[0][0], 200, "status")


def test_report_without_credential(cluster):
    refused(cluster, 401, "unauthenticated", credential=False)


def test_report_with_forged_credential(cluster):
    refused(cluster, 401, "unauthenticated", "--authorization=MUNGE MUNGE:AwQFAAAA:")


def test_credential_of_another_body(cluster):
    """A credential taken from one request is worth nothing on another."""
    refused(cluster, 401, "unauthenticated", f"--payload={'0' * 64}")


def test_replayed_credential(cluster):
    answers = ask(cluster, "POST", "/v1/report", report(cluster), "--repeat=2")
    equal([status for status, _ in answers], [200, 401], "statuses of the same request sent twice")


def test_report_of_another_user(cluster):
    text = refused(cluster, 403, "forbidden", uid=NOBODY)
    holds(text, "agent", "answer")


def test_report_for_an_unknown_host(cluster):
    text = refused(cluster, 403, "unknown_host", body=report(cluster, host="intruder"))
    holds(text, "intruder", "answer")


def test_torn_report(cluster):
    before = ask(cluster, "GET", "/v1/status")[0][1]
    status, text = ask(cluster, "POST", "/v1/report", report(cluster)[:-20])[0]
    equal(status, 400, f"status of {text}")
    status, text = ask(cluster, "POST", "/v1/report", report(cluster, findings=[{"rule": 7}]))[0]
    equal(status, 400, f"status of {text}")
    holds(text, "findings", "answer names the field")
    after = ask(cluster, "GET", "/v1/status")[0][1]
    equal(json.loads(after)["incidents"], json.loads(before)["incidents"], "incidents")


def test_only_operators_drain(cluster):
    body = json.dumps({"host": cluster.nodes[1], "reason": "mischief"})
    equal(ask(cluster, "POST", "/v1/drain", body, uid=NOBODY)[0][0], 403, "status for another user")
    equal(ask(cluster, "POST", "/v1/drain", body, credential=False)[0][0], 401, "status without credential")
    equal(cluster.node_states()[cluster.nodes[1]], "idle", "the node")


def test_reading_from_another_machine_needs_a_name(cluster):
    """Reading is free on the machine of restartd and takes an operator's credential elsewhere."""
    if not cluster.yard.namespaces:
        skip("hosts are plain processes: all are one machine")
    equal(ask(cluster, "GET", "/v1/status", credential=False)[0][0], 200, "from ctl")
    equal(ask(cluster, "GET", "/v1/status", credential=False, host=cluster.nodes[3])[0][0], 401, "from n004")
    equal(ask(cluster, "GET", "/v1/status", host=cluster.nodes[3])[0][0], 200, "from n004 as root")


def test_nobody_unknown_has_slurmctld_read(cluster):
    """An explanation reads slurmctld anew, but not before it is known who asks."""
    if not cluster.yard.namespaces:
        skip("hosts are plain processes: all are one machine")
    before, began = counter(cluster, "railyard_rm_polls_total", "done"), time.monotonic()
    for _ in range(20):
        equal(ask(cluster, "GET", "/v1/explain?job=1", credential=False, host=cluster.nodes[3])[0][0], 401, "from n004")
    read = counter(cluster, "railyard_rm_polls_total", "done") - before
    check(read <= time.monotonic() - began + 2, f"slurmctld was read {read} times for 20 strangers")


CONNECT = """
import socket, sys
held = [socket.create_connection((sys.argv[1], int(sys.argv[2]))) for _ in range(300)]
closed = 0
for one in held:
    one.settimeout(0.02)
    try:
        closed += one.recv(1) == b""
    except TimeoutError:
        pass
print(closed)
"""


def test_connections_of_one_machine_are_bounded(cluster):
    """One machine has 256 at most, whoever opens them, and others are served meanwhile."""
    if not cluster.yard.namespaces:
        skip("hosts are plain processes: all are one machine")
    where, port = cluster.agents.url.removeprefix("http://").rsplit(":", 1)
    closed = int(cluster.out("python3", "-c", CONNECT, where, port, host=cluster.nodes[3]))
    check(44 <= closed <= 60, f"{closed} of 300 connections were closed")
    equal(ask(cluster, "GET", "/healthz", credential=False)[0][0], 200, "from ctl")
    equal(ask(cluster, "GET", "/healthz", credential=False, host=cluster.nodes[3])[0][0], 200, "from n004, afterwards")
