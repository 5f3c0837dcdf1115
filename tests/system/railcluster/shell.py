"""A kept cluster in a shell: commands that run on the right hosts, and an environment to source.

`python3 -m railcluster.shell ROOT ACTION …` puts a fault into a running cluster; the commands in ROOT/bin call it.
"""

import argparse
import sys
from pathlib import Path

from . import lsf
from .rails import Rails, measure_by

SLURM = ("sbatch", "srun", "salloc", "squeue", "sinfo", "scontrol", "scancel")
ACTIONS = ("power-off", "power-on", "cable", "power-brake", "rails", "slow-rail", "on")
RAILS, RAIL_MBIT = 2, 50
HERE = Path(__file__).resolve().parent
SOURCE = HERE.parents[2]


def write(cluster) -> Path:
    """Fills ROOT/bin and returns the file to source."""
    root = cluster.root
    folder = root / "bin"
    folder.mkdir(exist_ok=True)
    values = cluster.environment("ctl")
    settings = " ".join(f"{key}={value}" for key, value in values.items() if key not in ("HOME", "LANG"))
    enter = " ".join(cluster.yard.prefix("ctl"))
    here = '--wd="$PWD" --' if cluster.yard.namespaces else ""
    enter = enter.removesuffix("--") + here
    if cluster.lsf:
        settings += "".join(f" {key}={value}" for key, value in lsf.MPIRUN.items())
    commands = sorted(path.name for path in cluster.lsf.bindir.iterdir()) if cluster.lsf else SLURM
    for name in (*commands, "railctl"):
        _script(folder / name, f'exec {enter} env {settings} {name} "$@"')
    preload = " ".join(f"{key}='{value}'" for key, value in cluster.fabric.environment().items())
    program = cluster.options.build / "railtopo"
    _script(folder / "railtopo", f'case "${{1-}}" in\ndiscover) exec {enter} env {preload} {program} "$@" ;;\n'
                                 f'*) exec {program} "$@" ;;\nesac')
    control = f'PYTHONPATH={HERE.parent} exec python3 -B -m railcluster.shell {root}'
    for name in ACTIONS:
        _script(folder / name, f'{control} {name} "$@"')
    lines = [f'export PATH="{folder}:{cluster.options.build}:{cluster.options.build}/tests/apps:$PATH"',
             f"export LSF_ENVDIR={cluster.lsf.folder}" if cluster.lsf else f"export SLURM_CONF={cluster.slurm.conf('ctl')}",
             f"export RAILYARD_CONF={cluster.agents.conf}",
             # import railckpt, here and in jobs; without writing to the tree.
             f"export PYTHONPATH={SOURCE / 'src/restart/ckpt'} PYTHONDONTWRITEBYTECODE=1",
             f"export LD_LIBRARY_PATH={cluster.options.build}/.libs",
             f"export RAIL_FABRIC={cluster.agents.fabric}", f"export RAIL_CLUSTER={root}"]
    (root / "env.sh").write_text("\n".join(lines) + "\n")
    return root / "env.sh"


def _script(path: Path, text: str) -> None:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def main() -> int:
    from .cluster import Cluster
    parser = argparse.ArgumentParser(prog="railcluster")
    parser.add_argument("root", type=Path)
    actions = parser.add_subparsers(dest="action", required=True)
    for name in ACTIONS:
        action = actions.add_parser(name)
        if name == "rails":
            action.add_argument("state", choices=("lay", "remove"))
            continue
        action.add_argument("host")
        if name == "cable":
            action.add_argument("state", choices=("up", "down"))
        elif name == "power-brake":
            action.add_argument("gpu", type=int, choices=range(8))
            action.add_argument("state", choices=("on", "off"))
        elif name == "slow-rail":
            action.add_argument("rail", type=int, choices=range(RAILS))
        elif name == "on":
            action.add_argument("command", nargs=argparse.REMAINDER)
    words = parser.parse_args()
    cluster = Cluster.attach(words.root)
    rails = Rails(cluster, RAILS, RAIL_MBIT)
    if words.action == "rails":
        if words.state == "lay":
            rails.lay()
        else:
            rails.remove()
        measure_by(cluster, rails if words.state == "lay" else None)
        return 0
    if words.host not in (*cluster.nodes, "ctl"):
        parser.error(f"no host {words.host}: there are ctl and {cluster.nodes[0]} to {cluster.nodes[-1]}")
    if words.action != "power-on" and not cluster.yard.is_on(words.host):
        parser.error(f"{words.host} is off: power-on {words.host}")
    if words.action == "power-off":
        cluster.power_off(words.host)
    elif words.action == "power-on":
        if cluster.yard.is_on(words.host):
            parser.error(f"{words.host} is on")
        cluster.power_on(words.host)
    elif words.action == "cable":
        cluster.cable(words.host, words.state == "up")
    elif words.action == "power-brake":
        cluster.power_brake(words.host, words.gpu, words.state == "on")
    elif words.action == "slow-rail":
        rails.rate(words.host, words.rail, RAIL_MBIT // 8)
    else:
        result = cluster.run(*words.command, host=words.host, timeout=3600)
        print(result.stdout, end="")
        print(result.stderr, end="", file=sys.stderr)
        return result.returncode
    return 0


if __name__ == "__main__":
    sys.exit(main())
