"""How slow this machine is now: deadlines are written for one of two quiet cores, and are multiplied by this factor.

Who runs tests measures once, and tells what it starts by RAILYARD_SLOWNESS in the environment.
"""

import os
import subprocess
import tempfile
import time
from pathlib import Path

VARIABLE = "RAILYARD_SLOWNESS"
USUAL = 2.7  # seconds that measure()'s work takes where no deadline has to be longer
WORK = """
#include <map>
#include <regex>
#include <string>
int main(int, char** words) { return std::regex_match(words[0], std::regex("a.*b")) + int(std::map<std::string, int>().size()); }
"""
STARTS = 200


def measure() -> float:
    """As many compilers as there are cores at once, then starts of a process: how many times the usual that takes, 1 at least."""
    with tempfile.TemporaryDirectory(prefix="rail-") as folder:
        source = Path(folder) / "work.cpp"
        source.write_text(WORK)
        begin = time.monotonic()
        compilers = [subprocess.Popen(["c++", "-O1", "-c", "-o", "/dev/null", source], stdin=subprocess.DEVNULL)
                     for _ in range(os.cpu_count() or 1)]
        for compiler in compilers:
            compiler.wait()
        for _ in range(STARTS):
            subprocess.run(["true"], check=True)
        return max(1.0, (time.monotonic() - begin) / USUAL)


def slowness() -> float:
    """What was measured; 1 where nobody has."""
    return max(1.0, float(os.environ.get(VARIABLE) or 1))
