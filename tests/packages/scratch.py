"""A copy of this system to try packages on: an overlay over its root, with processes and a network of its own."""

import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent.parent
# As railcluster.speed has it, of which the copy knows nothing.
SLOWNESS = max(1.0, float(os.environ.get("RAILYARD_SLOWNESS") or 1))
NAMESPACE = """\
mount -t overlay overlay -o "lowerdir=/,upperdir=$1/upper,workdir=$1/work" "$1/root" &&
mount -t proc proc "$1/root/proc" && mount --rbind /dev "$1/root/dev" && mount --rbind /sys "$1/root/sys" &&
mount -t tmpfs tmpfs "$1/root/run" &&
mount -t tmpfs tmpfs "$1/root/tmp" && mkdir "$1/root/tmp/here" && cp "$1"/made/*.[dr][ep][bm] "$2"/*.py "$1/root/tmp/here" &&
ip link set lo up && ip link add net0 type veth peer name net1 && ip link set net1 up &&
ip address add 10.98.0.1/24 dev net0 && ip link set net0 up &&
hostname head && echo "10.98.0.1 head" >>"$1/root/etc/hosts" &&
exec chroot "$1/root" python3 -B "/tmp/here/$3" --inside /tmp/here
"""


class Failed(Exception):
    pass


def check(good, what):
    if not good:
        raise Failed(what)


def run(*words, status=0, seconds=300, **more):
    """Its output; a status other than that wanted is a failure."""
    done = subprocess.run([str(word) for word in words], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=seconds * SLOWNESS, check=False, **more)
    check(done.returncode == status, f"{' '.join(map(str, words))}: status {done.returncode}, wanted {status}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def new_files(folders=("/usr", "/etc", "/lib")):
    """Those that came since this copy began."""
    return set(run("find", *folders, "-xdev", "-newer", "/proc/1/stat", "-type", "f").split())


def tarball(build, folder):
    """The release, in this folder. Tests that run side by side take turns at making it."""
    with open(build / "dist.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        run("make", "dist", cwd=build, env={**os.environ, "MAKEFLAGS": "", "XZ_OPT": "-0"})
        made = max(build.glob("railyard-*.tar.xz"), key=lambda path: path.stat().st_mtime)
        return made.rename(folder / made.name)


def packed(build, folder):
    """The Debian packages of what stands in the build directory, in this folder; packed again only when that has changed."""
    parts = [*(SOURCE / name for name in ("debian", "etc", "man", "build-aux")), build / ".libs", build / "second"]
    files = [path for part in parts for path in part.rglob("*") if path.is_file()]
    files += [path for path in (*build.iterdir(), *SOURCE.iterdir()) if path.is_file() and not path.name.endswith((".xz", ".lock"))]
    seen = "".join(f"{path} {path.stat().st_mtime_ns} {path.stat().st_size}\n" for path in sorted(files))
    kept = build / "packed"
    kept.mkdir(exist_ok=True)
    with open(build / "packed.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (kept / "seen").exists() or (kept / "seen").read_text() != seen:
            shutil.rmtree(kept)
            kept.mkdir()
            run(SOURCE / "build-aux/make-packages", tarball(build, kept), kept, seconds=1200,
                env={**os.environ, "RAIL_BUILT": str(build), "DEB_BUILD_OPTIONS": "noautodbgsym", "MAKEFLAGS": "",
                     "DPKG_DEB_COMPRESSOR_TYPE": "gzip", "DPKG_DEB_COMPRESSOR_LEVEL": "1"})
            (kept / "seen").write_text(seen)
        for made in (*kept.glob("*.deb"), *kept.glob("*.dsc"), *kept.glob("*_*.tar.xz")):
            shutil.copy(made, folder)


def main(script, lacks, make, inside, logs=()):
    """Runs make(build, folder) here and inside(folder) on a copy of this system; the exit status."""
    if sys.argv[1:2] == ["--inside"]:
        try:
            inside(Path(sys.argv[2]))
            return 0
        except Failed as error:
            print(error)
            for log in logs:
                if os.path.exists(log):
                    print(f"--- {log}", "".join(open(log).readlines()[-15:]), sep="\n")
            return 1
    if os.geteuid() != 0 or lacks:
        print(f"not here: {lacks or 'only root can install packages'}")
        return 77
    with tempfile.TemporaryDirectory(prefix="rail-", dir="/var/tmp") as scratch:
        root = Path(scratch)
        for name in ("upper", "work", "root", "made"):
            (root / name).mkdir()
        probe = subprocess.run(["unshare", "-m", "mount", "-t", "overlay", "overlay", "-o",
                                f"lowerdir=/,upperdir={root}/upper,workdir={root}/work", root / "root"], check=False)
        if probe.returncode != 0:
            print("no overlay over this system's root here")
            return 77
        try:
            make(Path.cwd(), root / "made")
        except Failed as error:
            print(error)
            return 1
        here = Path(script).resolve()
        return subprocess.run(["unshare", "--mount", "--pid", "--fork", "--kill-child", "--net", "--uts", "--ipc", "sh", "-c",
                               NAMESPACE, "sh", root, here.parent, here.name], stdin=subprocess.DEVNULL, check=False).returncode
