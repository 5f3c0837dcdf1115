"""Who may report to restartd and who may read it."""

import json
import shutil
import time

from railcluster import request
from railcluster.process import wait_for
from railcluster.testing import check, equal, holds, skip

NEEDS = ["restartd", "nodewatchd", "railctl"]
NOBODY = "65534"


def ask(cluster, method, path, body="", *flags, host="ctl", uid=None, credential=True):
    """Status and body of each answer to a request made on a host, as root or as another user."""
    lines = send(cluster, method, path, body, *flags, host=host, uid=uid, credential=credential)
    return [(int(line.split(" ", 1)[0]), line.split(" ", 1)[1]) for line in lines]


def send(cluster, method, path, body="", *flags, host="ctl", uid=None, credential=True):
    """What request.py prints."""
    script = cluster.root / "request.py"
    if not script.exists():
        shutil.copy(request.__file__, script)
    user = ["setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups"] if uid else []
    socket = [f"--socket={cluster.root}/munge/munge.sock"] if credential else []
    return cluster.out(*user, "python3", "-B", str(script), method, cluster.agents.url + path, *([body] if body else []),
                       *socket, *flags, host=host).splitlines()


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
    cluster.agents.wait_heard()  # agents are refused once, too, when restartd is another than the one they had a key with
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


def test_a_connection_is_signed_both_ways(cluster):
    """By a client that knows wire(7) alone: a credential opens it, then both ends sign with the key inside."""
    as_before = '{"v":1,"as_before":true}'
    lines = send(cluster, "POST", "/v1/report", report(cluster), "--channel=0", f"--then={as_before}", f"--then={report(cluster)}",
                 f"--then={report(cluster, host='intruder')}", f"--then={as_before}")
    equal([line.split(" ")[:2] for line in lines],
          [["signed", "200"], ["signed", "200"], ["signed", "200"], ["signed", "403"], ["signed", "409"]], f"answers {lines}")


def test_a_key_for_another_user_is_refused(cluster):
    """restartd cannot open a credential that was made for somebody else's restartd, and says what to look at."""
    line, = send(cluster, "POST", "/v1/report", report(cluster), f"--channel={NOBODY}")
    equal(line.split(" ")[:2], ["unsigned", "401"], f"answer {line}")
    holds(line, "[restartd] user", "answer")


IMPOSTOR = """
import http.server, sys
class Answer(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        body = b'{"v":1,"jobs":[]}'
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def do_GET(self):
        self.send_error(404)
    def log_message(self, *words):
        pass
http.server.HTTPServer((sys.argv[1], int(sys.argv[2])), Answer).serve_forever()
"""


UNSIGNED = "not signed by restartd's user"


def test_agents_and_railctl_obey_no_impostor(cluster):
    """Whoever stands at restartd's address while it is away is not believed, and the real one is when it is back."""
    node = cluster.nodes[1]
    where, port = cluster.agents.url.removeprefix("http://").rsplit(":", 1)
    log = cluster.log(node, "nodewatchd")
    seen_through = lambda: log.read_text().count(f"{UNSIGNED}, root")  # noqa: E731
    before = seen_through()
    cluster.agents.stop("ctl", "restartd")
    impostor = cluster.spawn("ctl", "impostor", ["python3", "-c", IMPOSTOR, where, port])
    wait_for(lambda: seen_through() > before, 20, "nodewatchd to see through it", [log])
    answer = cluster.run("railctl", "drain", cluster.nodes[2], "mischief")
    check(answer.returncode != 0, f"railctl took {answer.stdout}")
    holds(answer.stderr, UNSIGNED, "railctl's error")
    cluster.agents.stop("ctl", "impostor")
    cluster.agents.start_restartd()
    wait_for(lambda: log.read_text().rstrip().endswith(f"reports to {cluster.agents.url}"), 20, "nodewatchd to be back", [log])


def test_restartd_of_another_user_does_not_start(cluster):
    conf = cluster.root / "other-user.conf"
    conf.write_text(cluster.agents.conf.read_text().replace('user = "root"', 'user = "nobody"'))
    answer = cluster.run(str(cluster.agents.build / "restartd"), "--config", str(conf))
    equal(answer.returncode, 2, f"exit status after {answer.stderr}")
    holds(answer.stderr, "[restartd] user is nobody, but this is root", "error")


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
    status, text = ask(cluster, "POST", "/v1/drain", body, uid=NOBODY)[0]
    equal(status, 403, "status for another user")
    holds(text, "nobody is not an operator: root, SlurmUser, AdminLevel=Administrator in sacctmgr", "who may")
    check("could not be asked" not in text, f"slurmctld was not asked, or has no answer without accounting: {text}")
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
