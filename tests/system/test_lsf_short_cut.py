"""Under LSF: a host whose jobs were ended since it was cut off, and that is back before LSF has given it up."""

import signal
import time

from railcluster.cluster import Options
from railcluster.lsf import bsub
from railcluster.process import wait_for
from railcluster.testing import equal, holds
from test_lsf_cut import copies, logs, notes, until_ready

NEEDS = ["restartd", "nodewatchd", "fabricwatchd", "railctl", "esub.rail", "rail-lsf-run"]


def options(build):
    return Options(build=build, hosts_per_unit=4, lsf=True, railyard={"agent.cut_off_after": '"6s"'})


def cut(cluster, host, up):
    """Its Ethernet cable only: the fabric is well, and nobody takes the host for lost so soon."""
    cluster.yard.cable(host, up)
    cluster.lsf.set_host(host, "on" if up else "cut")
    (cluster.cut_cables.discard if up else cluster.cut_cables.add)(host)


def test_a_job_that_was_ended_is_requeued(cluster):
    cluster.agents.wait_heard()
    job = bsub(cluster, 3, "sleep", "631", env={"RAIL_RESTART": "auto"})
    first = job.wait("RUN", queue="gang")[0]
    wait_for(lambda: copies(cluster, first, "sleep 631") == 1, 20, "the job to run", logs(cluster, first))
    until_ready(cluster, first)
    cut(cluster, first, False)
    wait_for(lambda: copies(cluster, first, "sleep 631") == 0, 60, "its processes to be ended", logs(cluster, first))
    equal(job.bjobs()[0], "RUN", "the job, of which LSF knows nothing yet")
    cut(cluster, first, True)
    wait_for(lambda: "its processes there were ended" in notes(cluster, str(job.number)), 60, "restartd to know", logs(cluster, first))
    hosts = job.wait("RUN", 60, queue="gang")
    wait_for(lambda: copies(cluster, hosts[0], "sleep 631") == 1, 60, "the job to run again", logs(cluster, first))


def test_jobs_go_on_when_restartd_alone_is_away(cluster):
    cluster.agents.wait_heard()
    job = bsub(cluster, 2, "sleep", "641", env={"RAIL_RESTART": "auto"})
    hosts = job.wait("RUN", queue="gang")
    wait_for(lambda: copies(cluster, hosts[0], "sleep 641") == 1, 20, "the job to run", logs(cluster, hosts[0]))
    until_ready(cluster, hosts[0])
    cluster.daemons["ctl", "restartd"].kill(signal.SIGKILL)
    time.sleep(12)  # twice what a host that is cut off waits
    equal(copies(cluster, hosts[0], "sleep 641"), 1, "the job's processes")
    cluster.agents.start_restartd()
    equal(job.bjobs()[0], "RUN", "the job")
    holds(cluster.log(hosts[0], "nodewatchd").read_text(), "job socket", "the agent's log")
