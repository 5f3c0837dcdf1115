"""The programs that a host runs: this machine's, or those in the root directory of another Debian.

Another Debian's /usr and the related parts of /etc are mounted over a host's own in its mount namespace. All else (the cluster's
files, /proc, /sys, /dev, users) stays the same, so that nothing else needs to know.
"""

import os
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple, Optional

from .build import SOURCE
from .testing import Skip, skip

# In addition to /usr: which slurmctld the name refers to, and where libraries are.
OVERLAID = ("etc/alternatives", "etc/ld.so.cache", "usr")


class Userland(NamedTuple):
    """`root` is the other Debian's root directory; None is this machine's own."""

    root: Optional[Path] = None

    def plugins(self) -> str:
        """The folder of Slurm's own plugins, as seen by the hosts."""
        for name in ("slurm-wlm", "slurm"):  # Debian's, and that of a locally built Slurm
            for folder in sorted((self.root or Path("/")).glob(f"usr/lib/*/{name}")):
                if (folder / "select_cons_tres.so").exists():
                    return f"/{folder.relative_to(self.root or '/')}"
        raise FileNotFoundError("Slurm's plugins stand in no /usr/lib/*/slurm-wlm: install slurm-wlm-basic-plugins")

    def mounts(self) -> list[str]:
        """The commands that mount it over a host's own; the last one changes the root of all later ones."""
        if self.root and self.root.is_relative_to("/tmp"):
            raise FileNotFoundError(f"{self.root}: hosts have a /tmp of their own: let XDG_CACHE_HOME name a directory elsewhere")
        return [f"mount --bind {self.root}/{name} /{name}" for name in OVERLAID] if self.root else []


def debian13() -> Userland:
    """Debian 13 with Slurm 24.11; skips the test, with the reason, if there is none and none can be created."""
    if os.geteuid() != 0:
        skip("not root")
    made = subprocess.run([SOURCE / "build-aux" / "debian13-root"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, check=False)
    if made.returncode:
        skip((made.stderr.strip().splitlines() or ["no Debian 13 root"])[-1])
    return Userland(Path(made.stdout.strip()))


def newer(build: Path, release: str) -> Userland:
    """A root directory with a newer Slurm, such as "25.11": from RAILYARD_SLURM_ROOT_2511, else made by build-aux/debian-root.

    Skips the test if there is none, or if the build's plugins are for another micro release, which would not load them.
    """
    if os.geteuid() != 0:
        skip("not root")
    name = f"RAILYARD_SLURM_ROOT_{release.replace('.', '')}"
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "railyard"
    given = os.environ.get(name)
    roots = [Path(given)] if given else sorted(path.parent for path in cache.glob(f"*-slurm-{release}.*/.complete"))
    if not roots:
        skip(f"no root directory with Slurm {release}: {name} names none, and {cache} has none")
    root = roots[-1].resolve()
    told = subprocess.run(["chroot", root, "slurmctld", "-V"], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    have, built = (told.stdout.split() or ["none"])[-1], built_for(build, release)
    if have != built:
        skip(f"{root} has Slurm {have}, and the plugins are for {built}: Slurm loads none of another number")
    return Userland(root)


NEWER = ("25.05", "25.11", "26.05")


def releases_at_hand(build: Path, say: Callable[[str], None]) -> Iterator[tuple[str, Optional[Path], str]]:
    """For each release that can be run with the build's plugins for it: its name, its root directory (None: this machine's) and
    the build's folder of these plugins. `say` is called for each that is left out, with the reason."""
    if (build / ".libs" / "select_rail.so").exists():
        yield "22.05", None, ""
    else:
        say("22.05 left out: select_rail.so is not built")
    second = [build / "second" / ".libs" / f"{name}_rail.so" for name in ("topology", "job_submit", "spank")]
    if all(path.exists() for path in second):
        try:
            yield "24.11", debian13().root, ""
        except Skip as reason:
            say(f"24.11 left out: {reason}")
    else:
        say("24.11 left out: its plugins are not all built in second/ (configure --with-second-slurm-src)")
    for release in NEWER:
        try:
            yield release, newer(build, release).root, f"slurm-{release}"
        except Skip as reason:
            say(f"{release} left out: {reason}")


def built_for(build: Path, release: str) -> str:
    """The exact release for which --with-more-slurm-src builds plugins: "25.11.7" for "25.11"; skips if there is none."""
    listed = build / "more-slurm.mk"
    found = re.search(rf"^slurm_{re.escape(release)}_release = (\S+)$", listed.read_text() if listed.exists() else "", re.MULTILINE)
    return found[1] if found else skip(f"the build has no plugins for Slurm {release}: --with-more-slurm-src names no source of it")
