"""badmin: closes and opens hosts and queues with notes, restarts daemons, shows histories."""
import loss
import show_hist
from usage import USAGE

CHECKING = "\nChecking configuration files ...\n\n"


class Answer(Exception):
    def __init__(self, status, out="", err="", seconds=0.0):
        super().__init__(err)
        self.answer = {"exit": status, "out": out, "err": err}
        if seconds:
            self.answer["seconds"] = seconds


def badmin(engine, request):
    words = list(request["argv"])
    verb = words.pop(0) if words else "help"
    if verb in ("help", "?"):
        raise Answer(0, err=USAGE["badmin help"])
    if verb in ("hclose", "hopen"):
        _hosts(engine, request["user"], verb, words)
    if verb in ("qclose", "qopen", "qact", "qinact"):
        _queues(engine, request["user"], verb, words)
    if verb in ("hist", "hhist", "qhist", "mbdhist"):
        if words[:1] == ["-t"]:
            words = words[2:]
        kinds = {"hist": ("mbatchd", "host", "queue"), "hhist": ("host",), "qhist": ("queue",), "mbdhist": ("mbatchd",)}[verb]
        raise Answer(0, show_hist.administration(engine, kinds, words[0] if words else None))
    if verb in ("ckconfig", "reconfig", "mbdrestart"):
        _daemon(engine, request["user"], verb)
    if verb in ("hrestart", "hshutdown", "hstartup"):
        _sbatchd(engine, request["user"], verb, words)
    raise Answer(254, err=f"Illegal command: {verb}\n")


def _note(verb, words):
    note = ""
    while words and words[0].startswith("-"):
        option = words.pop(0)
        if option == "-C" and words:
            note = words.pop(0)
        else:
            raise Answer(254, err=f"badmin: illegal option -- {option[1:2]}\n" + USAGE["badmin hclose"].replace("hclose", verb))
    return note


def _members(engine, words):
    if words == ["all"]:
        return list(engine.cluster.hosts)
    names = []
    for word in words or [engine.cluster.keys["master"]]:
        members = engine.cluster.members(word)
        if members is None:
            raise Answer(255, err="Bad host name, host group name or cluster name\n")
        names += members
    return names


def _hosts(engine, user, verb, words):
    note = _note(verb, words)
    text, status = "", 0
    for name in _members(engine, words):
        host = engine.cluster.hosts[name]
        text += f"{'Close' if verb == 'hclose' else 'Open'} <{name}> ...... "
        if not engine.cluster.is_administrator(user):
            text, status = text + "Host control failed.: User permission denied\n", 255
            continue
        if verb == "hclose":
            if not host.closed:   # a second note on a closed host is accepted but lost
                host.closed, host.note = True, note
                _host_event(engine, name, "closed", user, note)
            text += "done\n"
            continue
        if host.closed:
            host.closed, host.note = False, note
            _host_event(engine, name, "opened", user, note)
        full = " : host remains closed due to job limit;  " if host.used >= host.slots and host.seen == "ok" else ""
        text += f"done{full}\n"
        engine.wake()
    raise Answer(status, err=text)


def _host_event(engine, name, verb, user, note):
    text = f"Host <{name}> {verb} by administrator <{user}>." + (f" {note}." if note else "")
    engine.history.append((engine.now, "host", text.replace("\t", " ")))


def _queues(engine, user, verb, words):
    note = _note(verb, words)
    done = {"qclose": "closed", "qopen": "opened", "qact": "activated", "qinact": "inactivated"}[verb]
    out, err = "", ""
    for name in words:
        queue = engine.cluster.queues.get(name)
        if queue is None:
            err += f"{name}: No such queue\n"
            continue
        if not engine.cluster.is_administrator(user):
            err += f"{name}: User permission denied\n"
            continue
        if verb in ("qclose", "qopen"):
            queue.open = verb == "qopen"
        else:
            queue.active = verb == "qact"
        queue.note = note
        out += f"Queue <{name}> is {done}\n"
        engine.history.append((engine.now, "queue", f"Queue <{name}> {done} by user or administrator <{user}>." + (f" {note}." if note else "")))
        engine.wake()
    raise Answer(255 if err else 0, out, err)


def _daemon(engine, user, verb):
    if verb == "ckconfig":
        raise Answer(0, "No errors found.\n\n", CHECKING)
    if not engine.cluster.is_administrator(user):
        waiting = "batch system daemon not responding ... still trying\n"
        raise Answer(255, "No errors found.\n\n" + 2 * waiting + "Failed: User permission denied\n", CHECKING, seconds=13.0)
    engine.restart_mbatchd()
    if verb == "mbdrestart":
        raise Answer(0, "No errors found.\n\nMBD restart initiated\n", CHECKING)
    raise Answer(0, "No errors found.\n\nReconfiguration initiated\n", CHECKING)


def _sbatchd(engine, user, verb, words):
    words = [word for word in words if word != "-f"]
    text, status = "", 0
    for name in _members(engine, words):
        host = engine.cluster.hosts[name]
        text += {"hrestart": "Restart slave batch daemon on", "hshutdown": "Shut down slave batch daemon on",
                 "hstartup": "Start up slave batch daemon on"}[verb] + f" <{name}> ...... "
        if not engine.cluster.is_administrator(user):
            text, status = text + "Host control failed.: User permission denied\n", 255
        elif host.power != "on":
            text, status = text + "Host control failed.: Communication time out\n", 255
        else:
            if verb == "hrestart":
                loss.restart_sbatchd(engine, host)
            text += "done\n"
    raise Answer(status, err=text)
