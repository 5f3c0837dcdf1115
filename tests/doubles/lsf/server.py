"""The daemons of the double in one process: commands arrive through DIR/socket, one JSON object per line, one per connection.

The kernel identifies the caller (SO_PEERCRED). Only the user who runs the server, and root, may name another in "as", so that a
test without accounts can act as alice, bob and the administrator.
"""
import collections
import json
import os
import pwd
import selectors
import signal
import socket
import struct
import subprocess
import time

import commands
import control
import loss
from model import Cluster
from pretend import Pretend
from processes import Processes, Task, on_host
from state import Engine

LIMIT = 4 << 20      # bytes of a request: an environment and a script
LONGEST_WAIT = 60.0
LOOK = 0.05          # seconds, where the kernel sends no notification: processes that are not our children


class Connection:
    def __init__(self, sock):
        self.sock = sock
        self.data = b""
        self.answer = b""
        self.descriptors = []

    def close(self):
        for descriptor in self.descriptors:
            os.close(descriptor)
        self.descriptors = []
        self.sock.close()


class Server:
    def __init__(self, folder):
        self.folder = os.path.abspath(folder)
        cluster = Cluster.read(os.path.join(self.folder, "lsf.json"))
        self.virtual = cluster.keys["clock"] == "virtual"
        self.scale = float(cluster.keys["time_scale"])
        self.began = time.time()
        self.engine = Engine(cluster, float(int(self.began)))
        self.offset = self.engine.now
        self.settings = {"mandatory_esub": cluster.keys["mandatory_esub"], "commandname": cluster.keys["commandname"],
                         "serverdir": cluster.keys["serverdir"] or os.path.join(self.folder, "sbin"),
                         "bindir": os.path.join(self.folder, "bin"), "envdir": self.folder, "scale": self.scale}
        os.makedirs(os.path.join(self.folder, "spool"), exist_ok=True)
        os.chmod(os.path.join(self.folder, "spool"), 0o711)
        self.processes = Processes(self.engine, self.folder, {
            "LSF_BINDIR": self.settings["bindir"], "LSF_ENVDIR": self.folder, "LSF_SERVERDIR": self.settings["serverdir"],
            "LSF_LIBDIR": os.path.join(self.folder, "lib"), "LSF_EAUTH_CLIENT": "user",
            "LSF_EAUTH_SERVER": f"mbatchd@{cluster.keys['cluster']}"})
        self.engine.runner = self.processes if cluster.keys["run"] else Pretend(self.engine, cluster.keys["duration"])
        self.selector = selectors.DefaultSelector()
        self.requests = collections.Counter()   # by command and options, such as "bjobs -w -u"
        self.running = True
        self.listener = None

    # ---- time

    def catch_up(self):
        if not self.virtual:
            self.engine.advance(self.offset + (time.time() - self.began) * self.scale)

    def _timeout(self):
        longest = LOOK if self.processes.lingers else LONGEST_WAIT
        due = None if self.virtual else self.engine.next_event()
        if due is None:
            return longest
        return max(0.0, min(longest, (due - self.offset) / self.scale - (time.time() - self.began)))

    # ---- the loop

    def serve(self, ready):
        path = os.path.join(self.folder, "socket")
        if os.path.exists(path):
            os.unlink(path)
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.listener.bind(path)
        os.chmod(path, 0o666)   # anyone with access to DIR may send requests, as on a cluster
        self.listener.listen(128)
        self.listener.setblocking(False)
        waker, wake = socket.socketpair()
        for end in (waker, wake):
            end.setblocking(False)
        signal.set_wakeup_fd(wake.fileno(), warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: setattr(self, "running", False))
        self.selector.register(self.listener, selectors.EVENT_READ, self._accept)
        self.selector.register(waker, selectors.EVENT_READ, lambda _: waker.recv(4096))
        ready()
        try:
            while self.running:
                for key, _ in self.selector.select(self._timeout()):
                    key.data(key.fileobj)
                self.catch_up()
                self.processes.reap()
                self._tasks_ended()
        finally:
            signal.set_wakeup_fd(-1)
            self.processes.stop()
            os.unlink(path)

    def _accept(self, listener):
        try:
            sock, _ = listener.accept()
        except OSError:
            return
        sock.setblocking(False)
        connection = Connection(sock)
        self.selector.register(sock, selectors.EVENT_READ, lambda _: self._read(connection))

    def _drop(self, connection):
        self.selector.unregister(connection.sock)
        task = self.processes.tasks.pop(connection, None)
        if task and task.process.poll() is None and not task.orphan:
            self.processes._signal(task.process, signal.SIGKILL)   # res ends tasks that no one waits for
        connection.close()

    def _read(self, connection):
        try:
            data, descriptors, _, _ = socket.recv_fds(connection.sock, 65536, 3)
        except BlockingIOError:
            return
        except OSError:
            data, descriptors = b"", []
        connection.descriptors += descriptors
        connection.data += data
        if not data or len(connection.data) > LIMIT:
            self._drop(connection)
            return
        line, newline, rest = connection.data.partition(b"\n")
        if not newline:
            return
        connection.data = rest
        try:
            request = json.loads(line)
            answer = self.answer(connection, request)
        except (ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError) as fault:
            answer = {"exit": 255, "out": "", "err": f"lsf_double: request not understood: {fault!r}\n"}
        if answer is not None:
            self._send(connection, answer)

    def _send(self, connection, answer):
        connection.answer = json.dumps(answer).encode() + b"\n"
        self.selector.modify(connection.sock, selectors.EVENT_WRITE, lambda _: self._write(connection))
        self._write(connection)

    def _write(self, connection):
        """Sends as much as the caller reads; a caller that does not read blocks only itself."""
        try:
            connection.answer = connection.answer[connection.sock.send(connection.answer):]
        except BlockingIOError:
            return
        except OSError:
            connection.answer = b""
        if not connection.answer:
            self._drop(connection)

    # ---- requests

    def _caller(self, connection, request):
        _, uid, gid = struct.unpack("3i", connection.sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
        if request.get("as") and uid in (0, os.geteuid()):
            try:
                entry = pwd.getpwnam(request["as"])
                return request["as"], entry.pw_uid, entry.pw_gid, entry.pw_dir
            except KeyError:
                return request["as"], uid, gid, request.get("environment", {}).get("HOME", "/")
        try:
            entry = pwd.getpwuid(uid)
            return entry.pw_name, uid, gid, entry.pw_dir
        except KeyError:
            return str(uid), uid, gid, "/"

    def answer(self, connection, request):
        """The answer, or None if it comes later."""
        self.processes.reap()
        self.catch_up()
        command = request["command"]
        user, uid, gid, home = self._caller(connection, request)
        if command == "settings":
            return {**self.settings, "now": self.engine.now}
        if command.startswith("double-"):
            if uid not in (0, os.geteuid()):
                return {"exit": 1, "out": "", "err": "lsf_double: only for the user who runs the server\n"}
            return self.control(command.removeprefix("double-"), request["argv"])
        if command == "lsrun":
            return self._lsrun(connection, request, uid, gid)
        if not self.engine.mbatchd_up and command not in commands.OF_THE_LIM:
            return {"retry": 1.0 / self.scale}
        if command == "submit":
            request["spec"].update(uid=uid, gid=gid, home=home, cwd=request["cwd"], env=request["environment"])
        if command == "ended":
            return self._look(request)
        self.requests[" ".join([command, *(word for word in request.get("argv", ()) if word.startswith("-"))])[:80]] += 1
        answer = commands.serve(self.engine, {**request, "user": user})
        if "seconds" in answer:
            answer["seconds"] /= self.scale
        return answer

    def _look(self, request):
        """What bsub -K and -I wait for."""
        jobs = control.find(self.engine, request["argv"][0]) or []
        if not jobs:
            return {"exit": 255, "out": "", "err": ""}
        job = jobs[0]
        return {"state": job.state, "host": job.exec_hosts[0][0] if job.exec_hosts else "", "status": job.status,
                "output": job.output or self.engine.runner.output(job)}

    def control(self, verb, words):
        """host NAME on|off|cut, advance SECONDS, index HOST NAME VALUE, mbatchd on|off, requests, now."""
        if verb == "requests":
            return {"exit": 0, "out": json.dumps(self.requests) + "\n", "err": ""}
        try:
            if verb == "host":
                host = self.engine.cluster.hosts[words[0]]
                loss.switch(self.engine, host, {"on": "on", "off": "off", "cut": "cut"}[words[1]])
            elif verb == "advance":
                if not self.virtual:
                    return {"exit": 1, "out": "", "err": "lsf_double: advance: the clock is real; set \"clock\": \"virtual\" in lsf.json\n"}
                self.engine.advance(self.engine.now + seconds(words[0]))
            elif verb == "index":
                loss.set_index(self.engine, self.engine.cluster.hosts[words[0]], words[1], float(words[2]))
            elif verb == "mbatchd":
                self.engine.mbatchd({"on": True, "off": False}[words[0]])
            elif verb != "now":
                raise KeyError(verb)
        except (KeyError, IndexError, ValueError) as fault:
            return {"exit": 1, "out": "", "err": f"lsf_double: {verb} {' '.join(words)}: no such host, value or verb: {fault}\n"}
        return {"exit": 0, "out": f"{self.engine.now:.3f}\n", "err": ""}

    def _lsrun(self, connection, request, uid, gid):
        host = self.engine.cluster.hosts.get(request["host"] or self.engine.cluster.keys["master"])
        if host is None:
            return {"exit": 255, "out": "", "err": f"lsrun: {request['host']}: Bad host name\n"}
        if host.power != "on" or len(connection.descriptors) != 3:   # the text was not recorded
            return {"exit": 255, "out": "", "err": f"lsrun: {host.name}: Host is down or its RES is down\n", "seconds": 2.0 / self.scale}
        stdin, stdout, stderr = connection.descriptors
        try:
            process = subprocess.Popen(on_host(host, uid, gid, request["cwd"], request["argv"]), env=request["environment"], stdin=stdin,
                                       stdout=stdout, stderr=stderr, cwd=request["cwd"], start_new_session=True)
        except OSError as fault:
            return {"exit": 255, "out": "", "err": f"lsrun: {request['argv'][0]}: {fault.strerror}\n"}
        self.processes.tasks[connection] = Task(process, host.name, request["environment"].get("LSB_JOBID", ""))
        for descriptor in connection.descriptors:
            os.close(descriptor)
        connection.descriptors = []
        return None

    def _tasks_ended(self):
        for connection, task in list(self.processes.tasks.items()):
            if task.process.poll() is None or connection.answer:
                continue
            code = task.process.returncode
            self._send(connection, {"exit": code if code >= 0 else 128 - code, "out": "", "err": ""})


def seconds(text):
    """"5s", "2m", "1h" or a number."""
    factor = {"s": 1.0, "m": 60.0, "h": 3600.0}.get(text[-1:], None)
    return float(text[:-1]) * factor if factor else float(text)
