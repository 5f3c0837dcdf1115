"""Whose programs a host runs: this machine's, or those of another Debian whose root directory stands somewhere.

Another Debian's /usr and what belongs to it in /etc are laid over a host's own in its mount namespace. All else
(the cluster's files, /proc, /sys, /dev, users) stays as it is, so that nothing needs to know the difference.
"""

import os
import subprocess
from pathlib import Path
from typing import NamedTuple, Optional

from .build import SOURCE
from .testing import skip

# Beside /usr: which slurmctld stands behind the name, and where libraries are.
OVERLAID = ("etc/alternatives", "etc/ld.so.cache", "usr")


class Userland(NamedTuple):
    """`root` is the other Debian's root directory; None is this machine's own."""

    root: Optional[Path] = None

    def plugins(self) -> str:
        """The folder of Slurm's own plugins, as the hosts see it."""
        for folder in sorted((self.root or Path("/")).glob("usr/lib/*/slurm-wlm")):
            if (folder / "select_cons_tres.so").exists():
                return f"/{folder.relative_to(self.root or '/')}"
        raise FileNotFoundError("Slurm's plugins stand in no /usr/lib/*/slurm-wlm: install slurm-wlm-basic-plugins")

    def mounts(self) -> list[str]:
        """The commands that lay it over a host's own; the last changes where all later ones come from."""
        return [f"mount --bind {self.root}/{name} /{name}" for name in OVERLAID] if self.root else []


def debian13() -> Userland:
    """Debian 13 with Slurm 24.11; skips the test, with the reason, where there is none and none can be made."""
    if os.geteuid() != 0:
        skip("not root")
    made = subprocess.run([SOURCE / "build-aux" / "debian13-root"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, check=False)
    if made.returncode:
        skip((made.stderr.strip().splitlines() or ["no Debian 13 root"])[-1])
    return Userland(Path(made.stdout.strip()))
