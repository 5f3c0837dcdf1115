"""esub according to the transcripts: which ones run, the parameter file they read, the modify files that take effect.

It runs as the caller, before mbatchd knows the job: LSF_SERVERDIR/esub, those of LSB_ESUB_METHOD (the environment overrides
lsf.conf, even if empty), those of -a. Exit status 97 or a signal rejects the job; any other leaves it unmodified.
"""
import os
import re
import subprocess
import tempfile
import time

ABORT = 97
STRINGS = {"JOB_NAME": "name", "QUEUE": "queue", "IN_FILE": "in_file", "OUT_FILE": "out_file", "ERR_FILE": "err_file",
           "DEPEND_COND": "depend", "PRE_EXEC": "pre_exec", "PROJECT_NAME": "project", "RES_REQ": "res_req",
           "COMMAND_LINE": "command", "JOB_DESCRIPTION": "description", "HOSTS": "hosts", "LOGIN_SHELL": None, "MAIL_USER": None}
NUMBERS = {"NUM_PROCESSORS": "slots", "MAX_NUM_PROCESSORS": "max_slots", "RLIMIT_RUN": "run_limit", "BEGIN_TIME": "begin",
           "RLIMIT_CPU": None, "RLIMIT_RSS": None}
FLAGS = {"RERUNNABLE": "rerun", "HOLD": "hold", "EXCLUSIVE": "exclusive", "NOTIFY_END": None, "NOTIFY_BEGIN": None}


class Aborted(Exception):
    pass


def parameter_file(job, other, modify, commandname):
    """Its text; the order of the names is fixed."""
    rows = []

    def string(name, value):
        if value:
            rows.append(f'LSB_SUB_{name}="{value}"')

    def flag(name, value):
        if value:
            rows.append(f"LSB_SUB_{name}=Y")

    words = other["words"]
    string("JOB_NAME", job.get("name", "").replace('"', '\\"'))
    string("QUEUE", job.get("queue"))
    string("IN_FILE", job.get("in_file"))
    string("OUT_FILE", job.get("out_file"))
    string("ERR_FILE", job.get("err_file"))
    flag("EXCLUSIVE", job.get("exclusive"))
    flag("NOTIFY_END", words.get("NOTIFY_END"))
    flag("NOTIFY_BEGIN", words.get("NOTIFY_BEGIN"))
    flag("RERUNNABLE", job.get("rerun"))
    flag("HOLD", job.get("hold"))
    flag("INTERACTIVE", other.get("wait", "K") != "K")
    string("DEPEND_COND", job.get("depend"))
    string("PRE_EXEC", job.get("pre_exec"))
    string("LOGIN_SHELL", words.get("LOGIN_SHELL"))
    string("MAIL_USER", words.get("MAIL_USER"))
    string("PROJECT_NAME", job.get("project"))
    string("RES_REQ", job.get("res_req"))
    flag("MODIFY", modify)
    if commandname:
        string("COMMANDNAME", other["command_name"])
        string("COMMAND_LINE", other["command_line"])
    string("HOSTS", "".join(host + " " for host in job.get("hosts", [])))
    for name, value in (("RLIMIT_CPU", words.get("RLIMIT_CPU")), ("RLIMIT_RSS", words.get("RLIMIT_RSS")),
                        ("RLIMIT_RUN", job.get("run_limit")), ("NUM_PROCESSORS", job.get("slots")),
                        ("MAX_NUM_PROCESSORS", job.get("max_slots")), ("BEGIN_TIME", job.get("begin"))):
        if value:
            rows.append(f"LSB_SUB_{name}={value}")
    string("ADDITIONAL", other["additional"])
    return "".join(row + "\n" for row in rows)


def programs(settings, environment, additional):
    """The files to run, in order; names without a file are skipped silently."""
    methods = environment["LSB_ESUB_METHOD"] if "LSB_ESUB_METHOD" in environment else settings["mandatory_esub"]
    names = ["esub"] + [f"esub.{name}" for name in methods.split() + additional.split() if "/" not in name]
    paths = [os.path.join(settings["serverdir"], name) for name in names]
    return [path for path in paths if os.access(path, os.X_OK) and os.path.isfile(path)]


def run(job, other, settings, environment, cwd, modify=False, start=subprocess.run):
    """Runs them and changes job (fields) and environment in place; returns warnings for standard error."""
    paths = programs(settings, environment, other["additional"])
    if not paths:
        return ""
    warnings = ""
    with tempfile.TemporaryDirectory(prefix=".lsbsub") as folder:
        files = {name: os.path.join(folder, name) for name in ("parm", "delta", "deltaenv")}
        with open(files["parm"], "w", encoding="utf-8", errors="surrogateescape") as stream:
            stream.write(parameter_file(job, other, modify, settings["commandname"]))
        for path in paths:
            for name in ("delta", "deltaenv"):
                with open(files[name], "w", encoding="utf-8"):
                    pass
            extra = {"LSB_SUB_ABORT_VALUE": str(ABORT), "LSB_SUB_PARM_FILE": files["parm"], "LSB_SUB_MODIFY_FILE": files["delta"],
                     "LSB_SUB_MODIFY_ENVFILE": files["deltaenv"], "LSB_UNIXGROUP": environment.get("LSB_UNIXGROUP", ""),
                     "LSF_BINDIR": settings["bindir"], "LSF_ENVDIR": settings["envdir"], "LSF_SERVERDIR": settings["serverdir"]}
            try:
                done = start([path, "-r"], env={**environment, **extra}, cwd=cwd, stdin=subprocess.DEVNULL,
                             stdout=subprocess.DEVNULL, check=False)
            except OSError:
                continue   # an invalid interpreter: accepted silently
            if done.returncode == ABORT or done.returncode < 0:
                raise Aborted()
            if done.returncode == 0:
                with open(files["delta"], encoding="utf-8", errors="surrogateescape") as stream:
                    warnings += modified(job, stream.read(), modify)
                with open(files["deltaenv"], encoding="utf-8", errors="surrogateescape") as stream:
                    modified_environment(environment, stream.read(), settings["bindir"])
    return warnings


def _warning(text):
    now = time.strftime("%b %e %H:%M:%S", time.localtime())
    return f"{now} {os.getpid()} 4 22 modifyJobInforation: {text}\n"


def modified(job, text, modify=False):
    """Applies the lines of LSB_SUB_MODIFY_FILE; an invalid one is skipped with a warning."""
    warnings = ""
    for line in text.splitlines():
        if not line.strip():
            continue
        name, equals, value = line.partition("=")
        short = name.removeprefix("LSB_SUB_") if name.startswith("LSB_SUB_") and equals else ""
        if short not in STRINGS and short not in NUMBERS and short not in FLAGS:
            warnings += _warning(f"Bad parameter variable name({name if equals else line.split()[0]}) read from "
                                 "$LSB_SUB_MODIFY_FILE, the setting will be ignored.")
            continue
        bad = f"Bad value({value}) read from $LSB_SUB_MODIFY_FILE for parameter {name}, the setting will be ignored."
        if short in FLAGS:
            if value not in ("Y", "SUB_RESET"):
                warnings += _warning(bad + " The value of this parameter can only be SUB_RESET or 'Y'.")
            elif FLAGS[short]:
                job[FLAGS[short]] = value == "Y"
        elif value == "SUB_RESET":
            _reset(job, short)
        elif short in NUMBERS:
            if not value.isdigit():
                warnings += _warning(bad)
            elif NUMBERS[short]:
                job[NUMBERS[short]] = int(value)
        elif not re.fullmatch(r'"[^"]*"', value):
            warnings += _warning(bad)
        elif STRINGS[short]:
            job[STRINGS[short]] = value[1:-1].split() if short == "HOSTS" else value[1:-1]
            if short == "COMMAND_LINE" and not modify:
                job.pop("script", None)
    return warnings


def _reset(job, short):
    field = {**STRINGS, **NUMBERS}[short]
    if field in ("slots", "max_slots"):
        job[field] = 1
    elif field in ("queue", "command"):
        job[field] = "" if field == "queue" else job[field]
    elif field:
        job.pop(field, None)


def modified_environment(environment, text, bindir):
    """Applies LSB_SUB_MODIFY_ENVFILE: a value with blanks needs quotes, none may be inside, HOME stays."""
    for line in text.splitlines():
        name, equals, value = line.partition("=")
        if not equals or not re.fullmatch(r"[A-Za-z_]\w*", name) or name == "HOME":
            continue
        value = value[1:].split('"')[0] if value.startswith('"') else (value.split() or [""])[0]
        if name == "PATH" and value.split(":")[0] != bindir:
            value = f"{bindir}:{value}"
        environment[name] = value
