"""What the Python tests over the librailckpt of the build directory begin with: the program begins again with that library,
and a sanitizer's run time before it; the modules are those of the sources."""
import os
import pathlib
import re
import subprocess
import sys

BUILD = pathlib.Path.cwd()
CKPT = pathlib.Path(__file__).resolve().parents[4] / "src/restart/ckpt"
LIBRARY = BUILD / ".libs/librailckpt.so.0"
for name in [name for name in os.environ if name.startswith(("RAIL_", "SLURM_"))]:
    del os.environ[name]


def sanitizer():
    """The run time that a program must begin with, when the library was built with one."""
    needed = subprocess.run(["ldd", LIBRARY], capture_output=True, text=True, check=True).stdout
    return re.findall(r"=> (\S*/lib[a-z]*san\.so\S*)", needed)


if os.environ.get("LD_LIBRARY_PATH") != str(LIBRARY.parent):
    preload = " ".join(sanitizer())
    os.environ.update({"LD_LIBRARY_PATH": str(LIBRARY.parent)} | ({"LD_PRELOAD": preload, "ASAN_OPTIONS": "detect_leaks=0"} if preload else {}))
    os.execv(sys.executable, [sys.executable, *sys.argv])
sys.path.insert(0, str(CKPT))
