"""The engine's own configuration files (lsf.conf, lsf.shared, lsf.cluster.NAME, lsb.params, lsb.hosts, lsb.queues), parsed into
the keys of model.py. Strict where the engine only warns: unknown settings, and references to missing items, are errors with
file and line."""
import os
import re

TIMING_CLUSTER = {"EXINTERVAL": float, "ELIM_POLL_INTERVAL": float, "HOST_INACTIVITY_LIMIT": int, "RETRY_LIMIT": int}
TIMING_PARAMS = {"MBD_SLEEP_TIME": float, "SBD_SLEEP_TIME": float, "JOB_TERMINATE_INTERVAL": float, "MAX_SBD_FAIL": int}
OTHER_PARAMS = ("RETRY_INTERVAL", "DEFAULT_QUEUE", "COMPUTE_UNIT_TYPES", "JOB_ACCEPT_INTERVAL", "CLEAN_PERIOD")
QUEUE_KEYS = ("QUEUE_NAME", "PRIORITY", "DESCRIPTION", "USERS", "HOSTS", "RES_REQ", "RERUNNABLE", "EXCLUSIVE", "REQUEUE_EXIT_VALUES",
              "PRE_EXEC", "POST_EXEC", "JOB_STARTER", "JOB_ACCEPT_INTERVAL")
WORDS = re.compile(r"\(([^()]*)\)|(\S+)")


class Bad(ValueError):
    pass


class Line:
    """A line of a file, with its location."""

    def __init__(self, path, number, text):
        self.place, self.text = f"{os.path.basename(path)}:{number}", text

    def bad(self, why):
        return Bad(f"{self.place}: {why}: {self.text}")

    def words(self):
        """Its columns; a parenthesized group is one."""
        return [found[1] if found[2] is None else found[2] for found in WORDS.finditer(self.text)]

    def setting(self):
        name, sign, value = self.text.partition("=")
        if not sign:
            raise self.bad("NAME = VALUE is wanted")
        return name.strip(), value.strip()


def lines(path):
    try:
        with open(path, encoding="utf-8") as stream:
            text = stream.read()
    except FileNotFoundError:
        raise Bad(f"{path}: is not there") from None
    found = [Line(path, number, line.split("#")[0].strip()) for number, line in enumerate(text.split("\n"), 1)]
    return [line for line in found if line.text]


def sections(path, known):
    """[(name, its lines)] from a file with Begin and End."""
    found, name = [], None
    for line in lines(path):
        word, _, rest = line.text.partition(" ")
        if name is None:
            if word != "Begin" or rest not in known:
                raise line.bad(f"Begin and one of {', '.join(known)} is wanted")
            name = rest
            found.append((name, []))
        elif word == "End":
            if rest != name:
                raise line.bad(f"End {name} is wanted")
            name = None
        else:
            found[-1][1].append(line)
    if name is not None:
        raise Bad(f"{path}: End {name} is missing")
    return found


def settings(rows, known):
    """{name: (value, line)}; a duplicate name is an error, as in the engine, which uses the first."""
    found = {}
    for line in rows:
        name, value = line.setting()
        if name not in known:
            raise line.bad(f"no such parameter; there are {', '.join(known)}")
        if name in found:
            raise line.bad("stands there twice")
        found[name] = (value, line)
    return found


def table(rows, *columns):
    """Dictionaries of the rows below the header, which must name these columns; each has its line as "line"."""
    if not rows:
        return []
    head = rows[0].words()
    for column in columns:
        if column not in head:
            raise rows[0].bad(f"a column {column} is wanted")
    found = []
    for line in rows[1:]:
        words = line.words()
        if len(words) != len(head):
            raise line.bad(f"{len(head)} columns are wanted")
        found.append({**dict(zip(head, words)), "line": line})
    return found


def number(line, text, kind=float):
    try:
        return kind(text)
    except ValueError:
        raise line.bad(f"{text} is no number") from None


def _resources(folder, keys):
    """lsf.shared: {static resource: its type}; those with an interval come from the elim."""
    static = {}
    for name, rows in sections(os.path.join(folder, "lsf.shared"), ("Cluster", "HostType", "HostModel", "Resource")):
        if name == "Cluster":
            keys["cluster"] = table(rows, "ClusterName")[0]["ClusterName"]
        for row in table(rows, "RESOURCENAME", "TYPE", "INTERVAL", "INCREASING", "DESCRIPTION") if name == "Resource" else []:
            if row["TYPE"] not in ("Numeric", "String", "Boolean"):
                raise row["line"].bad("its type is none of Numeric, String, Boolean")
            if row["INTERVAL"]:
                number(row["line"], row["INTERVAL"], int)
                keys["indices"][row["RESOURCENAME"]] = {"value": 0.0, "description": row["DESCRIPTION"]}   # until the elim's first line
            else:
                static[row["RESOURCENAME"]] = row["TYPE"]
                keys["descriptions"][row["RESOURCENAME"]] = row["DESCRIPTION"]
    return static


def _cluster(folder, keys, static):
    path = os.path.join(folder, f"lsf.cluster.{keys['cluster']}")
    hosts = {}
    for name, rows in sections(path, ("Parameters", "ClusterAdmins", "Host", "ResourceMap")):
        if name == "Parameters":
            for key, (value, line) in settings(rows, TIMING_CLUSTER).items():
                keys["timing"][key] = number(line, value, TIMING_CLUSTER[key])
        elif name == "ClusterAdmins":
            keys["administrators"] = settings(rows, ("Administrators",))["Administrators"][0].split()
        elif name == "Host":
            for row in table(rows, "HOSTNAME"):
                hosts[row["HOSTNAME"]] = {"name": row["HOSTNAME"], "resources": {}}
        else:
            for row in rows[1:]:
                _locate(row, hosts, static, keys["indices"])
    if not hosts:
        raise Bad(f"{path}: names no host")
    keys["master"] = next(iter(hosts))
    return hosts


def _locate(line, hosts, static, indices):
    """A row of ResourceMap: "leaf (lfA@[n1 n2] lfB@[n3])", or an index of each host: "health [default]"."""
    name, _, where = line.text.partition(" ")
    if name not in static and name not in indices:
        raise line.bad("lsf.shared has no such resource")
    if where.strip() == "[default]":
        return
    found = re.findall(r"([^\s()@]+)@\[([^\]]*)\]", where)
    if name in indices or not re.fullmatch(r"\((\s*[^\s()@]+@\[[^\]]*\])+\s*\)", where.strip()):
        raise line.bad("(VALUE@[HOST …] …) is wanted")
    for value, names in found:
        for host in names.split():
            if host not in hosts:
                raise line.bad(f"{host}: no such host in its Host section")
            if name in hosts[host]["resources"]:
                raise line.bad(f"{host} has two values")
            hosts[host]["resources"][name] = number(line, value, float) if static[name] == "Numeric" else value
            if static[name] == "Numeric":
                hosts[host]["resources"][name] = int(hosts[host]["resources"][name])


def _hosts(folder, keys, hosts, unit_types):
    groups, units = {}, {}
    for name, rows in sections(os.path.join(folder, "lsb.hosts"), ("Host", "HostGroup", "ComputeUnit")):
        for row in table(rows, "HOST_NAME", "MXJ") if name == "Host" else []:
            for host in hosts.values() if row["HOST_NAME"] == "default" else [hosts.get(row["HOST_NAME"])]:
                if host is None:
                    raise row["line"].bad("no such host")
                host["slots"] = number(row["line"], row["MXJ"], int)
        for row in table(rows, "GROUP_NAME", "GROUP_MEMBER") if name == "HostGroup" else []:
            if row["GROUP_NAME"] in groups or row["GROUP_NAME"] in hosts:
                raise row["line"].bad("a host or a group has this name")
            members = row["GROUP_MEMBER"].split()
            if unknown := [one for one in members if one not in groups and one not in hosts]:
                raise row["line"].bad(f"{' '.join(unknown)}: no such host or group")
            groups[row["GROUP_NAME"]] = [one + "/" if one in groups else one for one in members]
        for row in table(rows, "NAME", "MEMBER", "TYPE") if name == "ComputeUnit" else []:
            if row["TYPE"] not in unit_types:
                raise row["line"].bad(f"COMPUTE_UNIT_TYPES of lsb.params has {' '.join(unit_types) or 'none'}")
            if unknown := [one for one in row["MEMBER"].split() if one not in groups and one not in hosts and one not in units]:
                raise row["line"].bad(f"{' '.join(unknown)}: no such host, group or unit")
            units[row["NAME"]] = row["TYPE"]
    keys["groups"] = groups


def _queues(folder, keys):
    for _, rows in sections(os.path.join(folder, "lsb.queues"), ("Queue",)):
        given = settings(rows, QUEUE_KEYS)
        text = {name: value for name, (value, _) in given.items()}
        if "QUEUE_NAME" not in given:
            raise rows[0].bad("the section has no QUEUE_NAME")
        queue = {"name": text["QUEUE_NAME"], "description": text.get("DESCRIPTION", ""), "res_req": text.get("RES_REQ", ""),
                 "rerunnable": text.get("RERUNNABLE", "no").lower() in ("y", "yes"),
                 "exclusive": text.get("EXCLUSIVE", "no").lower() in ("y", "yes"),
                 "pre_exec": text.get("PRE_EXEC", ""), "post_exec": text.get("POST_EXEC", ""), "job_starter": text.get("JOB_STARTER", ""),
                 "requeue_exit_values": re.findall(r"EXCLUDE\([^)]*\)|\d+", text.get("REQUEUE_EXIT_VALUES", ""))}
        if "PRIORITY" in given:
            queue["priority"] = number(given["PRIORITY"][1], text["PRIORITY"], int)
        for name, key in (("USERS", "users"), ("HOSTS", "hosts")):
            if name in given and text[name] != "all":
                queue[key] = text[name].split()
        keys["queues"].append(queue)


def read(folder):
    """The keys of lsf.json set by the files. Errors: Bad."""
    keys = {"timing": {}, "indices": {}, "descriptions": {}, "queues": [], "commandname": False}
    static = _resources(folder, keys)
    hosts = _cluster(folder, keys, static)
    for line in lines(os.path.join(folder, "lsf.conf")):
        name, value = line.setting()
        if name == "LSB_MBD_CONNTIMEOUT":
            keys["timing"][name] = number(line, value)
        elif name == "LSB_SUB_COMMANDNAME":
            keys["commandname"] = value.lower() == "y"
        elif name == "LSB_ESUB_METHOD":
            keys["mandatory_esub"] = value.strip('"')
        elif not name.startswith(("LSF_", "LSB_")):
            raise line.bad("no such parameter")
    unit_types = []
    for _, rows in sections(os.path.join(folder, "lsb.params"), ("Parameters",)):
        for key, (value, line) in settings(rows, (*TIMING_PARAMS, *OTHER_PARAMS)).items():
            if key in TIMING_PARAMS:
                keys["timing"][key] = number(line, value, TIMING_PARAMS[key])
            elif key == "DEFAULT_QUEUE":
                keys["default_queue"] = value.split()[0]
            elif key == "COMPUTE_UNIT_TYPES":
                unit_types = [word.rstrip("!") for word in value.split()]
    _hosts(folder, keys, hosts, unit_types)
    keys["hosts"] = list(hosts.values())
    _queues(folder, keys)
    return keys
