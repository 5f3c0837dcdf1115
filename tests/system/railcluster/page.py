"""The web page of a cluster for a browser on this machine: its hosts have a network of their own.

`python3 -m railcluster.page ROOT` listens on a free port of 127.0.0.1, prints it, and hands each connection on to restartd, from
the controller's own host, until the cluster ends.
"""

import ctypes
import os
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
CLONE_NEWNET = 0x40000000


def serve(cluster) -> str:
    """Begins to, in a process of its own; the address for the browser."""
    process = subprocess.Popen([sys.executable, "-B", "-m", "railcluster.page", str(cluster.root)], cwd=HERE.parent, text=True,
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, start_new_session=True)
    port = process.stdout.readline().strip()
    if not port:
        raise RuntimeError("the page of the cluster cannot be reached")
    return f"http://127.0.0.1:{port}/"


def _copy(source: socket.socket, target: socket.socket) -> None:
    try:
        while data := source.recv(65536):
            target.sendall(data)
    except OSError:
        pass
    finally:
        for end in (source, target):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


def _hand_on(client: socket.socket, where: tuple[str, int]) -> None:
    try:
        restartd = socket.create_connection(where, timeout=10)
    except OSError:
        client.close()
        return
    restartd.settimeout(None)
    threading.Thread(target=_copy, args=(client, restartd), daemon=True).start()
    threading.Thread(target=_copy, args=(restartd, client), daemon=True).start()


def main() -> int:
    from .cluster import Cluster
    cluster = Cluster.attach(Path(sys.argv[1]))
    listener = socket.create_server(("127.0.0.1", 0))
    if cluster.yard.namespaces:  # from here on connections are made there; the listener stays here
        with open(f"/proc/{cluster.yard.inits['ctl'].pid}/ns/net") as net:
            if ctypes.CDLL(None, use_errno=True).setns(net.fileno(), CLONE_NEWNET) != 0:
                raise OSError(ctypes.get_errno(), "setns")
    host, _, port = cluster.agents.url.removeprefix("http://").rpartition(":")
    print(listener.getsockname()[1], flush=True)
    os.dup2(os.open(os.devnull, os.O_RDWR), 1)
    listener.settimeout(1)
    while cluster.yard.is_on("ctl"):
        try:
            client, _ = listener.accept()
        except TimeoutError:
            continue
        except OSError:
            time.sleep(0.1)
            continue
        client.settimeout(None)
        _hand_on(client, (host, int(port)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
