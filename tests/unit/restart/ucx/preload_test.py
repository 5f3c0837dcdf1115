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
import subprocess
import sys
import tempfile
import threading

HERE = pathlib.Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(HERE.parents[2] / "system"))
from railcluster.process import wait_for  # noqa: E402

LIBRARY = pathlib.Path(".libs/librailucx.so").resolve()
PAUSE = 700  # ms, for a line to be said: one each half second, whatever happens meanwhile
DEADLINE = 120
MAIN = """
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
int main(int count, char** words) {
    void* plugin = dlopen(words[1], RTLD_NOW | RTLD_LOCAL);
    if (plugin == NULL) return fprintf(stderr, "%s\\n", dlerror()), 9;
    return count < 4 ? 8 : ((int (*)(int, int))dlsym(plugin, "run"))(atoi(words[2]), atoi(words[3]));
}
"""
MPI = """
#include <mpi.h>
#include <unistd.h>
int main(int count, char** words) {
    int rank, sum;
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 10; ++i) MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    usleep(1500000);
    return MPI_Finalize();
}
"""


class Agent:
    """Keeps what each connection says, and answers."""

    def __init__(self, folder, mute=False):
        self.path, self.mute, self.said, self.open = folder / "job.sock", mute, [], 0
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
            lines = []
            with self.lock:
                self.said.append(lines)
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
        """What each connection said, once all have gone."""
        wait_for(lambda: self.open == 0, DEADLINE, "no connection to outlive its process", every=0.01)
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.path.unlink()
        return self.said


def run(command, folder, env):
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("SLURM_", "OMPI_", "PMIX_", "UCX_"))}
    return subprocess.run(command, cwd=folder, env={**environment, **env}, capture_output=True, text=True, timeout=DEADLINE, check=False)


def build(folder, name, sources, *words, compiler="cc"):
    subprocess.run([compiler, "-g", "-Wall", "-Wextra", "-o", folder / name, *sources, *words], check=True)


def equal(found, wanted, what):
    if found != wanted:
        raise SystemExit(f"{what}: {found!r}, not {wanted!r}")


def ways(line):
    return {path["over"]: path["endpoints"] for path in line["paths"]}


def peers(line):
    return {path["over"]: path["to"] for path in line["paths"] if "to" in path}


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
    program = ["./main", str(folder / "plugin.so"), "500", str(PAUSE)]
    env = {"LD_LIBRARY_PATH": str(folder), "UCP_DOUBLE_LANES": "rc_mlx5/mlx5_3:1.0 tcp/eth0.0 rc_mlx5/mlx5_3:1.1",
           "UCX_NET_DEVICES": "mlx5_3:1"}
    over = "rc_mlx5/mlx5_3:1+tcp/eth0"

    agent = Agent(folder)
    done = run(program, folder, job(agent.path, UCP_DOUBLE_ERROR="-80", **env))
    equal((done.returncode, done.stderr), (0, ""), "a program whose endpoint fails")
    parent, child = sorted(agent.close(), key=len, reverse=True)
    equal([ways(line) for line in child], [{over: 1}], "what the child said")
    equal([peers(line) for line in parent + child if peers(line)], [], "peers of addresses that nobody published")
    equal(ways(parent[-1]), {}, "what is left when its worker has gone")
    equal({over: 500} in [ways(line) for line in parent], True, "all endpoints were told")
    equal({over: 1} in [ways(line) for line in parent], True, "those that were closed were told")
    equal(len(parent) < 12, True, f"a burst of 500 endpoints took {len(parent)} lines")
    last = {key: parent[-1][key] for key in ("job", "rank", "devices", "failed", "timeouts", "refused", "last")}
    equal(last, {"job": 12, "rank": 3, "devices": "mlx5_3:1", "failed": 1, "timeouts": 1, "refused": 0,
                 "last": f"peer (not known) over {over}: Endpoint timeout"}, "the failure")

    agent = Agent(folder)
    done = run(program, folder, job(agent.path, UCP_DOUBLE_REFUSE="-6", **env))
    equal(done.returncode, 0, "a program that gets no endpoint")
    parent = max(agent.close(), key=lambda lines: lines[-1]["refused"])
    equal((parent[-1]["refused"], parent[-1]["last"]), (500, "no endpoint to peer (not known): Destination is unreachable"), "why")

    agent = Agent(folder)
    done = run(program, folder, job(agent.path, **{**env, "LD_LIBRARY_PATH": str(folder / "old")}))
    equal(done.returncode, 0, "over a libucp that cannot be asked")
    parent = max(agent.close(), key=len)
    equal((parent[0]["unseen"], ways(parent[0])["unknown"] > 0), ("this libucp has no ucp_ep_print_info", True), "what cannot be seen")

    for what, socket_path in (("without an agent", folder / "nowhere.sock"), ("with an endless path", "/" + "x" * 300), ("with none", "")):
        equal(run(program, folder, job(socket_path, **env)).returncode, 0, what)
    agent = Agent(folder, mute=True)
    equal(run(program, folder, job(agent.path, **env)).returncode, 0, "with an agent that does not answer")
    agent.close()
    agent = Agent(folder)
    done = run(["sh", "-c", "echo fine"], folder, job(agent.path))
    equal((done.stdout, done.stderr, agent.close()), ("fine\n", "", []), "a program without UCX")


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
        preload = env.pop("LD_PRELOAD")
        done = run(["mpirun", "--allow-run-as-root", "--oversubscribe", "-np", "2", "--mca", "pml", "ucx", "--mca",
                    "opal_common_ucx_tls", "any", "--mca", "opal_common_ucx_devices", "any", "-x", f"UCX_TLS={tls}",
                    "-x", f"LD_PRELOAD={preload}", "./mpi"], folder, {**env, "OMPI_MCA_mpi_yield_when_idle": "1"})
        equal(done.returncode, 0, f"mpirun over {tls}: {done.stderr}")
        said = agent.close()
        equal(sorted({line["rank"] for lines in said for line in lines}), [0, 1], "ranks")
        for lines in said:
            equal(lines[-1]["tls"], tls, "UCX_TLS")
            equal(any(between in over.split("+") for line in lines for over in ways(line)), True, f"{between} in {lines}")
            # Two ranks: what is between them leads to the other one, whichever address UCX has packed.
            rank = lines[-1]["rank"]
            others = {to for line in lines for over, to in peers(line).items() if between in over.split("+")}
            equal(f"rank {1 - rank}" in others, True, f"the peer of rank {rank} by {between}: {others} in {lines}")
            equal(others <= {"rank 0", "rank 1"}, True, f"peers of rank {rank}: {others}")
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
