"""The command lines of bsub and bmod: parsed in the calling process, as by the engine's own library, so that an esub runs as the
caller, in the caller's folder, before mbatchd knows the job.
"""
import re
import shlex
import time

NO_ARGUMENT = ("x", "H", "r", "N", "B", "I", "K", "Ip", "Is", "h", "V", "Zs")
ARGUMENT = ("L", "c", "F", "W", "k", "P", "q", "R", "m", "n", "J", "Jd", "b", "t", "u", "i", "is", "o", "e", "M", "D", "S", "f",
            "w", "E", "Ep", "sp", "pack", "a", "C")
REMOVES = ("x", "r", "N", "B", "c", "F", "M", "D", "S", "C", "W", "k", "P", "L", "w", "R", "J", "Jd", "q", "m", "n", "b", "t", "i",
           "is", "o", "e", "u", "f", "E", "sp", "Zs")
SPECIAL = re.compile(r"""[\s"'$\\`;&|<>()*?]""")
SINGLE = re.compile(r"""["$\\`]""")
NEVER = 4294967294   # the start time that bmod -bn leaves


class Usage(Exception):
    """The text before the usage, which is empty for -h."""


class Bad(Exception):
    """An argument rejected by the command itself; the engine's message."""


def options(words, modify=False):
    """([(option, argument or None)], the rest); the engine accepts multi-letter options and otherwise uses the first letter."""
    found, words = [], list(words)
    while words and words[0].startswith("-") and words[0] != "-":
        word = words.pop(0)[1:]
        exact = word if word in NO_ARGUMENT + ARGUMENT else None
        if modify and word.endswith("n") and word[:-1] in REMOVES:
            found.append((word, None))
            continue
        if modify and (word in ("H", "I", "K", "Ip", "Is") or (word == "Z" and not words)):
            raise Usage(f"bmod: illegal option -- {word}\n")
        if modify and word == "Z":
            found.append(("Z", words.pop(0)))
            continue
        if exact is None:
            if word[:1] in NO_ARGUMENT:
                raise Usage(f"{'bmod' if modify else 'bsub'}: option cannot have an argument -- {word[0]}\n")
            if word[:1] not in ARGUMENT:
                raise Usage(f"{'bmod' if modify else 'bsub'}: illegal option -- {word}\n")
            found.append((word[0], word[1:]))
            continue
        if exact in NO_ARGUMENT:
            found.append((exact, None))
            continue
        if not words:
            raise Usage(f"{'bmod' if modify else 'bsub'}: option requires an argument -- {exact}\n")
        found.append((exact, words.pop(0)))
    return found, words


def _slots(text):
    found = re.fullmatch(r"(-?\d+)(?:,(-?\d+))?", text)
    if not found:
        raise Bad("Bad argument for option -n")
    low, high = int(found[1]), int(found[2] or found[1])
    if low < 1 or high < low:
        raise Bad("The number of processors must be a positive integer")
    return low, high


def _minutes(option, text):
    found = re.fullmatch(r"(?:(\d+):)?(\d+)(?:/\S+)?", text)
    if not found:
        raise Bad(f"Bad argument for option -{option}")
    return (int(found[1] or 0) * 60 + int(found[2])) * 60


def _moment(text, now):
    """[[[YYYY:]MM:]DD:]hh:mm, the next occurrence."""
    parts = text.split(":")
    if not 2 <= len(parts) <= 5 or not all(part.isdigit() for part in parts):
        raise Bad("Bad argument for option -b")
    moment = list(time.localtime(now))
    numbers = [int(part) for part in parts]
    places = [0, 1, 2, 3, 4][5 - len(numbers):]
    for place, number in zip(places, numbers):
        moment[place] = number
    moment[5], moment[8] = 0, -1
    when = int(time.mktime(tuple(moment)))
    return when + (86400 if when < now and len(numbers) == 2 else 0)


def array(name):
    """The indices of "arr[1-3,7]", [] if the name is not an array."""
    found = re.fullmatch(r"[^\[]*\[([\d,:-]+)\](%\d+)?", name or "")
    if not found:
        return []
    indices = []
    for piece in found[1].split(","):
        first, _, last = piece.partition("-")
        if not first.isdigit() or (last and not last.isdigit()) or int(last or first) - int(first) > 1000:
            raise Bad("Bad argument for option -J")
        if int(last or first) < int(first):
            raise Bad("Bad argument for option -J")
        indices += range(int(first), int(last or first) + 1)
    return indices


def fields(found, now):
    """Fields of model.Job and the options' values for the esub; common to bsub and bmod."""
    job, other = {}, {"additional": "", "words": {}}
    simple = {"q": "queue", "R": "res_req", "P": "project", "J": "name", "Jd": "description", "i": "in_file", "is": "in_file",
              "o": "out_file", "e": "err_file", "w": "depend", "E": "pre_exec"}
    for option, value in found:
        if option in simple:
            job[simple[option]] = value
        elif option == "n":
            job["slots"], job["max_slots"] = _slots(value)
        elif option == "m":
            if not value.split():
                raise Usage("")
            job["hosts"] = value.split()
        elif option == "r":
            job["rerun"] = True
        elif option == "H":
            job["hold"] = True
        elif option == "x":
            job["exclusive"] = True
        elif option == "W":
            job["run_limit"] = _minutes("W", value)
        elif option == "b":
            job["begin"] = _moment(value, now)
        elif option == "a":
            other["additional"] = value
        elif option in ("I", "Ip", "Is", "K"):
            other["wait"] = option
        elif option in ("N", "B"):
            other["words"]["NOTIFY_END" if option == "N" else "NOTIFY_BEGIN"] = True
        elif option == "c":
            other["words"]["RLIMIT_CPU"] = _minutes("c", value)
        elif option == "M":
            other["words"]["RLIMIT_RSS"] = value
        elif option == "L":
            other["words"]["LOGIN_SHELL"] = value
        elif option == "u":
            other["words"]["MAIL_USER"] = value
        elif option == "Z":
            job["command"] = value
        elif option == "Zs":
            raise Bad("System call failed:unknown system error 0")
        elif option == "bn":
            job["begin"] = NEVER
        elif option[-1] == "n" and option[:-1] in REMOVES:
            _remove(job, option[:-1], simple)
    return job, other


def _remove(job, option, simple):
    if option in simple:
        job[simple[option]] = "default" if option == "P" else ""
    elif option == "m":
        job["hosts"] = []
    elif option == "n":
        job["slots"] = job["max_slots"] = 1
    elif option == "r":
        job["rerun"] = False
    elif option == "W":
        job["run_limit"] = 0


def quoted(words):
    """The command line from its words, as joined by the engine: quotes inside are not escaped."""
    line = words[0]
    for word in words[1:]:
        if SINGLE.search(word):
            word = f"'{word}'"
        elif SPECIAL.search(word) or word == "":
            word = f'"{word}"'
        line += " " + word
    return line


def script_options(text):
    """The words of the #BSUB lines of a script."""
    words = []
    for line in text.splitlines():
        if line.startswith("#BSUB"):
            try:
                words += shlex.split(line[5:], comments=True)
            except ValueError:
                raise Bad(f"{line}: Bad syntax in the job script") from None
    return words


def bsub(words, read_stdin, now):
    """(fields of the job with "queue" and "array", other). The command line takes precedence over the script."""
    found, command = options(words)
    names = [option for option, _ in found]
    if "h" in names:
        raise Usage("")
    if "V" in names:
        return None, None
    script = ""
    if not command:
        script = read_stdin()
        if not script.strip():
            raise Bad("No command is specified")
        inside, _ = options(script_options(script))
        found = [one for one in inside if one[0] not in names] + found
    job, other = fields(found, now)
    job.setdefault("queue", "")
    if script:
        job["script"] = script
        job["command"] = ";".join(script.rstrip("\n").split("\n"))
        code = [line for line in script.splitlines() if line.strip() and not line.startswith("#")]
        other["command_name"] = (code[0].split() if code else [""])[0]
        other["command_line"] = job["command"] + "  "
    else:
        job["command"] = other["command_line"] = quoted(command)
        other["command_name"] = command[0].split()[0] if command[0].split() else ""
    job["array"] = array(job.get("name"))
    return job, other


def bmod(words, now):
    """(job id, changed fields, other)"""
    found, rest = options(words, modify=True)
    if any(option in ("h", "V") for option, _ in found) or len(rest) != 1:
        raise Usage("")
    job, other = fields(found, now)
    other["command_name"] = other["command_line"] = rest[0]
    return rest[0], job, other
