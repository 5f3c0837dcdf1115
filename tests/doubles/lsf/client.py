"""Every command of the double (bsub, bjobs, …): sends requests to the server of LSF_ENVDIR, or else of the folder that it is in.

bsub and bmod parse their lines and run the esubs here, as the caller; lsrun passes its standard streams on. LSF_DOUBLE_USER names
another user if the server permits it.
"""
import json
import os
import socket
import sys
import time


class Server:
    def __init__(self, folder):
        self.path = os.path.join(folder, "socket")

    def connect(self):
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            sock.connect(self.path)
        except OSError:
            return None
        return sock

    def ask(self, request, descriptors=()):
        """The answer; while mbatchd is down, waits and prints that."""
        request.setdefault("as", os.environ.get("LSF_DOUBLE_USER", ""))
        said = False
        while True:
            answer = self.once(request, descriptors)
            if answer is not None and "retry" not in answer:
                return answer
            if said is False:
                time.sleep(answer["retry"] if answer else 1.0)
                said = True
                continue
            sys.stderr.write("batch system daemon not responding ... still trying\n")
            sys.stderr.flush()
            time.sleep(5 * answer["retry"] if answer else 5.0)

    def once(self, request, descriptors):
        sock = self.connect()
        if sock is None:
            return None
        with sock:
            data = json.dumps(request).encode() + b"\n"
            try:
                if descriptors:
                    socket.send_fds(sock, [data[:1]], list(descriptors))
                    data = data[1:]
                sock.sendall(data)
                reply = b""
                while not reply.endswith(b"\n"):
                    more = sock.recv(1 << 16)
                    if not more:
                        return None
                    reply += more
            except OSError:
                return None
            return json.loads(reply)


def tell(answer):
    if answer.get("seconds"):
        time.sleep(answer["seconds"])
    for stream, text in ((sys.stdout, answer["out"]), (sys.stderr, answer["err"])):
        stream.buffer.write(text.encode("utf-8", "surrogateescape"))
        stream.flush()
    return answer["exit"]


def submit(server, command, argv, environment, cwd, read_stdin, start=None):
    """bsub and bmod: (answer, other); other["wait"] is set by -K and -I. start runs an esub, for tests."""
    import esub            # pylint: disable=import-outside-toplevel  (bjobs, once a second, needs none of it)
    import submission      # pylint: disable=import-outside-toplevel
    from usage import USAGE   # pylint: disable=import-outside-toplevel
    what = "submitted" if command == "bsub" else "modified"

    def no(text):
        return {"exit": 255, "out": "", "err": f"{text}. Job not {what}.\n"}, {}

    settings = server.ask({"command": "settings"})
    try:
        if command == "bsub":
            job_id = None
            job, other = submission.bsub(argv, read_stdin, settings["now"])
            if job is None:
                return {"exit": 0, "out": "", "err": ""}, {}
        else:
            job_id, job, other = submission.bmod(argv, settings["now"])
    except submission.Usage as usage:
        return {"exit": 255, "out": "", "err": f"{usage}{USAGE[command]}"}, {}
    except submission.Bad as bad:
        return no(bad)
    if environment.get("LSF_SERVERDIR", settings["serverdir"]) != settings["serverdir"]:
        return no("Failed in an LSF library call: External authentication failed")
    environment = dict(environment)
    try:
        warnings = esub.run(job, other, settings, environment, cwd, command == "bmod", *([start] if start else []))
    except esub.Aborted:
        return no("Request aborted by esub")
    if other.get("wait", "K") != "K":
        job["interactive"] = True
    request = {"command": "submit" if command == "bsub" else "modify", "spec": job, "id": job_id, "cwd": cwd,
               "environment": environment, "argv": [], "env": {}}
    answer = server.ask(request)
    answer["err"] = warnings + answer["err"]
    return answer, other


def wait(server, job_id, how):
    """bsub -K and -I: waits until the job has ended; -I also shows its output."""
    sys.stderr.write("<<Waiting for dispatch ...>>\n")
    started, output = False, ""
    while True:
        sys.stderr.flush()
        seen = server.ask({"command": "ended", "argv": [str(job_id)], "env": {}})
        if seen.get("state") is None:
            return 255
        if seen["state"] in ("RUN", "DONE", "EXIT") and not started:
            started = True
            if how != "K":
                sys.stderr.write(f"<<Starting on {seen['host']}>>\n")
        if how != "K" and seen["output"] and len(seen["output"]) > len(output):
            sys.stdout.write(seen["output"][len(output):])
            sys.stdout.flush()
            output = seen["output"]
        if seen["state"] in ("DONE", "EXIT"):
            if how == "K":
                sys.stderr.write("<<Job is finished>>\n")
            return (seen["status"] >> 8) if seen["state"] == "EXIT" and seen["status"] >> 8 else int(seen["state"] == "EXIT")
        time.sleep(0.1)


def lsrun(server, argv):
    host, words = "", list(argv)
    while words and words[0].startswith("-"):
        word = words.pop(0)
        if word == "--":
            break
        if word == "-m" and words:
            host = words.pop(0)
        elif word not in ("-v", "-P", "-L"):
            sys.stderr.write(f"lsrun: invalid option -- '{word[1:2]}'\n")
            return 255
    else:   # without "--" the options of the command are parsed as lsrun's
        bad = next((word for word in words if word.startswith("-")), None)
        if bad:
            sys.stderr.write(f"lsrun: invalid option -- '{bad[1:2]}'\n")
            return 255
    if not words:
        sys.stderr.write("Usage: lsrun [-h] [-V] [-P] [-v] [-m host_name] command [argument ...]\n")
        return 255
    request = {"command": "lsrun", "host": host, "argv": words, "environment": dict(os.environ), "cwd": os.getcwd(), "env": {}}
    return tell(server.ask(request, (0, 1, 2)))


def main(command, folder):
    named = os.environ.get("LSF_ENVDIR", "")   # as for the engine's own commands; otherwise the folder of this command
    server, argv = Server(named if os.path.exists(os.path.join(named, "socket")) else folder), sys.argv[1:]
    if command == "lsrun":
        return lsrun(server, argv)
    if command in ("bsub", "bmod"):
        read = lambda: sys.stdin.buffer.read().decode("utf-8", "surrogateescape")
        answer, other = submit(server, command, argv, os.environ, os.getcwd(), read)
        status = tell(answer)
        if status == 0 and other.get("wait"):
            return wait(server, answer["id"], other["wait"])
        return status
    env = {name: value for name, value in os.environ.items() if name.startswith("LSB_")}
    return tell(server.ask({"command": command, "argv": argv, "env": env}))
