"""Packages made of packages: of another version, or for the other release of Slurm that the build directory has plugins for.

What they are in the archive differs in nothing else: the same files, scripts and dependencies.
"""

import re
import shutil
import tempfile
from pathlib import Path

from scratch import check, run


def _changed(package: Path, folder: Path, change) -> Path:
    """A copy in this folder; change(root, control) alters its files and returns its new control file."""
    with tempfile.TemporaryDirectory(prefix="rail-", dir="/var/tmp") as scratch:
        root = Path(scratch) / "root"
        run("dpkg-deb", "-R", package, root)
        control = root / "DEBIAN/control"
        control.write_text(change(root, control.read_text()))
        (root / "DEBIAN/md5sums").unlink(missing_ok=True)
        version = re.search(r"^Version: (.*)$", control.read_text(), re.M)[1]
        name, _, architecture = package.name.split("_")
        made = folder / f"{name}_{version}_{architecture}"
        run("dpkg-deb", "-Zgzip", "-z1", "--root-owner-group", "-b", root, made)
        return made


def as_version(packages: list[Path], version: str, folder: Path) -> list[Path]:
    """The same, called so: to be upgraded to, or to go back to."""
    def change(_, control: str) -> str:
        old = re.search(r"^Version: (.*)$", control, re.M)[1]
        return control.replace(f"Version: {old}\n", f"Version: {version}\n").replace(f"(= {old})", f"(= {version})")
    return [_changed(package, folder, change) for package in packages]


def for_second_release(packages: list[Path], build: Path, release: str, folder: Path) -> list[Path]:
    """With the plugins and the restartd of the build's second release of Slurm."""
    ours = build / "second/.libs"
    client = re.search(r"libslurm\.so\.(\d+)", run("strings", build / "second/restartd"))[1]

    def change(root: Path, control: str) -> str:
        for folder_of_plugins in root.glob("usr/lib/*/slurm-wlm"):
            for plugin in folder_of_plugins.glob("*.so"):
                plugin.unlink()
                name = "topology_rail.so" if plugin.name == "select_rail.so" else plugin.name
                run("strip", "--strip-unneeded", ours / name, "-o", folder_of_plugins / name)
        for shadow in root.glob("usr/lib/*/railyard/shadow"):
            shutil.rmtree(shadow)
        for daemon in root.glob("usr/sbin/restartd"):
            run("strip", build / "second/restartd", "-o", daemon)
        for guard in root.glob("usr/share/railyard/apt-guard"):
            text = guard.read_text()
            check("\nbuilt_for=22.05" in text, f"{guard} is for no release of Slurm")
            guard.write_text(re.sub(r"\nbuilt_for=.*", f"\nbuilt_for={release}", text))
        control = re.sub(r"libslurm\d+ \([^)]*\)", f"libslurm{client}", control)
        return re.sub(r"(slurm-wlm-basic-plugins \([<>]+ )[0-9.]*[0-9]", rf"\g<1>{release}", control)
    return [_changed(package, folder, change) for package in packages]
