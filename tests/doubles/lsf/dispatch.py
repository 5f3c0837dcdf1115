"""One scheduling cycle of mbatchd: which waiting jobs start, and where."""
import re

import resreq

OPEN_STATES = ("ok",)
DEPENDENCY = re.compile(r"\s*(done|ended|exit|started)?\(?\s*(\d+)\s*\)?\s*$")


def order(engine):
    """The waiting jobs in the order of bjobs: by queue priority, then by age, apart from btop and bbot."""
    queues = engine.cluster.queues
    return sorted(engine.pending.values(), key=lambda job: (-queues[job.queue].priority, job.position, job.id, job.index))


def host_state(engine, host):
    """The status in `bhosts -w`."""
    if host.seen != "ok":
        return host.seen
    if host.closed:
        return "closed_Adm"
    if any(engine.jobs[key].exclusive for key in host.jobs):
        return "closed_Excl"
    if host.used >= host.slots:
        return "closed_Full"
    return "closed_Busy" if host.busy else "ok"


def depends(engine, text):
    """Whether a job with this dependency may start. None: the double does not know the condition."""
    found = DEPENDENCY.match(text)
    if not found:
        return None
    jobs = engine.elements.get(int(found[2]), [])
    wanted = {"done": ("DONE",), "ended": ("DONE", "EXIT"), "exit": ("EXIT",), None: ("DONE",),
              "started": ("RUN", "USUSP", "SSUSP", "UNKWN", "DONE", "EXIT")}[found[1]]
    return bool(jobs) and all(job.state in wanted for job in jobs)


class _Look:
    """Data common to all jobs of a cycle, computed once: 10,000 jobs wait in one queue."""

    def __init__(self, engine):
        self.engine = engine
        self.fit = {}
        self.failed = {}   # request of a job -> why it waits: free slots only shrink within a cycle

    def candidates(self, queue, job_res_req):
        """The hosts of the queue whose lim values satisfy both selections, best first."""
        key = (queue.name, job_res_req)
        if key not in self.fit:
            known = self.engine.known
            selects = [resreq.parse(text, known)[0] for text in (queue.res_req, job_res_req) if text]
            hosts = [self.engine.cluster.hosts[name] for name in self.engine.cluster.queue_hosts(queue)]
            self.fit[key] = [host for host in sorted(hosts, key=lambda host: -host.order)
                             if host.load == "ok" and all(resreq.holds(one, host, known) for one in selects)]
        return self.fit[key]


def wishes(engine, job):
    """{host name: preference} from its -m; None if it has none."""
    if not job.hosts:
        return None
    found = {}
    for word in job.hosts:
        name, _, preference = word.partition("+")
        for host in engine.cluster.members(name) or []:
            found[host] = int(preference or 0)
    return found


def choose(engine, job, look):
    """[(host name, slots)] or why it waits."""
    queue = engine.cluster.queues[job.queue]
    if not queue.active:
        return "The queue is inactivated by the administrator: 1 host;"
    fit = look.candidates(queue, job.res_req)
    if not fit:
        count = len(engine.cluster.queue_hosts(queue))
        return f"Job's resource requirements not satisfied: {count} hosts;"
    if job.excluded:
        fit = [host for host in fit if host.name not in job.excluded]
    wanted = wishes(engine, job)
    if wanted is not None:
        fit = sorted((host for host in fit if host.name in wanted), key=lambda host: -wanted[host.name])
    _, _, _, ptile, one_host = resreq.parse(job.res_req, engine.known)
    chosen, left, full, closed, lost = [], job.max_slots, 0, 0, 0
    for host in fit:
        state = host_state(engine, host)
        free = host.slots - host.used
        if state == "closed_Full":
            full += 1
        elif state in ("unreach", "unavail"):
            lost += 1
        elif state not in OPEN_STATES:
            closed += 1
        else:
            take = min(left, ptile or free)
            if free < take or free < 1 or (job.exclusive and host.used) or (one_host and free < job.slots):
                full += 1
                continue
            chosen.append((host.name, take))
            left -= take
            if left == 0:
                break
            if one_host:
                break
    if job.max_slots - left >= job.slots:
        return chosen
    lines = []
    if full or chosen:
        lines.append(f"Not enough job slot(s): {_hosts(full + len(chosen))};")
    if closed:
        lines.append(f"Closed by LSF administrator: {_hosts(closed)};")
    lost += sum(1 for name in engine.cluster.queue_hosts(queue)
                if engine.cluster.hosts[name].load != "ok" and (wanted is None or name in wanted))
    if lost:
        lines.append(f"Load information unavailable: {_hosts(lost)};")
    return "\n ".join(lines) or "Job's resource requirements not satisfied: 1 host;"


def _hosts(count):
    return f"{count} host" if count == 1 else f"{count} hosts"


def cycle(engine):
    """Starts the jobs that can start; returns when the next cycle is due by time, None if only a change triggers one."""
    look, later = _Look(engine), None
    for job in order(engine):
        if job.state != "PEND":
            continue
        due = max(job.not_before, job.begin)
        if due > engine.now:
            later = due if later is None else min(later, due)
            continue
        if job.depend and not depends(engine, job.depend):
            job.reason = "Job dependency condition not satisfied: 1 host;"
            continue
        same = (job.queue, job.exclusive, job.res_req, job.slots, job.max_slots, tuple(job.hosts), tuple(job.excluded))
        if same in look.failed:
            job.reason = look.failed[same]
            continue
        found = choose(engine, job, look)
        if isinstance(found, str):
            job.reason = look.failed[same] = found
            continue
        known, queue = engine.known, engine.cluster.queues[job.queue]
        engine.start(job, found, resreq.combined(queue.res_req, job.res_req, bool(job.hosts), known))
    return later
