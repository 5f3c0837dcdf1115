"""The shares of users in a queue, as `bqueues -r` shows them. No engine with fairshare was recorded: sections, columns and the
formula are those of volclava 2.2's source (lsbatch/cmd/bqueues.c, lsbatch/daemons/mbd.fairshare.c), which shows users with
unfinished jobs only. Groups are left out, and the double itself starts jobs first come, first served.
"""
RUN_TIME_FACTOR, RUN_JOB_FACTOR = 0.7, 3.0


def tree(engine, queue):
    """The text between the scheduling parameters and the users; "" where nobody shares."""
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
            + " ".join(f"[{user}, {shares}]" for user, shares in queue.fairshare.items()) + f"\n\nSHARE_INFO_FOR: {queue.name}/\n"
            + "USER/GROUP     SHARES  PRIORITY    STARTED   CPU_TIME    RUN_TIME  \n")
    for user, (shares, started, seconds) in sorted(used.items()):
        priority = shares / (seconds * RUN_TIME_FACTOR + (1 + started) * RUN_JOB_FACTOR)
        text += f"{user:<14} {shares:<7} {priority:<11.3f} {started:<9} {0.0:<11.1f} {int(seconds):<9}\n"
    return text + "\n"
