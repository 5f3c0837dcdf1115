"""The environment for preflights of jobs: rails to measure, and doubles of CUDA and NCCL for the hosts' GPUs."""

import re
import shutil
from contextlib import contextmanager

from .rails import Rails, measure_by
from .testing import skip

RAILS, MBIT = 2, 50  # low, so that CPU load is not mistaken for a slow cable
TOOK = re.compile(r"preflight of (\d+) hosts? took ([\d.]+) s: (.*)")


@contextmanager
def measured_rails(cluster):
    """Rails between the hosts, for preflights to measure."""
    rails = Rails(cluster, RAILS, MBIT).lay()
    measure_by(cluster, rails)
    try:
        yield rails
    finally:
        measure_by(cluster, None)
        rails.remove()


def measure_by_nccl(cluster, rails: Rails, library: str | None = None) -> None:
    """Preflights measure these rails with doubles of CUDA and NCCL, or with this library instead of NCCL's. Each host's own
    results are made up: its checks over the doubles would exceed the time of a quick preflight. Skips the test without Open
    MPI or without doubles."""
    if shutil.which("mpirun") is None:
        skip("Open MPI is not installed")
    build, gpus = cluster.options.build.resolve(), cluster.root / "gpus"
    doubles = build / "tests" / "doubles"
    if not (doubles / "libnccl.so.2").exists():
        skip("the doubles of CUDA and NCCL are not built")
    library = library or f"{doubles}/libnccl.so.2"
    gpus.write_text(f"count={RAILS}\nmem_mib=16\n")
    (cluster.root / "lib" / "railcheck").write_text(f"""#!/bin/sh
if [ $1 = preflight ]; then
    case " $* " in *" --nccl "*) ;; *) exit 1 ;; esac
    for word in nccl.places preflight; do
        echo '{{"host":"'$(hostname)'","check":"'$word'","component":"gpus","verdict":"measured","value":{RAILS},"unit":"s"}}'
    done
    exit 0
fi
export RAIL_CUDA_STATE={gpus} OMPI_MCA_mpi_yield_when_idle=1
exec {build}/railcheck "$@" --size=256K --least=30 --devices={rails.names} --library={doubles}/libcuda.so.1 --library={library}
""")
