#!/usr/bin/env python3
"""Compares the double of the LSF engine with recordings of the engine: every recorded command whose state the double can reach is
repeated, and its exit status, output and errors must be byte-identical; in the recorded time lines the order of states must be
the same, and their times within a tolerance. Omissions, with reasons, are in lsf/recorded/left_out.json.

lsf_double_test.py [-v] [RECORDING]
"""
import difflib
import json
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(HERE / "lsf"))
import dispatch      # pylint: disable=wrong-import-position
import loss          # pylint: disable=wrong-import-position
import replay        # pylint: disable=wrong-import-position
import scenarios     # pylint: disable=wrong-import-position

AT_LEAST = {"commands": 588, "time lines": 70, "files": 15}   # may only grow
TOLERANCE = 3.5         # seconds: one and a half intervals of mbatchd, which are not synchronized
TOLERANCE_OF_LOSS = 8.0   # plus an exchange of the lims


def job_of(item, player):
    """The job of a time line: named in its title, else the last command's."""
    for word in item.title.replace("[", " ").split():
        if word.isdigit() and not item.number:
            return int(word)
    return player.last_job


def number_in(texts):
    for text in texts:
        digits = "".join(letter if letter.isdigit() else " " for letter in text).split()
        if digits and ("<" in text or text.isdigit()):
            return int(digits[0])
    return None


def played(player, item):
    """The difference for a command, "" if none."""
    if item.argv[0] == "bsub" and "Job <" in item.out:
        player.engine.next_id = number_in([item.out])
    before = player.engine.now
    status, out, err = player.type(item.user, item.argv, item.env, item.stdin)
    player.engine.advance(max(player.engine.now, before + item.seconds))
    found = number_in([item.out] if item.argv[0] == "bsub" else item.argv[-1:] + [item.out.split("\n")[0]])
    if found:
        player.last_job = found
    recorded, errors = item.out, item.err
    if item.argv[0] == "bjobs" and {"-a", "-d"} & set(item.argv):
        recorded = replay.without_older(recorded, player.engine.elements)
    recorded, errors, out, err = (replay.mask(text) for text in (recorded, errors, out, err))
    if item.argv[0] == "badmin" and "hist" in item.argv[1]:
        recorded, out = replay.unwrapped(recorded), replay.unwrapped(out)
    if (status, out, err) == (item.exit, recorded, errors):
        return ""
    lines = [f"exit status {status}, recorded {item.exit}"] if status != item.exit else []
    for stream, mine, other in (("standard output", out, recorded), ("standard error", err, errors)):
        lines += list(difflib.unified_diff(other.split("\n"), mine.split("\n"), f"recorded {stream}", "double", lineterm="", n=1))
    return "\n".join(lines)


def beside(player, item):
    """Records next to commands of esubs: their parameter file, the job's environment. None: cannot be compared."""
    if item.title.startswith("LSB_SUB_PARM_FILE"):
        mine = (player.probe / "parm").read_text().split("\n")[:-1]
    elif item.title == "RAIL_*, HOME and PATH in the job":
        environment = player.engine.elements[player.last_job][0].env
        mine = [f"{name}={value}" for name, value in environment.items() if name.startswith("RAIL_") or name in ("HOME", "PATH")]
        mine, item.lines = sorted(mine), sorted(item.lines)
    else:
        return None
    mask = lambda lines: ["LSB_SUB_BEGIN_TIME" if line.startswith("LSB_SUB_BEGIN_TIME=") else line for line in lines]
    return "" if mask(mine) == mask(item.lines) else "\n".join(difflib.unified_diff(item.lines, mine, "recorded", "double", lineterm=""))


def health_line(player, item, tolerance):
    """A new value from the elim of n7: [seconds, [bhosts, lsload, the job]]."""
    recorded = [(when, *words) for when, words in json.loads(item.lines[0])]
    value, host = item.title.split(" set to ")[1].split()[0], player.engine.cluster.hosts["n7"]
    loss.set_index(player.engine, host, "health", 0.0 if value == "-" else float(value))
    began, seen = player.engine.now, []
    while player.engine.now - began <= recorded[-1][0] + tolerance:
        now = (dispatch.host_state(player.engine, host), f"{host.indices['health']:.1f}", player.state(16)[0])
        if not seen or seen[-1][1:] != now:
            seen.append((round(player.engine.now - began, 1), *now))
        player.pass_time(0.1)
    return player.compared(seen, recorded, tolerance)


def noted(player, item, runs):
    """The recorder's note on the number of runs of the esub and the result of the job."""
    for note in item.notes:
        found = re.match(r"esub runs: (\d+)(?:; state \('(\w+)', '-'\))?$", note)
        if found and int(found[1]) != runs:
            return f"the esub ran {runs} times, recorded {found[1]}"
        if found and found[2] and player.state(player.last_job)[0] != found[2]:
            return f"{player.state(player.last_job)}, recorded {found[2]}"
    return ""


def check(scenario, names, more, out, count, verbose):
    """Plays the recordings; returns the failures."""
    player, failures = replay.Player(**more), []
    steps = scenario(player)
    for name in names:
        seen = {}
        for item in replay.read(replay.FOLDER / f"{name}.txt"):
            seen[item.name] = seen.get(item.name, 0) + 1
            key = item.name if seen[item.name] == 1 else f"{item.name} #{seen[item.name]}"
            step = steps.get((name, key))
            if step:
                step()
            if item.argv is None and item.states is None:
                if item.title.startswith("health of n7 set"):
                    difference = health_line(player, item, TOLERANCE)
                    count["time lines"] += difference == ""
                else:
                    difference = beside(player, item)
                    count["files"] += difference == ""
                if difference:
                    failures.append(f"{name} {key}:\n{difference}")
                continue
            kind = "commands" if item.argv else "time lines"
            if key in out.get(name, {}):
                count[f"{kind} left out"].append(f"{name} {key}: {out[name][key]}")
                continue
            lost = name.startswith(("host_loss", "cable")) or "power-off" in item.title
            tolerance = TOLERANCE_OF_LOSS if lost else TOLERANCE
            if item.argv:
                before = player.esub_runs()
                difference = played(player, item)
                difference = difference or noted(player, item, player.esub_runs() - before)
            elif item.title in player.passed:   # recorded next to commands
                job_id, host = player.passed[item.title]
                difference = player.history(job_id, player.engine.cluster.hosts[host].lost_at, item.states, tolerance)
            else:
                difference = player.time_line(job_of(item, player), item.states, tolerance)
            if difference:
                failures.append(f"{name} {key}: {item.argv or item.title}\n{difference}")
            else:
                count[kind] += 1
                if verbose:
                    print(f"{name} {key}: the same")
    return failures


def timings():
    """Checks the configurations of the daemons whose times were measured; returns the failures."""
    failures = []
    for name, (timing, *measured, tolerance) in scenarios.TIMINGS.items():
        for phase in (0.3, 2.2, 4.6):
            seen = scenarios.lose_and_requeue(replay.Player({"timing": timing}), phase)
            for what, mine, (first, last) in zip(("lsload unavail", "UNKWN", "PEND", "PSUSP", "RUN"), seen, measured):
                if not first - tolerance <= mine <= last + tolerance:
                    failures.append(f"timing {name}, phase {phase}: {what} after {mine:.1f} s, measured {first} to {last}")
    return failures


def main():
    words = [word for word in sys.argv[1:] if word != "-v"]
    out = scenarios.left_out(replay.FOLDER)
    count = {"commands": 0, "files": 0, "time lines": 0, "commands left out": [], "time lines left out": []}
    failures = []
    for scenario, names, more in scenarios.SCENARIOS:
        if not words or set(words) & set(names):
            failures += check(scenario, names, more, out, count, "-v" in sys.argv)
    if not words:
        failures += timings()
    never = sorted(path.stem for path in replay.FOLDER.glob("*.txt") if not any(path.stem in names for _, names, _ in scenarios.SCENARIOS))
    for name in never:
        items = [item for item in replay.read(replay.FOLDER / f"{name}.txt") if item.argv or item.states]
        if "*" not in out.get(name, {}):
            failures.append(f"{name}.txt is played by no scenario and left_out.json gives no reason (\"*\")")
        elif not words:
            count["commands left out"] += [f"{name} {item.name}: {out[name]['*']}" for item in items if item.argv]
            count["time lines left out"] += [f"{name} {item.name}: {out[name]['*']}" for item in items if item.states]
    for failure in failures:
        print(f"FAIL {failure}\n")
    print(f"{count['commands']} recorded commands replayed, {len(count['commands left out'])} left out; "
          f"{count['time lines']} time lines, {len(count['time lines left out'])} left out; {count['files']} files of esubs and jobs")
    if not failures:
        print("\n".join(f"left out: {line}" for line in count["commands left out"] + count["time lines left out"]))
    fewer = [] if words else [f"{count[kind]} {kind}, {least} before" for kind, least in AT_LEAST.items() if count[kind] < least]
    if fewer:
        print(f"fewer were replayed than before: {'; '.join(fewer)}")
    sys.exit(1 if failures or fewer else 0)


main()
