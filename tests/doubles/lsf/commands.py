"""The command lines of the batch commands: options, refusals and exit statuses, based on the state and the texts.

serve(engine, request) returns {"exit", "out", "err"} and, if the engine makes the caller wait, "seconds". A request is
{"command", "argv" (without the command's name), "user", "env" (LSB_* of the caller)}; bsub and bmod arrive as "submit" and
"modify" with the results of submission.py and esub.py.
"""
import admin
import control
import resreq
import show_hist
import show_hosts
import show_info
import show_jobs
import show_shares
from model import UNFINISHED
from usage import USAGE

FIELDS_OF_SUBMISSION = ("command", "uid", "gid", "script", "name", "description", "project", "cwd", "home", "env", "slots",
                        "max_slots", "res_req", "hosts", "rerun", "hold", "out_file", "err_file", "in_file", "pre_exec", "depend",
                        "run_limit", "begin", "queue", "exclusive", "array", "interactive")

MODIFIABLE = set(FIELDS_OF_SUBMISSION) - {"uid", "gid", "cwd", "home", "env", "exclusive", "array", "script", "hold", "interactive"}


class Exit(Exception):
    def __init__(self, status, out="", err="", seconds=0.0):
        super().__init__(err)
        self.answer = {"exit": status, "out": out, "err": err}
        if seconds:
            self.answer["seconds"] = seconds


def parse(command, argv, flags, valued):
    """getopt with single letters, and bjobs's long options; (flags set, values, rest)."""
    flagged, values, rest = set(), {}, list(argv)
    while rest and rest[0].startswith("-") and len(rest[0]) > 1:
        word = rest.pop(0)[1:]
        while word and word not in flags and word not in valued:   # letters, the last with its value attached
            letter, word = word[0], word[1:]
            if letter in valued:
                values[letter], word = word, ""
            elif letter in flags:
                flagged.add(letter)
            else:
                raise Exit(255, err=f"{command}: invalid option -- '{letter}'\n{USAGE.get(command, '')}")
        if word in flags:
            flagged.add(word)
        elif word in valued:
            if not rest:
                raise Exit(255, err=USAGE.get(command, ""))
            values[word] = rest.pop(0)
    return flagged, values, rest


def _answer(engine, command, flags):
    if "V" in flags:
        raise Exit(0, engine.cluster.keys["version"] + "\n")
    if "h" in flags:
        raise Exit(255, err=USAGE.get(command, f"Usage: {command} ...\n"))


def bjobs(engine, request):
    flags, values, ids = parse("bjobs", request["argv"], ("h", "V", "w", "l", "UF", "a", "d", "p", "s", "r", "json", "A"),
                               ("o", "m", "q", "u", "P", "N", "J"))
    if "h" in flags or ("json" in flags and "o" not in values):
        raise Exit(255, err=USAGE["bjobs"])
    _answer(engine, "bjobs", flags)
    short = request["env"].get("LSB_SHORT_HOSTLIST") == "1"
    states = {"all"}
    if "a" in flags:
        states = {"all", "all_finished"}
    else:
        some = {name for letter, name in (("d", "finished"), ("p", "pending"), ("s", "suspended"), ("r", "started")) if letter in flags}
        states = some or states
    for text in ids:
        if control.find(engine, text) is None and text != "0":
            raise Exit(255, err=f"{text}: Illegal job ID.\n")
    ids = [text for text in ids if text != "0"]
    if "q" in values and values["q"] not in engine.cluster.queues:
        raise Exit(255, err=f"{values['q']}: No such queue\n")
    missing = [text for text in ids if not control.find(engine, text)]
    option = {"states": states, "user": values.get("u"), "queue": values.get("q"), "name": values.get("J"), "host": values.get("m"),
              "running": "r" in flags and "s" not in flags and "p" not in flags}
    known = [text for text in ids if text not in missing]
    jobs = show_jobs.select(engine, request["user"], option, known) if known or not ids else []
    err, status = "".join(f"Job <{text}> is not found\n" for text in missing), 255 if missing else 0
    if "o" in values:
        return _formatted(engine, values["o"], jobs, short, flags, missing, err)
    if not jobs and not missing:
        words = {"s": "No suspended job found\n", "p": "No pending job found\n", "r": "No running job found\n", "d": "No finished job found\n"}
        text = "No job found\n" if "a" in flags else next((words[one] for one in "sprd" if one in flags), "No unfinished job found\n")
        raise Exit(254, err=f"Job <{values['J']}> is not found\n" if "J" in values else text)
    if not jobs:
        out = ""
    elif flags & {"l", "UF"}:
        out = show_jobs.RULE.join(show_jobs.long(engine, job, short, "UF" in flags) for job in jobs) + "\n"
    elif "p" in flags and not ids:
        out = show_jobs.pending_listing(engine, jobs)
    else:
        reasons = "pending" if "p" in flags else "suspended" if "s" in flags else ""
        out = show_jobs.listing(engine, jobs, "w" in flags, short, reasons)
    raise Exit(status, out, err)


def _formatted(engine, text, jobs, short, flags, missing, err):
    names = text.split()
    for name in names:
        if name.lower() not in show_jobs.FIELDS:
            raise Exit(99, err=f"<{name.upper()}> in the format string is not a valid field name.\n")
    names = [name.lower() for name in names]
    if "json" in flags:
        raise Exit(255 if missing else 0, show_jobs.json_records(engine, jobs, names, short, missing))
    raise Exit(255 if missing else 0, show_jobs.fields(engine, jobs, names, short) if jobs else "", err)


def _targets(engine, command, request, rest, values, form, states=UNFINISHED):
    """The jobs of ids, or of -J, -u, -q and 0; prints refusals one by one."""
    if not rest and "J" not in values:
        raise Exit(255, err=USAGE.get(command, "Job ID, job name or user name must be specified\n"))
    jobs, err = [], ""
    if rest and rest != ["0"]:
        for text in rest:
            found = control.find(engine, text)
            if found is None:
                raise Exit(255, err=f"{text}: Illegal job ID.\n")
            jobs += found
            if not found:
                err += form.format(text, "No matching job found")
        return jobs, err
    user = values.get("u", request["user"])   # 0 and -J mean the caller's own
    for job in list(engine.jobs.values()):
        if user in (job.user, "all") and ("J" not in values or (job.name or job.command).split("[")[0] == values["J"]) \
                and ("q" not in values or job.queue == values["q"]) and job.state in states:
            jobs.append(job)
    if not jobs:
        raise Exit(255, err="No matching job found\n")
    return jobs, err


def _each(engine, command, request, flags, values, rest, act, done, form="Job <{}>: {}\n", states=UNFINISHED):
    """One sentence per job; act raises Refused or may return the verb for `done`."""
    _answer(engine, command, flags)
    jobs, err = _targets(engine, command, request, rest, values, form, states)
    out, status, seconds, said = "", 255 if err else 0, 0.0, set()
    many = rest == ["0"] or not rest
    for job in jobs:
        text = job.id_text if job.index and f"{job.id}" not in rest else str(job.id)
        try:
            verb = act(job)
            sentence = done.format(text, verb)
        except control.Refused as refusal:
            if many and len(jobs) > 1:
                continue   # "all" includes only jobs that permit it
            seconds = max(seconds, refusal.seconds)
            sentence, status = None, 255
            line = f"{refusal}\n" if getattr(refusal, "of_queue", False) or "No such queue" in str(refusal) else form.format(text, refusal)
            if line not in said:
                err += line
            said.add(line)
        if sentence and sentence not in said:
            out += sentence
            said.add(sentence)
    raise Exit(status, out, err, seconds)


def bswitch(engine, request):
    flags, values, rest = parse("bswitch", request["argv"], ("h", "V"), ("J", "m", "q", "u"))
    if not rest:
        raise Exit(255, err="Usage: bswitch [-h] [-V] [-J job_name] [-m host_name] [-q queue_name] [-u user_name] dest_queue [jobId ...]\n")
    queue = rest.pop(0)
    _each(engine, "bswitch", request, flags, values, rest, lambda job: control.switch(engine, request["user"], job, queue),
          f"Job <{{}}> is switched to queue <{queue}>\n")


def bstop(engine, request):
    flags, values, rest = parse("bstop", request["argv"], ("h", "V", "a", "d"), ("J", "m", "q", "u"))
    _each(engine, "bstop", request, flags, values, rest, lambda job: control.stop(engine, request["user"], job), "Job <{}> is being stopped\n")


def bresume(engine, request):
    flags, values, rest = parse("bresume", request["argv"], ("h", "V"), ("J", "m", "q", "u"))
    _each(engine, "bresume", request, flags, values, rest, lambda job: control.resume(engine, request["user"], job),
          "Job <{}> is being resumed\n")


def bkill(engine, request):
    flags, values, rest = parse("bkill", request["argv"], ("h", "V", "r", "l"), ("J", "m", "q", "u", "s"))
    name = values.get("s", "").removeprefix("SIG")
    names = {"1": "HUP", "2": "INT", "9": "KILL", "10": "USR1", "12": "USR2", "15": "TERM", "18": "CONT", "19": "STOP"}
    name = names.get(name, name)

    def act(job):
        if name:
            return control.signal(engine, request["user"], job, name)
        control.kill(engine, request["user"], job, "r" in flags)
        return "terminated"
    if name and name not in set(names.values()) | {"TSTP", "QUIT", "ABRT"}:
        raise Exit(255, err=f"{values['s']}: Illegal signal value\n")
    _each(engine, "bkill", request, flags, values, rest, act, "Job <{}> is being {}\n")


def brequeue(engine, request):
    flags, values, rest = parse("brequeue", request["argv"], ("h", "V", "d", "e", "r", "a", "H"), ("J", "u"))
    states = [state for letter, state in (("e", "EXIT"), ("d", "DONE")) if letter in flags or "a" in flags]
    _each(engine, "brequeue", request, flags, values, rest,
          lambda job: control.requeue(engine, request["user"], job, "H" in flags, states), "Job <{}> is being requeued \n", "Job <{}> : {}\n",
          states + ["RUN", "USUSP", "SSUSP", "UNKWN"] if "r" in flags or not states else states)


def _position(engine, request, top):
    _, _, rest = parse("btop", request["argv"], ("h", "V"), ("u",))
    jobs, err = _targets(engine, "btop", request, rest[:1], {}, "Job <{}>: {}\n")
    for job in jobs:
        try:
            control.move(engine, request["user"], job, top)
            err += f"Job <{job.id}> has been moved to position 1 from {'top' if top else 'bottom'}.\n"
        except control.Refused as refusal:
            raise Exit(255, err=err + f"Job <{job.id}>: {refusal}\n") from None
    raise Exit(255 if not jobs else 0, err=err)


def bpeek(engine, request):
    _, _, rest = parse("bpeek", request["argv"], ("h", "V", "f"), ("J", "m", "q"))
    text = rest[0] if rest else ""
    jobs = control.find(engine, text)
    if not jobs:
        raise Exit(255, err=f"Job <{text}> is not found\n")
    try:
        control.permit(engine, request["user"], jobs[0])
    except control.Refused as refusal:
        raise Exit(255, err=f"Job <{text}>: {refusal}\n") from None
    if jobs[0].state in ("PEND", "PSUSP"):
        raise Exit(255, err=f"Job <{text}> : Not yet started.\n")
    raise Exit(0, "<< output from stdout >>\n" + (engine.runner.output(jobs[0]) or ""))


def brun(engine, request):
    _, values, rest = parse("brun", request["argv"], ("h", "V", "f", "b"), ("m",))
    jobs, err = _targets(engine, "brun", request, rest[:1], {}, "Job <{}>: {}\n")
    try:
        for job in jobs:
            control.run_now(engine, request["user"], job, values.get("m", "").split())
    except control.Refused as refusal:
        raise Exit(255, err=f"Job <{rest[0]}>: {refusal}\n") from None
    raise Exit(255 if err else 0, "".join(f"Job <{job.id}> is being forced to run.\n" for job in jobs), err)


def bhist(engine, request):
    flags, values, rest = parse("bhist", request["argv"], ("h", "V", "a", "l", "w", "d", "p", "r", "s", "e"), ("u", "J", "q", "n", "t"))
    _answer(engine, "bhist", flags)
    jobs = [job for text in rest for job in control.find(engine, text) or []]
    if not rest:
        who = values.get("u", request["user"])
        jobs = [job for job in engine.jobs.values() if who in (job.user, "all") and ("a" in flags or job.state in UNFINISHED)]
    if not jobs:
        raise Exit(255, "No matching job found\n")
    if "l" in flags:
        raise Exit(0, show_jobs.RULE.join(show_hist.long(engine, job) for job in jobs))
    raise Exit(0, show_hist.short(engine, jobs))


def _host_names(engine, rest, error, groups=True):
    names = []
    for text in rest:
        members = engine.cluster.members(text) if groups or text in engine.cluster.hosts else None
        if members is None:
            raise Exit(255, err=error.format(text))
        names += members
    return names or list(engine.cluster.hosts)


def bhosts(engine, request):
    flags, values, rest = parse("bhosts", request["argv"], ("h", "V", "w", "l", "s"), ("R",))
    _answer(engine, "bhosts", flags)
    if "s" in flags:
        raise Exit(0, show_hosts.bhosts_resources(engine, rest))
    names = _host_names(engine, rest, "{}: Bad host name, host group name or cluster name\n")
    if "R" in values:
        select = _selection(engine, values["R"], "Bad resource requirement syntax\n")
        names = [name for name in names if resreq.holds(select, engine.cluster.hosts[name], engine.known)]
    if "l" in flags:
        raise Exit(0, "".join(show_hosts.bhosts_long(engine, name) for name in names))
    raise Exit(0, show_hosts.bhosts(engine, names, "w" in flags))


def _selection(engine, text, error):
    """For the load commands: string resources of the hosts do not work there."""
    try:
        select = resreq.parse(text, engine.known)[0]
        strings = {key for host in engine.cluster.hosts.values() for key, value in host.resources.items() if isinstance(value, str)}
        if any(name in strings for name, _, _ in resreq.terms(select, engine.known)):
            raise resreq.BadRequirement(text)
        return select
    except resreq.BadRequirement:
        raise Exit(255, err=error) from None


def lshosts(engine, request):
    flags, values, rest = parse("lshosts", request["argv"], ("h", "V", "w", "l", "s"), ("R",))
    _answer(engine, "lshosts", flags)
    if "s" in flags:
        raise Exit(0, show_hosts.lshosts_resources(engine))
    if "R" in values:
        _selection(engine, values["R"], "ls_gethostinfo(): Not enough host(s) currently eligible\n")
    names = _host_names(engine, rest, "main: gethostbyname() failed for host {}.\n", groups=False)
    if "l" in flags:
        raise Exit(0, "".join(show_info.lshosts_long(engine, name) for name in names))
    raise Exit(0, show_hosts.lshosts(engine, names, "w" in flags))


def lsload(engine, request):
    flags, values, rest = parse("lsload", request["argv"], ("h", "V", "w", "l", "s", "N", "E"), ("R", "I", "n")) \
        if "-o" not in request["argv"] else ({"h"}, {}, [])
    if {"l", "w"} <= flags:
        flags.add("h")
    _answer(engine, "lsload", flags)
    if "s" in flags:
        raise Exit(0, "No dynamic shared resources defined \n")
    names = _host_names(engine, rest, "main: invalid hostname {}\n", groups=False)
    select = _selection(engine, values["R"], "main: Bad resource requirement syntax\n") if "R" in values else ""
    columns = values["I"].split(":") if "I" in values else None
    raise Exit(0, show_hosts.lsload(engine, names, "w" in flags, "l" in flags, select, columns))


def bqueues(engine, request):
    flags, _, rest = parse("bqueues", request["argv"], ("h", "V", "w", "l", "r"), ("m", "u"))
    _answer(engine, "bqueues", flags)
    for name in rest:
        if name not in engine.cluster.queues:
            raise Exit(255, err=f"{name}: No such queue\n")
    queues = [queue for queue in show_hosts.queues_in_order(engine) if not rest or queue.name in rest]
    if "l" in flags:
        raise Exit(0, show_jobs.RULE.join(show_hosts.bqueues_long(engine, queue) for queue in queues))
    if "r" in flags:   # not recorded
        raise Exit(0, show_jobs.RULE.join(show_hosts.bqueues_long(engine, queue, show_shares.tree(engine, queue)) for queue in queues))
    raise Exit(0, show_hosts.bqueues(engine, queues, "w" in flags))


def bmgroup(engine, request):
    flags, _, rest = parse("bmgroup", request["argv"], ("h", "V", "r", "w"), ())
    _answer(engine, "bmgroup", flags)
    for name in rest:
        if name not in engine.cluster.groups:
            raise Exit(255, err=f"{name}: No such user/host group\n")
    raise Exit(0, show_hosts.bmgroup(engine, rest or list(engine.cluster.groups), "r" in flags))


def bugroup(engine, request):
    del request
    raise Exit(0, "GROUP_NAME    USERS\n" + "".join(f"{name:<12} {''.join(user + ' ' for user in users)}\n"
                                                    for name, users in engine.cluster.keys["user_groups"].items()))


def bparams(engine, request):
    flags, _, _ = parse("bparams", request["argv"], ("h", "V", "l"), ())
    _answer(engine, "bparams", flags)
    if "l" in flags:
        raise Exit(0, show_info.bparams(engine))
    raise Exit(0, show_hosts.bparams(engine))


def lsinfo(engine, request):
    flags, _, _ = parse("lsinfo", request["argv"], ("h", "V", "r"), ())
    _answer(engine, "lsinfo", flags)
    raise Exit(0, show_info.lsinfo(engine, "r" in flags))


def busers(engine, request):
    flags, _, rest = parse("busers", request["argv"], ("h", "V"), ())
    _answer(engine, "busers", flags)
    raise Exit(0, show_info.busers(engine, rest or [request["user"]]))


def lsid(engine, request):
    flags, _, _ = parse("lsid", request["argv"], ("h", "V"), ())
    _answer(engine, "lsid", flags)
    raise Exit(0, show_hosts.lsid(engine))


def submit(engine, request):
    """bsub, after the esubs: the message, and the id for -K and -I."""
    spec = {name: value for name, value in request["spec"].items() if name in FIELDS_OF_SUBMISSION}
    named = bool(spec.get("queue"))
    try:
        job_id, queue = control.submit(engine, request["user"], spec)
    except control.Refused as refusal:
        raise Exit(255, err=f"{refusal}. Job not submitted.\n") from None
    answer = {"exit": 0, "out": f"Job <{job_id}> is submitted to {'' if named else 'default '}queue <{queue}>.\n", "err": "", "id": job_id}
    if spec.get("begin"):
        answer["err"] = f"Job will be scheduled after {show_jobs.day(spec['begin'])} {show_jobs.year(spec['begin'])}\n"
    return answer


def modify(engine, request):
    """bmod, after the esubs."""
    text = request["id"]
    jobs = control.find(engine, text)
    if jobs is None:
        raise Exit(255, err=f"{text}: Illegal job ID.\n")
    if not jobs:
        raise Exit(255, err=f"{text}: No matching job found. Job not modified.\n")
    changes = {name: value for name, value in request["spec"].items() if name in MODIFIABLE}
    try:
        for job in jobs:
            control.modify(engine, request["user"], job, changes)
    except control.Refused as refusal:
        raise Exit(255, err=f"{refusal}. Job not modified.\n") from None
    err = ""
    if changes.get("begin") and changes["begin"] != control.NEVER:
        err = f"Job will be scheduled after {show_jobs.day(changes['begin'])} {show_jobs.year(changes['begin'])}\n"
    raise Exit(0, f"Parameters of job <{text}> are being changed\n", err)


COMMANDS = {"bjobs": bjobs, "bswitch": bswitch, "bstop": bstop, "bresume": bresume, "bkill": bkill, "brequeue": brequeue,
            "btop": lambda engine, request: _position(engine, request, True),
            "bbot": lambda engine, request: _position(engine, request, False),
            "brun": brun, "bpeek": bpeek, "bhist": bhist, "bhosts": bhosts, "lshosts": lshosts, "lsload": lsload, "bqueues": bqueues,
            "bmgroup": bmgroup, "bugroup": bugroup, "bparams": bparams, "lsid": lsid, "lsinfo": lsinfo, "busers": busers, "badmin": admin.badmin,
            "submit": submit, "modify": modify}
# These query the lim and are answered while mbatchd is down.
OF_THE_LIM = ("lsid", "lsinfo", "lshosts", "lsload", "lsrun")


def serve(engine, request):
    command = COMMANDS.get(request["command"])
    if command is None:   # like env
        return {"exit": 127, "out": "", "err": f"env: '{request['command']}': No such file or directory\n"}
    try:
        return command(engine, request)
    except Exit as done:
        return done.answer
    except admin.Answer as done:
        return done.answer
