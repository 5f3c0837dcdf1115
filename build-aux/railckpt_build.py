# SPDX-License-Identifier: GPL-2.0-or-later
"""What pip calls in the source distribution of railckpt (PEP 517): Python's own library makes a wheel of the modules, so
that nothing else is needed, and no network. build-aux/make-wheel makes its wheel by the same lines."""
import base64
import hashlib
import os
import pathlib
import tarfile
import time
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
MOMENT = max(int(os.environ.get("SOURCE_DATE_EPOCH") or 0), 315532800)  # zip knows nothing before 1980


def digest(content):
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip("=")


def write_wheel(folder, version, tag, files):
    """The wheel's path. files: what it installs, and COPYING and METADATA; of names the content."""
    info = f"railckpt-{version}.dist-info"
    pure = str(tag.endswith("-any")).lower()
    files = {f"{info}/{name}" if name in ("COPYING", "METADATA") else name: content for name, content in files.items()}
    files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: railyard\nRoot-Is-Purelib: {pure}\nTag: {tag}\n".encode()
    record = [f"{name},sha256={digest(content)},{len(content)}" for name, content in files.items()]
    files[f"{info}/RECORD"] = "\n".join([*record, f"{info}/RECORD,,", ""]).encode()
    out = pathlib.Path(folder) / f"railckpt-{version}-{tag}.whl"
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name, time.gmtime(MOMENT)[:6])
            entry.external_attr = (0o100755 if name.endswith(".so.0") else 0o100644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, content)
    return out


def version_here():
    return next(line.split()[1] for line in (HERE / "PKG-INFO").read_text().splitlines() if line.startswith("Version: "))


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    files = {path.name: path.read_bytes() for path in sorted(HERE.glob("rail*.py")) if path.name != "railckpt_build.py"}
    files["COPYING"] = (HERE / "COPYING").read_bytes()
    files["METADATA"] = (HERE / "PKG-INFO").read_bytes()
    return write_wheel(wheel_directory, version_here(), "py3-none-any", files).name


def build_sdist(sdist_directory, config_settings=None):
    top = f"railckpt-{version_here()}"
    out = pathlib.Path(sdist_directory) / f"{top}.tar.gz"
    with tarfile.open(out, "w:gz", format=tarfile.PAX_FORMAT) as archive:
        for path in sorted(HERE.iterdir()):
            if path.is_file():
                archive.add(path, f"{top}/{path.name}")
    return out.name
