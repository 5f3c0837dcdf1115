"""What people and jobs use under LSF: railctl doctor and enable, saving when LSF ends a job. LSF is a double of an engine with its commands (tests/doubles/lsf)."""

import json

from railcluster.cluster import Options
from railcluster.lsf import bsub
from railcluster.process import wait_for
from railcluster.testing import check, equal, holds

NEEDS = ["restartd", "nodewatchd", "fabricwatchd", "railctl", "esub.rail", "rail-lsf-run", "railckpt"]


def options(build):
    return Options(build=build, hosts_per_unit=2, lsf=True)


def findings(cluster, *flags, host="ctl"):
    """Codes with their sentences, but for notes."""
    answer = cluster.run("railctl", "--json", "doctor", *flags, host=host, env={"LSF_ENVDIR": str(cluster.lsf.folder)}, timeout=60)
    found = json.loads(answer.stdout)["findings"]
    equal(answer.returncode, int(any(finding["weight"] != "note" for finding in found)), f"exit status with {found}")
    return {finding["code"]: finding["text"] for finding in found if finding["weight"] != "note"}


def await_sound(cluster):
    cluster.agents.wait_heard()

    def sound():
        equal(findings(cluster), {}, "findings")
        return True
    wait_for(sound, 30, "the doctor to be content", [cluster.log("ctl", "restartd")])


def test_doctor_finds_nothing_wrong_and_asks_no_slurm(cluster):
    await_sound(cluster)
    equal(findings(cluster, "--host", host=cluster.nodes[0]), {}, "on a host")


def test_doctor_finds_mistakes_made_in_earnest(cluster):
    await_sound(cluster)
    conf = cluster.lsf.folder / "lsf.conf"
    good = conf.read_text()
    esub = cluster.lsf.folder / "sbin" / "esub.rail"
    program = esub.readlink()
    try:
        conf.write_text(good.replace("LSB_SUB_COMMANDNAME=Y\n", ""))
        esub.unlink()
        found = findings(cluster)
        equal(set(found), {"lsf.no_commandname", "lsf.esub_missing"}, "findings")
        holds(found["lsf.esub_missing"], str(esub), "where it looked")
    finally:
        conf.write_text(good)
        esub.symlink_to(program)
    railyard = cluster.agents.conf
    good = railyard.read_text()
    try:
        check("[lsf]\n" in good, "railyard.conf has a table [lsf]")
        railyard.write_text(good.replace("[lsf]\n", '[lsf]\nrun_queue = "normal"\nparking_queues = ["gang", "gangrun", "nosuch"]\n'))
        found = findings(cluster)
        holds(found["lsf.run_queue_open"], "normal", "a run queue that all may use")
        holds(found["lsf.parking_starts"], "gangrun has no RES_REQ", "a queue that starts what it has")
        holds(found["lsf.no_parking"], "nosuch", "a queue that is not there")
    finally:
        railyard.write_text(good)


def test_doctor_says_that_lsf_is_away(cluster):
    await_sound(cluster)
    railyard = cluster.agents.conf
    good = railyard.read_text()
    try:
        railyard.write_text(good.replace(str(cluster.lsf.bindir), "/nonexistent"))
        holds(findings(cluster)["lsf.away"], "/nonexistent/lsid", "the finding")
    finally:
        railyard.write_text(good)


def test_enable_says_what_to_use_instead(cluster):
    for words in (("enable",), ("disable", "flags"), ("enable", "acting", "--apply")):
        done = cluster.run("railctl", *words)
        equal(done.returncode, 2, " ".join(words))
        holds(done.stderr, "railyard-lsf(7)", "what it says")
        holds(done.stderr, "railtopo export", "what it says")


def test_a_job_that_lsf_ends_is_asked_to_save(cluster):
    """By bkill, of which restartd knows nothing."""
    cluster.agents.wait_heard()
    folder = cluster.root / "scratch" / "ended"
    folder.mkdir(parents=True)
    script = folder / "job.sh"
    script.write_text(f"#!/bin/sh\ntrap '' INT TERM\n: >{folder}/up\nuntil railckpt due | grep 'asks to save'; do sleep 0.1; done\n"
                      f"echo state >{folder}/state\nrailckpt commit --step 7 {folder}/state\n")
    script.chmod(0o755)
    job = bsub(cluster, 1, str(script), env={"RAIL_CKPT_DIR": str(folder), "RAIL_CKPT_INTERVAL": "1h"})
    wait_for((folder / "up").exists, 60, "the job to run", job.logs())
    cluster.out("bkill", str(job.number))
    wait_for(lambda: list(folder.glob("ckpt-*-S*7")), 60, "its checkpoint", [*job.logs(), cluster.log(cluster.nodes[0], "nodewatchd")])
    wait_for(lambda: job.bjobs()[0] in ("EXIT", "DONE"), 60, "the job to end", job.logs())
