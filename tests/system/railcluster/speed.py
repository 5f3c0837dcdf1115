"""How slow this machine is now: deadlines are written for a quiet one with two cores, and are multiplied by this factor.

The test runner measures once, and passes the result to its children in RAILYARD_SLOWNESS.
"""

import os
import subprocess
import tempfile
import time
from pathlib import Path

VARIABLE = "RAILYARD_SLOWNESS"
USUAL = 2.7  # seconds for measure()'s work if no deadline has to be longer
WORK = """
#include <map>
#include <regex>
#include <string>
int main(int, char** words) { return std::regex_match(words[0], std::regex("a.*b")) + int(std::map<std::string, int>().size()); }
"""
STARTS = 200


def measure() -> float:
    """Runs one compiler per core in parallel, then starts processes: the time as a multiple of the usual, at least 1."""
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
    """The measured factor; 1 if not measured."""
    return max(1.0, float(os.environ.get(VARIABLE) or 1))
