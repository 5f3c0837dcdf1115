"""A copy of the sources with its own caches, as on a machine that has never run any of this before."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from .build import SOURCE


class Fresh:
    """The copy is in `source`, the environment for its commands in `environment`; close() removes everything, also as a context.

    Without a repository (a release) all files are copied, otherwise those that git tracks or would add, with their current
    content.
    """

    def __init__(self):
        self.folder = Path(tempfile.mkdtemp(prefix="railyard-cold-", dir=os.environ.get("TMPDIR", "/var/tmp")))
        self.folder.chmod(0o711)  # some tests continue as another user, in directories below
        self.source = self.folder / "railyard"
        try:
            self._copy()
        except BaseException:
            self.close()
            raise
        (self.folder / "ccache.conf").touch()
        (self.folder / "tmp").mkdir()
        # ccache's own settings may specify another cache, also one on another machine.
        left = {name: value for name, value in os.environ.items() if not name.startswith("CCACHE_")}
        own = {"XDG_CACHE_HOME": "cache", "CCACHE_DIR": "cache/ccache", "CCACHE_CONFIGPATH": "ccache.conf", "TMPDIR": "tmp"}
        self.environment = {**left, **{name: str(self.folder / place) for name, place in own.items()}}

    def _copy(self) -> None:
        if not (SOURCE / ".git").exists():
            left = shutil.ignore_patterns("build", "build-asan", "_build", "_inst", "autom4te.cache", "__pycache__")
            shutil.copytree(SOURCE, self.source, symlinks=True, ignore=left)
            subprocess.run(["chmod", "-R", "u+w", self.source], check=True)
            return
        listed = subprocess.run(["git", "-C", SOURCE, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                                capture_output=True, text=True, check=True).stdout
        for name in filter(None, listed.split("\0")):
            if (SOURCE / name).exists():
                (self.source / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(SOURCE / name, self.source / name, follow_symlinks=False)
        for words in (("init", "-q"), ("add", "-A")):
            subprocess.run(["git", "-C", self.source, *words], check=True)

    def close(self) -> None:
        subprocess.run(["chmod", "-R", "u+w", self.folder], check=False)  # a release is tested read-only
        shutil.rmtree(self.folder)

    def __enter__(self) -> "Fresh":
        return self

    def __exit__(self, *failure) -> None:
        self.close()
