"""The texts of bhosts, lshosts, lsload, bqueues, bmgroup, bparams and lsid, byte for byte as recorded.

Values that the double does not measure (load averages, memory) are constants.
"""
import dispatch
import resreq
from show_jobs import LOADS, thresholds

LOAD_NAMES = (("r15s", 5), ("r1m", 5), ("r15m", 5), ("ut", 4), ("pg", 5), ("io", 5), ("ls", 3), ("it", 5), ("tmp", 5), ("swp", 5), ("mem", 5))
LOAD = {"r15s": "0.0", "r1m": "0.0", "r15m": "0.0", "ut": "0%", "pg": "0.0", "io": "0", "ls": "0", "it": "3e+05", "tmp": "70G",
        "swp": "0M", "mem": "22G"}


def _counts(engine, host):
    """NJOBS RUN SSUSP USUSP, in slots."""
    count = {"RUN": 0, "SSUSP": 0, "USUSP": 0}
    for key, slots in host.jobs.items():
        state = engine.jobs[key].state
        count[state if state in count else "RUN"] += slots
    return f"{host.used:>6} {count['RUN']:>6} {count['SSUSP']:>6} {count['USUSP']:>6} {0:>6}"


def bhosts(engine, names, wide):
    lines = ["HOST_NAME          STATUS          JL/U    MAX  NJOBS    RUN  SSUSP  USUSP    RSV \n" if wide else
             "HOST_NAME          STATUS       JL/U    MAX  NJOBS    RUN  SSUSP  USUSP    RSV \n"]
    for name in names:
        host = engine.cluster.hosts[name]
        state = dispatch.host_state(engine, host)
        if not wide and state.startswith("closed"):
            state = "closed"
        status = f"{state:<15}" if wide else f"{state:<12}"
        lines.append(f"{name:<18} {status} {'-':>4} {host.slots:>6} {_counts(engine, host)}\n")
    return "".join(lines)


def bhosts_long(engine, name):
    host = engine.cluster.hosts[name]
    state = dispatch.host_state(engine, host)
    text = (f"HOST  {name}\nSTATUS           CPUF  JL/U    MAX  NJOBS    RUN  SSUSP  USUSP    RSV DISPATCH_WINDOW\n"
            f"{state:<14} 100.00     - {host.slots:>6} {_counts(engine, host)}      -\n\n")
    if host.seen == "ok":
        load = LOAD
        text += (" CURRENT LOAD USED FOR SCHEDULING:\n"
                 "              r15s   r1m  r15m    ut    pg    io   ls    it   tmp   swp   mem  slots\n"
                 f" Total      {load['r15s']:>6}{load['r1m']:>6}{load['r15m']:>6}{load['ut']:>6}{load['pg']:>6}{load['io']:>6}{load['ls']:>5}"
                 f"{load['it']:>6}{load['tmp']:>6}{load['swp']:>6}{load['mem']:>6}{host.slots - host.used:>7}\n"
                 " Reserved      0.0   0.0   0.0    0%   0.0     0    0     0    0M    0M    0M      -\n\n")
        if engine.cluster.indices:
            cells = ""
            for index, one in engine.cluster.indices.items():
                value = host.indices.get(index, 0.0)
                low = one.get("loadSched") is not None and value < one["loadSched"]
                cells += f"{('*' if low else '') + format(value, '.1f'):>8}"
            text += ("            " + "".join(f"{index:>7} " for index in engine.cluster.indices)[:-1] + "\n"
                     f" Total      {cells[1:]}\n Reserved   " + "".join(f"{'0.0':>8}" for _ in engine.cluster.indices)[1:] + "\n\n\n")
        numeric = [key for key, value in host.resources.items() if not isinstance(value, str)]
        if numeric:
            text += ("            " + " ".join(f"{key:>7}" for key in numeric) + "\n"
                     " Total     " + " ".join(f"{host.resources[key]:>8}" for key in numeric) + "\n"
                     " Reserved   " + " ".join(f"{'0.0':>7}" for _ in numeric) + "\n\n\n")
    text += " LOAD THRESHOLD USED FOR SCHEDULING:\n" + LOADS + "\n" + thresholds(engine, True, host)
    if host.note:
        text += f"\nADMIN ACTION COMMENT:  {host.note}\n"
    return text + "\n\n"


def bhosts_resources(engine, wanted):
    lines = ["RESOURCE                 TOTAL       RESERVED       LOCATION\n"]
    for host in engine.cluster.hosts.values():
        for key, value in host.resources.items():
            if not isinstance(value, str) and (not wanted or key in wanted):
                lines.append(f"{key:<20}{value:>10}            0.0       {host.name} \n")
    return "".join(lines)


def lshosts(engine, names, wide):
    lines = ["HOST_NAME                       type       model  cpuf ncpus maxmem maxswp server RESOURCES\n" if wide else
             "HOST_NAME      type    model  cpuf ncpus maxmem maxswp server RESOURCES\n"]
    for name in names:
        host = engine.cluster.hosts[name]
        sort = "mg" if name == engine.cluster.keys["master"] else "cs"
        cpus, memory = ("2", "24105M") if host.load == "ok" else ("-", "-")
        front = f"{name:<25}{'linux':>11} {'IntelI5':>11}" if wide else f"{name:<11}{'linux':>8} {'IntelI5':>8}"
        lines.append(f"{front} 100.0 {cpus:>5} {memory:>6} {'-':>6}    Yes ({sort})\n")
    return "".join(lines)


def lshosts_resources(engine):
    places = {}
    for host in engine.cluster.hosts.values():
        for key, value in host.resources.items():
            places.setdefault((key, f'"{value}"' if isinstance(value, str) else str(value)), []).append(host.name)
    lines = ["RESOURCE                                VALUE       LOCATION\n"]
    for (key, value), names in sorted(places.items(), key=lambda item: item[0][0]):
        lines.append(f"{key:<32}{value:>13}       {' '.join(names)} \n")
    return "".join(lines)


def lsload(engine, names, wide, long, select="", columns=None):
    """Hosts with loads in the order of the lim: unavail last."""
    known = engine.known
    hosts = [engine.cluster.hosts[name] for name in names]
    if select:
        hosts = [host for host in hosts if host.load == "ok" and resreq.holds(select, host, known)]
    hosts.sort(key=lambda host: host.load != "ok")
    width = 23 if wide or long else 15
    shown = columns or [name for name, _ in LOAD_NAMES if long or name != "io"] + (list(engine.cluster.indices) if long else [])
    sizes = dict(LOAD_NAMES)

    def cell(name, text):
        if columns and wide:
            return f"{text:>14}"
        return f"{text:>{sizes[name] + 1}}" if name in sizes else f"{text:>{len(name) + 1}}"
    lines = [f"{'HOST_NAME':<{width}} {'status':>6}" + "".join(cell(name, name) for name in shown) + "\n"]
    for host in hosts:
        if host.load != "ok":
            lines.append(f"{host.name:<{width}} unavail\n")
            continue
        values = "".join(cell(name, f"{host.indices[name]:.1f}" if name in host.indices else LOAD[name]) for name in shown)
        lines.append(f"{host.name:<{width}} {'ok':>6}{values}\n")
    return "".join(lines)


def _queue_counts(engine, queue):
    """NJOBS PEND RUN SSUSP USUSP, in slots."""
    count = {"PEND": 0, "RUN": 0, "SSUSP": 0, "USUSP": 0}
    for job in list(engine.pending.values()) + list(engine.started.values()):
        if job.queue == queue.name and job.state not in ("DONE", "EXIT"):
            state = {"PSUSP": "PEND"}.get(job.state, job.state)
            slots = job.slots if state == "PEND" else sum(one for _, one in job.exec_hosts)
            count[state if state in count else "RUN"] += slots
    return sum(count.values()), count


def _queue_status(queue, long):
    inactive = "Inact_Adm" if long else "Inact"
    return ("Open" if queue.open else "Closed") + ":" + ("Active" if queue.active else inactive)


def queues_in_order(engine):
    return sorted(engine.cluster.queues.values(), key=lambda queue: -queue.priority)


def bqueues(engine, queues, wide):
    lines = ["QUEUE_NAME      PRIO STATUS          MAX JL/U JL/P JL/H NJOBS  PEND   RUN  SUSP \n"]
    for queue in queues:
        total, count = _queue_counts(engine, queue)
        status = f"{_queue_status(queue, False):>12}    " if wide else f"{_queue_status(queue, False):>13}   "
        lines.append(f"{queue.name:<15} {queue.priority:>3} {status}   -    -    -    - {total:>5} {count['PEND']:>5} {count['RUN']:>5} "
                     f"{count['SSUSP'] + count['USUSP']:>5}\n")
    return "".join(lines)


def bqueues_long(engine, queue, policies=""):
    total, count = _queue_counts(engine, queue)
    text = (f"\nQUEUE: {queue.name}\n  -- {queue.description}\n\nPARAMETERS/STATISTICS\n"
            "PRIO NICE STATUS          MAX JL/U JL/P JL/H NJOBS  PEND   RUN SSUSP USUSP  RSV \n"
            f"{queue.priority:>3}    0  {_queue_status(queue, True)[:14]:<15}   -    -    -    - {total:>5} {count['PEND']:>5} {count['RUN']:>5} "
            f"{count['SSUSP']:>5} {count['USUSP']:>5} {0:>4}\n"
            "Interval for a host to accept two jobs is 0 seconds\n\n"
            "SCHEDULING PARAMETERS\n" + LOADS + "\n" + thresholds(engine, False) + "\n" + policies)
    users = "all" if queue.users is None else " ".join(queue.users) + " "
    text += f"USERS: {' ' if queue.users is None else ''}{users}\n"
    text += "HOSTS:  " + "".join(f"{name} " for name in engine.cluster.queue_hosts(queue)) + "\n"
    for word, value in (("RES_REQ", queue.res_req), ("PRE_EXEC", queue.pre_exec), ("POST_EXEC", queue.post_exec)):
        if value:
            text += f"{word}:  {value}\n"
    if queue.requeue_exit_values:
        text += "REQUEUE_EXIT_VALUES:  " + "".join(f"{value} " for value in queue.requeue_exit_values) + "\n"
    if queue.job_starter:
        text += f"JOB_STARTER:  {queue.job_starter}\n"
    if queue.rerunnable:
        text += "RERUNNABLE :  yes\n"
    if queue.note:
        text += f"ADMIN ACTION COMMENT: {queue.note}\n"
    return text + "\n"


def bparams(engine):
    timing = engine.timing
    return (f"Default Queues:  {engine.cluster.keys['default_queue']}\n"
            f"Job Dispatch Interval:  {timing['MBD_SLEEP_TIME']:g} seconds\n"
            f"Job Checking Interval:  {timing['SBD_SLEEP_TIME']:g} seconds\nJob Accepting Interval:  0 seconds\n")


def bmgroup(engine, names, recursive):
    lines = ["GROUP_NAME    HOSTS\n"]
    for name in names:
        members = engine.cluster.members(name) if recursive else engine.cluster.groups[name]
        lines.append(f"{name:<12} {''.join(member + ' ' for member in members)}\n")
    return "".join(lines)


def lsid(engine):
    keys = engine.cluster.keys
    return f"{keys['version']}\n\nMy cluster name is {keys['cluster']}\nMy master name is {keys['master']}\n"
