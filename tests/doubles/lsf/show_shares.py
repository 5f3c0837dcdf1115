"""The shares of users in a queue, as in `bqueues -r`: sections and columns as printed by the engine for two users, the formula
from its source (volclava 2.2, lsbatch/daemons/mbd.fairshare.c). Users without unfinished jobs, whom it shows while it
remembers their time, and groups are omitted; and the double itself starts jobs first come, first served.
"""
RUN_TIME_FACTOR, RUN_JOB_FACTOR = 0.7, 3.0


def tree(engine, queue):
    """The text between the scheduling parameters and the users; "" without shares."""
    if not queue.fairshare:
        return ""
    used = {}
    for job in [*engine.pending.values(), *engine.started.values()]:
        shares = queue.fairshare.get(job.user, queue.fairshare.get("default"))
        if job.queue != queue.name or job.state == "EXIT" or shares is None:
            continue
        account = used.setdefault(job.user, [shares, 0, 0.0])
        if job.key in engine.started:
            account[1] += sum(slots for _, slots in job.exec_hosts)
            account[2] += engine.now - job.started
    text = ("SCHEDULING POLICIES:  FAIRSAHRE\n" + "USER_SHARES:  "
            + " ".join(f"[{user},{shares}]" for user, shares in queue.fairshare.items()) + f"\n\nSHARE_INFO_FOR: {queue.name}/\n"
            + "USER/GROUP      SHARES    PRIORITY   STARTED    CPU_TIME  RUN_TIME\n")
    for user, (shares, started, seconds) in sorted(used.items()):
        priority = shares / (seconds * RUN_TIME_FACTOR + (1 + started) * RUN_JOB_FACTOR)
        text += f" {user:<14}{shares:>7}{priority:>12.3f}{started:>10}{0.0:>12.1f}{int(seconds):>10}\n"
    return text + "\n"
