"""One HTTP request to restartd, with a MUNGE credential bound to it; runs on a host, as any user.

Usage: request.py METHOD URL [BODY] [--socket MUNGE-SOCKET] [--payload TEXT] [--authorization TEXT] [--repeat N]

Without --socket no credential is sent; --payload puts another text than the request's digest into it. Prints one
line a request: the status, a space, the body. Needs nothing but Python and munge(1).
"""

import argparse
import hashlib
import http.client
import subprocess
import urllib.parse


def credential(socket, payload):
    return subprocess.run(["munge", f"--socket={socket}", "--string", payload], stdout=subprocess.PIPE, text=True,
                          check=True).stdout.strip()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("method")
    parser.add_argument("url")
    parser.add_argument("body", nargs="?", default="")
    parser.add_argument("--socket")
    parser.add_argument("--payload")
    parser.add_argument("--authorization")
    parser.add_argument("--repeat", type=int, default=1)
    words = parser.parse_args()
    url = urllib.parse.urlsplit(words.url)
    target = url.path + (f"?{url.query}" if url.query else "")
    headers = {"Content-Type": "application/json"} if words.body else {}
    if words.authorization:
        headers["Authorization"] = words.authorization
    elif words.socket:
        digest = hashlib.sha256(f"{words.method}\n{target}\n{words.body}".encode()).hexdigest()
        headers["Authorization"] = "MUNGE " + credential(words.socket, words.payload or digest)
    for _ in range(words.repeat):
        connection = http.client.HTTPConnection(url.hostname, url.port, timeout=10)
        connection.request(words.method, target, words.body or None, headers)
        answer = connection.getresponse()
        print(answer.status, answer.read().decode(errors="replace").replace("\n", "\\n"))


if __name__ == "__main__":
    main()
