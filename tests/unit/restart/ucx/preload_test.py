#!/usr/bin/env python3
"""librailucx.so in processes: over a double of libucp, loaded as an MPI's plugin loads it, and over the real UCX of Open MPI.

Run in the build directory. Exit status 77 when it cannot be preloaded or there is no compiler; a part that needs Open MPI with
UCX is skipped by name.
"""
import json
import os
import pathlib
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from typing import NamedTuple

HERE = pathlib.Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(HERE.parents[2] / "system"))
from railcluster.process import Pid, wait_for  # noqa: E402
from railcluster.speed import slowness  # noqa: E402

LIBRARY = pathlib.Path(".libs/librailucx.so").resolve()
DEADLINE = 120
MAIN = """
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
int main(int count, char** words) {
    void* plugin = dlopen(words[1], RTLD_NOW | RTLD_LOCAL);
    if (plugin == NULL) return fprintf(stderr, "%s\\n", dlerror()), 9;
    return count < 3 ? 8 : ((int (*)(int))dlsym(plugin, "run"))(atoi(words[2]));
}
"""
MPI = """
#include <mpi.h>
#include <unistd.h>
int main(int count, char** words) {
    int rank, sum;
    char byte;
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 10; ++i) MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0 && read(STDIN_FILENO, &byte, 1) < 0) return 7;
    MPI_Barrier(MPI_COMM_WORLD);
    return MPI_Finalize();
}
"""


class Agent:
    """Keeps what each process says, by its number, and answers."""

    def __init__(self, folder, mute=False):
        self.path, self.mute, self.said, self.open = folder / "job.sock", mute, {}, 0
        self.lock = threading.Lock()
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(self.path))
        self.listener.listen(64)
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            pid, *_ = struct.unpack("3i", client.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
            with self.lock:
                lines = self.said.setdefault(pid, [])
                self.open += 1
            threading.Thread(target=self.hear, args=(client, lines), daemon=True).start()

    def hear(self, client, lines):
        try:
            for line in client.makefile("rb"):
                with self.lock:
                    lines.append(json.loads(line))
                if not self.mute:
                    client.sendall(b'{"ok":true}\n')
        except OSError:
            pass
        with self.lock:
            self.open -= 1

    def close(self):
        """What each process said, once all have gone."""
        wait_for(lambda: self.open == 0, DEADLINE, "no connection to outlive its process", every=0.01)
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.path.unlink()
        return self.said


class Done(NamedTuple):
    pid: int
    returncode: int
    stdout: str
    stderr: str
    seconds: float


def run(command, folder, env, *steps):
    """Runs it to its end. Each step, a condition of its process's number, is waited for and then a byte of its input; no more come."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("SLURM_", "OMPI_", "PMIX_", "UCX_"))}
    begin = time.monotonic()
    with subprocess.Popen(command, cwd=folder, env={**environment, **env}, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True) as process:
        try:
            for number, step in enumerate(steps, 1):
                wait_for(lambda: step(process.pid), DEADLINE, f"step {number} of {command[0]}", every=0.01, needs=Pid.of(process.pid))
                process.stdin.write("\n")
                process.stdin.flush()
            out, error = process.communicate(timeout=DEADLINE * slowness())
        finally:
            process.kill()
    return Done(process.pid, process.returncode, out, error, time.monotonic() - begin)


def build(folder, name, sources, *words, compiler="cc"):
    subprocess.run([compiler, "-g", "-Wall", "-Wextra", "-o", folder / name, *sources, *words], check=True)


def equal(found, wanted, what):
    if found != wanted:
        raise SystemExit(f"{what}: {found!r}, not {wanted!r}")


def ways(line):
    return {path["over"]: path["endpoints"] for path in line["paths"]}


def peers(line):
    return {path["over"]: path["to"] for path in line["paths"] if "to" in path}


def peers_by(lines, between):
    return {to for line in lines for over, to in peers(line).items() if between in over.split("+")}


def knows_the_other(lines, between):
    """Of two ranks: whether what is between them leads to the other one, whichever address UCX has packed."""
    return bool(lines) and f"rank {1 - lines[-1]['rank']}" in peers_by(lines, between)


def has_a_thread(pid):
    """Whether the library is about to speak to an agent."""
    return any(thread.read_text() == "railucx\n" for thread in pathlib.Path(f"/proc/{pid}/task").glob("*/comm"))


def job(agent, **more):
    return {"SLURM_JOB_ID": "12", "SLURM_PROCID": "3", "RAIL_CKPT_SOCKET": str(agent), "LD_PRELOAD": str(LIBRARY), **more}


def through_double(folder):
    (folder / "main.c").write_text(MAIN)
    flags = ("-shared", "-fPIC", "-Wl,-soname,libucp.so.0")
    build(folder, "libucp.so.0", [HERE / "ucp_double.c"], *flags)
    (folder / "old").mkdir()
    build(folder / "old", "libucp.so.0", [HERE / "ucp_double.c"], *flags, "-DWITHOUT_INFO")
    build(folder, "plugin.so", [HERE / "ucx_plugin.c"], "-shared", "-fPIC", folder / "libucp.so.0")
    build(folder, "main", [folder / "main.c"], "-ldl")
    program = ["./main", str(folder / "plugin.so"), "500"]
    env = {"LD_LIBRARY_PATH": str(folder), "UCP_DOUBLE_LANES": "rc_mlx5/mlx5_3:1.0 tcp/eth0.0 rc_mlx5/mlx5_3:1.1",
           "UCX_NET_DEVICES": "mlx5_3:1"}
    over = "rc_mlx5/mlx5_3:1+tcp/eth0"

    agent = Agent(folder)
    child_has_said = lambda pid: any(lines for other, lines in agent.said.items() if other != pid)  # noqa: E731
    has = lambda what: lambda pid: ways(agent.said[pid][-1]) == what  # noqa: E731
    done = run(program, folder, job(agent.path, UCP_DOUBLE_ERROR="-80", **env), child_has_said, has({over: 500}), has({over: 1}), has({}))
    equal((done.returncode, done.stderr), (0, ""), "a program whose endpoint fails")
    said = agent.close()
    parent = said.pop(done.pid)
    (child,) = said.values()
    equal([ways(line) for line in child], [{over: 1}], "what the child said")
    equal([peers(line) for line in parent + child if peers(line)], [], "peers of addresses that nobody published")
    equal(len(parent) <= 1 + 2 * done.seconds, True, f"a burst of 500 endpoints took {len(parent)} lines in {done.seconds:.1f} s")
    last = {key: parent[-1][key] for key in ("job", "rank", "devices", "failed", "timeouts", "refused", "last")}
    equal(last, {"job": 12, "rank": 3, "devices": "mlx5_3:1", "failed": 1, "timeouts": 1, "refused": 0,
                 "last": f"peer (not known) over {over}: Endpoint timeout"}, "the failure")

    agent = Agent(folder)
    done = run(program, folder, job(agent.path, UCP_DOUBLE_REFUSE="-6", **env), child_has_said,
               lambda pid: agent.said[pid][-1]["refused"] == 500)
    equal(done.returncode, 0, "a program that gets no endpoint")
    equal(agent.close()[done.pid][-1]["last"], "no endpoint to peer (not known): Destination is unreachable", "why")

    agent = Agent(folder)
    said_something = lambda pid: agent.said[pid]  # noqa: E731
    done = run(program, folder, job(agent.path, **{**env, "LD_LIBRARY_PATH": str(folder / "old")}), child_has_said, said_something)
    equal(done.returncode, 0, "over a libucp that cannot be asked")
    parent = agent.close()[done.pid]
    equal((parent[0]["unseen"], ways(parent[0])["unknown"] > 0), ("this libucp has no ucp_ep_print_info", True), "what cannot be seen")

    equal(run(program, folder, job(folder / "nowhere.sock", **env), has_a_thread).returncode, 0, "without an agent")
    for what, socket_path in (("with an endless path", "/" + "x" * 300), ("with none", "")):
        equal(run(program, folder, job(socket_path, **env)).returncode, 0, what)
    agent = Agent(folder, mute=True)
    equal(run(program, folder, job(agent.path, **env), child_has_said, said_something).returncode, 0, "with an agent that does not answer")
    agent.close()
    agent = Agent(folder)
    done = run(["sh", "-c", "echo fine"], folder, job(agent.path))
    equal((done.stdout, done.stderr, agent.close()), ("fine\n", "", {}), "a program without UCX")


def through_ucx(folder):
    plugin = subprocess.run(["ompi_info", "--path", "libdir", "--parsable"], capture_output=True, text=True, check=False)
    if not shutil.which("mpirun") or not shutil.which("mpicc") or plugin.returncode != 0:
        return "Open MPI is not installed"
    if " ucx " not in subprocess.run(["ompi_info", "--param", "pml", "ucx"], capture_output=True, text=True, check=False).stdout:
        return "Open MPI has no UCX"
    (folder / "mpi.c").write_text(MPI)
    build(folder, "mpi", [folder / "mpi.c"], compiler="mpicc")
    for tls, between in (("tcp,self,posix", "posix/memory"), ("tcp,self", "tcp/lo")):
        agent = Agent(folder)
        env = job(agent.path)
        both_know = lambda _: sum(knows_the_other(lines, between) for lines in agent.said.values()) == 2  # noqa: E731
        preload = env.pop("LD_PRELOAD")
        done = run(["mpirun", "--allow-run-as-root", "--oversubscribe", "-np", "2", "--mca", "pml", "ucx", "--mca",
                    "opal_common_ucx_tls", "any", "--mca", "opal_common_ucx_devices", "any", "-x", f"UCX_TLS={tls}",
                    "-x", f"LD_PRELOAD={preload}", "./mpi"], folder, {**env, "OMPI_MCA_mpi_yield_when_idle": "1"}, both_know)
        equal(done.returncode, 0, f"mpirun over {tls}: {done.stderr}")
        said = agent.close().values()
        equal(sorted({line["rank"] for lines in said for line in lines}), [0, 1], "ranks")
        for lines in said:
            equal(lines[-1]["tls"], tls, "UCX_TLS")
            equal(any(between in over.split("+") for line in lines for over in ways(line)), True, f"{between} in {lines}")
            equal(peers_by(lines, between) <= {"rank 0", "rank 1"}, True, f"peers of rank {lines[-1]['rank']}: {lines}")
            equal((lines[-1]["unseen"], lines[-1]["failed"], lines[-1]["refused"]), ("", 0, 0), "troubles")
    return None


def main():
    if not LIBRARY.exists() or not shutil.which("cc"):
        print("SKIP: librailucx.so is not built, or there is no compiler")
        return 77
    if "asan" in subprocess.run(["readelf", "-d", LIBRARY], capture_output=True, text=True, check=True).stdout:
        print("SKIP: librailucx.so carries sanitizers, which must be in a program before it")
        return 77
    exported = subprocess.run(["nm", "-D", "--defined-only", "--format=posix", LIBRARY], capture_output=True, text=True, check=True).stdout
    equal(sorted(line.split("@")[0] for line in exported.splitlines() if " T " in line),
          ["PMIx_Get", "ucp_disconnect_nb", "ucp_ep_close_nb", "ucp_ep_close_nbx", "ucp_ep_create", "ucp_ep_destroy", "ucp_worker_destroy"], "exports")
    for part in (through_double, through_ucx):
        with tempfile.TemporaryDirectory(prefix="railyard-ucx-") as folder:
            if why_not := part(pathlib.Path(folder)):
                print(f"SKIP: {part.__name__}: {why_not}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
