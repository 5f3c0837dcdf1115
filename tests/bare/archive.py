"""A Debian archive made up in a folder: sources and packages of our own, under lists that apt reads with file: URIs."""

import gzip
import hashlib
import io
import signal
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path


def tarball(files):
    """A compressed tar file of {name: text}; a name that ends in .sh or is `configure` can be run."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        for name, text in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(text.encode())
            member.mode = 0o755 if name.endswith(("configure", ".sh")) else 0o644
            archive.addfile(member, io.BytesIO(text.encode()))
    return out.getvalue()


class Archive:
    """One place: a suite with its lists, and a pool. What is listed and what is there are said apart."""

    def __init__(self, folder: Path, suite: str):
        self.folder, self.suite = folder, suite
        self.sources, self.packages = [], []

    def list_source(self, package: str, version: str, files: dict[str, bytes], there: dict[str, bytes]):
        """A stanza of Sources that names `files`; the pool holds `there` under these names."""
        sums = "".join(f" {hashlib.sha256(data).hexdigest()} {len(data)} {name}\n" for name, data in files.items())
        self.sources.append(f"Package: {package}\nBinary: slurmctld,\n slurmd\nVersion: {version}\nFormat: 3.0 (quilt)\n"
                            f"Directory: {self._pool(package, there)}\nChecksums-Sha256:\n{sums}")

    def list_package(self, package: str, version: str, data: bytes, fields: str, there: dict[str, bytes]):
        """A stanza of Packages for PACKAGE_VERSION_all.deb with this content."""
        name = f"{package}_{version}_all.deb"
        self.packages.append(f"Package: {package}\nVersion: {version}\nArchitecture: all\nMaintainer: nobody <nobody@localhost>\n"
                             f"Description: made up\n{fields}Filename: {self._pool(package, there)}/{name}\nSize: {len(data)}\n"
                             f"SHA256: {hashlib.sha256(data).hexdigest()}\n")

    def _pool(self, package: str, there: dict[str, bytes]) -> str:
        pool = f"pool/main/{package[0]}/{package}"
        (self.folder / pool).mkdir(parents=True, exist_ok=True)
        for name, data in there.items():
            (self.folder / pool / name).write_bytes(data)
        return pool

    def write(self, architecture: str = "amd64") -> None:
        """The lists and the Release file that apt asks for."""
        top = self.folder / "dists" / self.suite
        lists = {"main/source/Sources": self.sources, f"main/binary-{architecture}/Packages": self.packages}
        sums = ""
        for name, stanzas in lists.items():
            path = top / name
            path.parent.mkdir(parents=True, exist_ok=True)
            text = "\n".join(stanzas).encode()
            for path, data in ((path, text), (path.with_name(path.name + ".gz"), gzip.compress(text, mtime=0))):
                path.write_bytes(data)
                sums += f" {hashlib.sha256(data).hexdigest()} {len(data)} {path.relative_to(top)}\n"
        (top / "Release").write_text(f"Origin: made up\nSuite: {self.suite}\nCodename: {self.suite}\n"
                                     f"Architectures: {architecture} all\nComponents: main\n"
                                     f"Date: Thu, 01 Jan 2026 00:00:00 UTC\nSHA256:\n{sums}")

    def stanza(self, types: str) -> str:
        """Its place in a deb822 file of apt sources."""
        return f"Types: {types}\nURIs: file:{self.folder}\nSuites: {self.suite}\nComponents: main\nTrusted: yes\n"


def check(condition, *told) -> None:
    if not condition:
        raise AssertionError("\n".join(map(str, told)))


def tests(names: dict) -> int:
    """Runs the functions test_* of a module, each with an empty folder; words on the command line pick some."""
    # A shell ignores SIGINT in what it starts in the background, and so would all that tests start and interrupt.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    failed = 0
    for name, test in list(names.items()):
        if name.startswith("test_") and all(word in name for word in sys.argv[1:]):
            with tempfile.TemporaryDirectory(prefix="rail-", dir="/var/tmp") as folder:
                try:
                    test(folder)
                except (AssertionError, subprocess.TimeoutExpired) as error:
                    failed += 1
                    print(f"--- {name}\n{error}")
    return 1 if failed else 0
