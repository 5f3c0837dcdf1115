#!/usr/bin/env python3
"""hwloc sees the same host in gen_host.py's XML as in its tree for HWLOC_FSROOT, where hwloc itself finds PCI bridges, NUMA nodes
and InfiniBand devices; run from the build directory, as automake does.
"""
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
MODELS = {
    "an HCA beside each GPU": "",
    "against the order of GPUs": "--order 7,6,5,4,3,2,1,0",
    "two GPUs to an HCA": "--hcas 4 --storage 1",
    "two HCAs to a GPU": "--gpus 4",
    "no switches": "--flat",
    "a dead HCA": "--dead 3",
    "no GPU": "--gpus 8 --hcas 0 --storage 2",
}


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: exit status {done.returncode}: {done.stderr}")
    return done.stdout


def main():
    failed = False
    for name, words in MODELS.items():
        with tempfile.TemporaryDirectory() as folder:
            xml, root = f"{folder}/host.xml", f"{folder}/root"
            run(sys.executable, HERE / "gen_host.py", "--xml", xml, *words.split())
            run(sys.executable, HERE / "gen_host.py", "--fsroot", root, *words.split())
            from_xml, from_tree = run("./railtopo", "host", "--json", "--xml", xml), run("./railtopo", "host", "--json", "--fsroot", root)
        if from_xml != from_tree or '"device"' not in from_xml:
            print(f"{name}:\n  XML:  {from_xml}  tree: {from_tree}")
            failed = True
    sys.exit(1 if failed else 0)


main()
