"""The texts of bjobs, byte for byte as recorded."""
import time

import control
import dispatch
import loss
import resreq

HEADER = "JOBID   USER    STAT  QUEUE      FROM_HOST   EXEC_HOST   JOB_NAME   SUBMIT_TIME\n"
PENDING_HEADER = "JOBID   USER    STAT  QUEUE       FROM_HOST      JOB_NAME           SUBMIT_TIME\n"
RULE = "------------------------------------------------------------------------------\n"
LOADS = ("           r15s   r1m  r15m   ut      pg    io   ls    it    tmp    swp    mem\n"
         " loadSched   -     -     -     -       -     -    -     -     -      -      -  \n"
         " loadStop    -     -     -     -       -     -    -     -     -      -      -  \n")
FIELDS = ("jobid", "user", "stat", "queue", "from_host", "exec_host", "job_name", "submit_time", "proj_name", "cpu_used",
          "mem", "swap", "pids", "start_time", "finish_time")


def day(seconds):
    return time.strftime("%a %b %e %H:%M:%S", time.localtime(seconds))


def year(seconds):
    return time.localtime(seconds).tm_year


def minute(seconds):
    return time.strftime("%b %e %H:%M", time.localtime(seconds))


def host_names(job, short):
    """One name per slot, or "4*n4" per host with LSB_SHORT_HOSTLIST=1."""
    if short:
        return [f"{slots}*{name}" if slots > 1 else name for name, slots in job.exec_hosts]
    return [name for name, slots in job.exec_hosts for _ in range(slots)]


def has_hosts(job):
    """Jobs that wait, or that ended while waiting, show no host."""
    if not job.exec_hosts or job.state in ("PEND", "PSUSP"):
        return False
    return job.state not in ("DONE", "EXIT") or bool(job.requeue) or job.exit_text != "Exited" or job.states[-2][1] not in ("PEND", "PSUSP")


def listing(engine, jobs, wide, short, reasons=""):
    """The table of bjobs; reasons: "pending" or "suspended" adds their lines."""
    master, lines = engine.cluster.keys["master"], [HEADER]
    for job in jobs:
        name, when = job.shown_name, minute(job.submitted)
        names = host_names(job, short) if has_hosts(job) else []
        if wide:
            hosts = ":".join(names) if names else "   -    "
            lines.append(f"{job.id:<7} {job.user:<7} {job.state:<5} {job.queue:<10} {master:<11} {hosts:<11} {name:<10} {when}\n")
        else:
            if len(name) > 10:
                name = "*" + name[-9:]
            first = names[0] if names else ("   -   " if job.state in ("DONE", "EXIT") else "")
            lines.append(f"{job.id:<7} {job.user[:7]:<7} {job.state:<5} {job.queue[:10]:<10} {master[:11]:<11} {first:<11} "
                         f"{name:<10} {when}\n")
            lines += [f"{'':45}{one}\n" for one in names[1:]]
        if reasons == "pending" and job.state in ("PEND", "PSUSP"):
            lines.append(f" {job.reason}\n")
        if reasons == "suspended" and job.state == "USUSP":
            lines.append(" The job was suspended by user;\n")
    return "".join(lines)


def pending_listing(engine, jobs):
    """bjobs -p without ids."""
    lines = [PENDING_HEADER]
    for job in jobs:
        lines.append(f"{job.id:<7} {job.user[:7]:<7} {job.state:<5} {job.queue[:10]:<11} {engine.cluster.keys['master']:<14} "
                     f"{job.shown_name:<18} {minute(job.submitted)}\n {job.reason}\n")
    return "".join(lines)


def folder(job):
    if job.cwd == job.home:
        return "$HOME"
    if job.cwd.startswith(job.home.rstrip("/") + "/") and job.home != "/":
        return "$HOME" + job.cwd[len(job.home.rstrip("/")):]
    return job.cwd


def submitted(engine, job, to_queue=False, tasks=False):
    """The submission message in bjobs -l, -UF and bhist -l."""
    parts = [f"Submitted from host <{engine.cluster.keys['master']}>" + (" with hold" if job.hold else "")]
    if to_queue:
        parts.append(f"to Queue <{job.queue}>")
    if job.begin:
        parts.append(f"Specified Start Time <{day(job.begin)}>")
    parts.append(f"CWD <{folder(job)}>")
    parts += [f"{word} <{text}>" for word, text in (("Input File", job.in_file), ("Output File", job.out_file),
                                                    ("Error File", job.err_file)) if text]
    if job.exclusive:
        parts.append("Exclusive Execution")
    if loss.is_rerunnable(engine, job):
        parts.append("Re-runnable")
    if job.max_slots > 1:
        size = str(job.slots) if job.slots == job.max_slots else f"{job.slots}-{job.max_slots}"
        parts.append(f"{size} Task(s)" if tasks else f"{size} Processors Requested")
    parts += [f"{word} <{text}>" for word, text in (("Requested Resources", job.res_req), ("Dependency Condition", job.depend),
                                                    ("Pre-execute Command", job.pre_exec)) if text]
    if job.hosts:
        parts.append("Specified Hosts " + ", ".join(f"<{host}>" for host in job.hosts))
    return ", ".join(parts) + ";"


def head(job, state=True):
    text = f"Job <{job.id_text}>"
    if job.name:
        text += f", Job Name <{job.shown_name}>"
    text += f", User <{job.user}>, Project <{job.project}>"
    if state:
        text += f", Status <{job.state}>, Queue <{job.queue}>"
    text += f", Command <{job.command}>"
    return text + (f", Job Description <{job.description}>" if job.description else "")


def _started(job, short, tasks):
    names = host_names(job, short)
    count = sum(slots for _, slots in job.exec_hosts)
    where = " ".join(f"<{name}>" for name in names)
    if tasks:
        text = f"Started {count} Task(s) on Host(s) {where}, Allocated {count} Slot(s) on Host(s) {where}"
    else:
        text = f"Started on {where}" if count == 1 else f"Started on {count} Hosts/Processors {where}"
    if job.index:
        text = f"[{job.index}] s{text[1:]}"
    home = f", Execution Home <{job.home}>, Execution CWD <{job.cwd}>" if job.home_told else ""
    return f"{day(job.started)}: {text}{home};\n"


def thresholds(engine, of_hosts, host=None):
    """The table of the elim's indices; hosts have some, queues none. A violated one has a star."""
    columns = "".join(f"{name:>7} " for name in engine.cluster.indices)
    rows = [f"          {columns}\n"]
    for row in ("loadSched", "loadStop"):
        cells = ""
        for name, one in engine.cluster.indices.items():
            value = one.get(row) if of_hosts else None
            star = "*" if host and value is not None and host.indices[name] < value else ""
            cells += f"{star + format(value, '.1f'):>7} " if value is not None else "     -  "
        rows.append(f" {row:<9}{cells}\n")
    return "".join(rows)


def long(engine, job, short=False, tasks=False):
    """bjobs -l, or -UF with tasks; a blank line follows the last job."""
    placed = has_hosts(job)
    text = f"\n{head(job)}\n{day(job.submitted)}: {submitted(engine, job, tasks=tasks)}\n"
    limit = f"\n RUNLIMIT                \n {job.run_limit / 60:.1f} min                \n" if job.run_limit else ""
    if not tasks:
        text += limit
    if placed:
        text += _started(job, short, tasks)
    if job.state in ("PEND", "PSUSP"):
        text += f" PENDING REASONS:\n {job.reason}\n"
    if job.state == "USUSP":
        text += " SUSPENDING REASONS:\n The job was suspended by user;\n"
    if job.state in ("DONE", "EXIT") and job.exit_text:
        text += f"{day(job.finished)}: {job.exit_text}" + ("" if job.exit_text == "Exited" else ".") + "\n"
    if tasks:   # -UF has the limits in a different position
        text += limit
    text += "\n SCHEDULING PARAMETERS:\n" + LOADS + "\n" + thresholds(engine, placed)
    queue = engine.cluster.queues[job.queue]
    combined = resreq.combined(queue.res_req, job.res_req, bool(job.hosts), engine.known)
    return text + f"\n RESOURCE REQUIREMENT DETAILS:\n Combined: {combined}\n Effective: {job.effective if placed else '-'}\n"


def field(engine, job, name, short):
    names = host_names(job, short) if has_hosts(job) else []
    when = lambda seconds: time.strftime("%m/%d-%H:%M:%S", time.localtime(seconds)) if seconds else "-"
    return {"jobid": job.id_text, "user": job.user, "stat": job.state, "queue": job.queue, "exec_host": names[0] if names else "",
            "from_host": engine.cluster.keys["master"], "job_name": job.shown_name, "submit_time": minute(job.submitted),
            "proj_name": job.project, "cpu_used": "000:00:-2.00", "mem": "0", "swap": "0", "pids": "-",
            "start_time": when(job.started if names else 0), "finish_time": when(job.finished if job.state in ("DONE", "EXIT") else 0),
            }[name]


def fields(engine, jobs, names, short):
    """bjobs -o; blank fields are shown as "-"."""
    lines = [" ".join(name.upper() for name in names)]
    lines += [" ".join(field(engine, job, name, short) or "-" for name in names) for job in jobs]
    return "\n".join(lines) + "\n"


def json_records(engine, jobs, names, short, missing):
    records = [{"JOBID": one, "ERROR": f"Job <{one}> is not found"} for one in missing]
    records += [{name.upper(): field(engine, job, name, short) for name in names} for job in jobs]
    quote = lambda text: '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t") + '"'
    blocks = ["{\n" + ",\n".join(f"\t\t\t\"{key}\":\t{quote(value)}" for key, value in record.items()) + "\n\t\t}"
              for record in records]
    return f"{{\n\t\"COMMAND\":\t\"bjobs\",\n\t\"JOBS\":\t{len(records)},\n\t\"RECORDS\":\t[{', '.join(blocks)}]\n}}\n"


def select(engine, user, option, ids=()):
    """The jobs listed by a bjobs with these options, in its order."""
    states = {"all", "all_finished"} if ids else option["states"]
    waiting = dispatch.order(engine)
    chosen = []
    if states & {"started", "all"}:
        # Between its end and its requeue a job is EXIT; then only -a and its id show it.
        chosen += [job for job in engine.started.values() if job.state != "EXIT" or "all_finished" in states]
    if states & {"pending", "all"}:
        chosen += waiting
    if states & {"finished", "all_finished"}:
        chosen += list(engine.finished.values())
    if states & {"suspended"} and not states & {"started", "all"}:
        chosen += [job for job in engine.started.values() if job.state in ("USUSP", "SSUSP")]
    if ids:
        wanted = {job.key for text in ids for job in control.find(engine, text) or []}
        chosen = [job for job in chosen if job.key in wanted]
    who = option["user"]
    if who is None and not ids:
        who = user
    if who not in (None, "all"):
        chosen = [job for job in chosen if job.user == who]
    if option["running"]:
        chosen = [job for job in chosen if job.state == "RUN"]
    if option["queue"]:
        chosen = [job for job in chosen if job.queue == option["queue"]]
    if option["name"]:
        chosen = [job for job in chosen if (job.name or job.command).split("[")[0] == option["name"]]
    if option["host"]:
        chosen = [job for job in chosen if has_hosts(job) and option["host"] in dict(job.exec_hosts)]
    return chosen
