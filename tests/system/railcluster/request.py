"""One HTTP request to restartd, with a MUNGE credential bound to it; runs on a host, as any user.

Usage: request.py METHOD URL [BODY] [--socket MUNGE-SOCKET] [--payload TEXT] [--authorization TEXT] [--repeat N]
                  [--channel UID [--then BODY ...]]

Without --socket no credential is sent; --payload replaces the request's digest in it. Prints one line per request: the status, a
space, the body. With --channel the credential carries a key for restartd's user, and more bodies follow on the same connection
under that key; each line then begins with "signed" or "unsigned", depending on the answer's proof. Based on wire(7) alone. Needs
only Python and munge(1).
"""

import argparse
import hashlib
import hmac
import http.client
import secrets
import subprocess
import urllib.parse


def credential(socket, payload, *flags):
    return subprocess.run(["munge", f"--socket={socket}", "--string", payload, *flags], stdout=subprocess.PIPE, text=True,
                          check=True).stdout.strip()


def sha256(text):
    return hashlib.sha256(text.encode()).hexdigest()


def converse(connection, method, target, bodies, socket, uid):
    """Sends each body on one connection; the first carries the key."""
    key = secrets.token_bytes(32)

    def proof(what, number, digest):
        return hmac.new(key, f"{what}\n{number}\n{digest}".encode(), "sha256").hexdigest()

    for number, body in enumerate(bodies):
        digest = sha256(f"{method}\n{target}\n{body}")
        if number == 0:
            sealed = credential(socket, f"{digest} {key.hex()}", f"--restrict-uid={uid}", "--cipher=aes128")
            who = f"MUNGE {sealed}"
        else:
            who = f"Railyard {number} {proof('request', number, digest)}"
        connection.request(method, target, body, {"Authorization": who})
        answer = connection.getresponse()
        text = answer.read().decode()
        right = proof("answer", number, sha256(f"{answer.status}\n{text}"))
        print("signed" if answer.headers["Railyard-Proof"] == right else "unsigned", answer.status, text)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("method")
    parser.add_argument("url")
    parser.add_argument("body", nargs="?", default="")
    parser.add_argument("--socket")
    parser.add_argument("--payload")
    parser.add_argument("--authorization")
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--channel", type=int)
    parser.add_argument("--then", action="append", default=[])
    words = parser.parse_args()
    url = urllib.parse.urlsplit(words.url)
    target = url.path + (f"?{url.query}" if url.query else "")
    if words.channel is not None:
        converse(http.client.HTTPConnection(url.hostname, url.port, timeout=10), words.method, target,
                 [words.body, *words.then], words.socket, words.channel)
        return
    headers = {"Content-Type": "application/json"} if words.body else {}
    if words.authorization:
        headers["Authorization"] = words.authorization
    elif words.socket:
        digest = sha256(f"{words.method}\n{target}\n{words.body}")
        headers["Authorization"] = "MUNGE " + credential(words.socket, words.payload or digest)
    for _ in range(words.repeat):
        connection = http.client.HTTPConnection(url.hostname, url.port, timeout=10)
        connection.request(words.method, target, words.body or None, headers)
        answer = connection.getresponse()
        print(answer.status, answer.read().decode(errors="replace").replace("\n", "\\n"))


if __name__ == "__main__":
    main()
