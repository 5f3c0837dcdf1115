"""Resource requirements as far as the transcripts use them: select[] over indices and resources, order[], span[]."""
import functools
import re

SECTION = re.compile(r"\s*(select|order|span|rusage|same)\[([^\[\]]*)\]")
BUILT_IN = {"r15s", "r1m", "r15m", "ut", "pg", "io", "ls", "it", "tmp", "swp", "mem", "ncpus", "ndisks", "maxmem",
            "maxswp", "maxtmp", "cpuf", "slots"}
WORDS = {"type", "model", "status", "hname"}
TERM = re.compile(r"\s*([A-Za-z_]\w*)\s*(==|!=|>=|<=|>|<|=)\s*([\w.+-]+)\s*$")


class BadRequirement(ValueError):
    pass


@functools.lru_cache(maxsize=4096)
def parse(text, known):
    """(select text, order text, span text, span's ptile or 0, span on one host); known is a frozenset of names."""
    parts, rest = {}, text
    if text.strip() and not SECTION.match(text) and "[" not in text.split()[0]:
        # A bare selection may come first: "planned>=0 span[ptile=8]".
        found = re.match(r"([^\[\]]*?)(\s+\w+\[.*)?$", text.strip())
        if not found:
            raise BadRequirement(text)
        parts["select"], rest = found[1], found[2] or ""
    while rest.strip():
        found = SECTION.match(rest)
        if not found or found[1] in parts:
            raise BadRequirement(text)
        parts[found[1]] = found[2].strip()
        rest = rest[found.end():]
    ptile = one_host = 0
    if "span" in parts:
        found = re.fullmatch(r"(ptile|hosts)=(\d+)", parts["span"])
        if not found or (found[1] == "hosts" and found[2] != "1") or int(found[2]) < 1:
            raise BadRequirement(text)
        ptile, one_host = (int(found[2]), 0) if found[1] == "ptile" else (0, 1)
    if "select" in parts:
        terms(parts["select"], known)
    return parts.get("select", ""), parts.get("order", ""), parts.get("span", ""), ptile, bool(one_host)


@functools.lru_cache(maxsize=4096)
def terms(select, known):
    """The terms of a selection, joined by && only, as (name, operator, value)."""
    found = []
    for piece in select.split("&&"):
        piece = piece.strip()
        while piece.startswith("(") and piece.endswith(")"):
            piece = piece[1:-1].strip()
        match = TERM.match(piece)
        if not match or match[1] not in known | BUILT_IN | WORDS:
            raise BadRequirement(select)
        found.append((match[1], match[2], match[3]))
    return tuple(found)


def holds(select, host, known):
    """Whether the selection holds on this host, with the values of its lim."""
    if not select:
        return True
    for name, operator, wanted in terms(select, known):
        if name in WORDS:
            continue
        have = host.indices.get(name, host.resources.get(name, 0))
        try:
            have, wanted = float(have), float(wanted)
        except (TypeError, ValueError):
            have, wanted = str(have), str(wanted)
        if not {"==": have == wanted, "=": have == wanted, "!=": have != wanted, ">": have > wanted, "<": have < wanted,
                ">=": have >= wanted, "<=": have <= wanted}[operator]:
            return False
    return True


def combined(queue_text, job_text, has_hosts, known):
    """The Combined: and Effective: of bjobs -l, and the selection for scheduling."""
    queue_select = parse(queue_text, known)[0] if queue_text else ""
    select, order, span, _, _ = parse(job_text, known)
    kind = "type == any" if has_hosts else "type == local"
    if select:
        kind = f"({select}) && ({kind})"
    if queue_select and job_text:
        kind = f"({kind}) && ({queue_select})"
    elif queue_select:
        kind = f"({queue_select}) && ({kind})"
    return f"select[{kind}] order[{order or 'r15s:pg'}]" + (f" span[{span}]" if span else "")
