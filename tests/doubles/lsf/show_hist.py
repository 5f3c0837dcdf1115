"""The texts of bhist and of badmin's hist, hhist and qhist."""
import show_jobs

WIDTH, INDENT = 79, 21
COLUMNS = ("PEND", "PSUSP", "RUN", "USUSP", "SSUSP", "UNKWN")


def line(when, text, wrapped=True):
    """One event; the engine wraps most of them after 79 columns, wherever that is."""
    text = f"{show_jobs.day(when)}: {text}"
    if not wrapped:
        return text + "\n"
    lines, rest = [text[:WIDTH]], text[WIDTH:]
    while rest:   # a blank at a line break is lost
        rest = rest[1:] if rest[0] == " " else rest
        lines.append(" " * INDENT + rest[:WIDTH - INDENT])
        rest = rest[WIDTH - INDENT:]
    return "\n".join(lines) + "\n"


def seconds_in_states(engine, job):
    count = dict.fromkeys(COLUMNS, 0.0)
    for place, (when, state) in enumerate(job.states):
        until = job.states[place + 1][0] if place + 1 < len(job.states) else engine.now
        if state in ("EXIT", "DONE") and place + 1 == len(job.states):
            break
        state = {"EXIT": "PEND", "ZOMBI": "UNKWN"}.get(state, state)
        count[state] = count.get(state, 0.0) + until - when
    return [int(count[name]) for name in COLUMNS]


def long(engine, job):
    text = f"\n{show_jobs.head(job, state=False)}\n"
    text += "".join(line(*event) for event in job.events)
    row = seconds_in_states(engine, job)
    text += f"\nSummary of time in seconds spent in various states by  {show_jobs.day(engine.now)}\n"
    text += "  PEND     PSUSP    RUN      USUSP    SSUSP    UNKWN    TOTAL\n"
    return text + "  " + "".join(f"{value:<9}" for value in row) + f"{sum(row):<12}\n\n"


def short(engine, jobs):
    text = ("Summary of time in seconds spent in various states:\n"
            "JOBID   USER    JOB_NAME  PEND    PSUSP   RUN     USUSP   SSUSP   UNKWN   TOTAL\n")
    for job in jobs:
        name = job.shown_name
        name = "*" + name[-7:] if len(name) > 8 else name
        row = seconds_in_states(engine, job)
        text += f"{job.id:<7} {job.user:<7} {name:<9} " + "".join(f"{value:<8}" for value in row) + f"{sum(row):<10}\n"
    return text + "\n"


def administration(engine, kinds, name=None):
    """badmin hist, hhist, qhist: events of these kinds, for one host or queue."""
    return "".join(line(when, text) for when, kind, text in engine.history
                   if kind in kinds and (name is None or f"<{name}>" in text.split(" by ")[0]))
