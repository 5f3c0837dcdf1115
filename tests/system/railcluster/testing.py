"""What test files use in addition to the cluster itself."""

from pathlib import Path

from .build import Configured

def alone(function):
    """Marks a test whose measurements other tests would disturb: nothing runs in parallel."""
    function.alone = True
    return function


# Files built only for some releases of Slurm: name prefix, conditional, option of configure.
CONDITIONAL = (("second/.libs/topology_rail.so", "SECOND_SLURM_SRC_TOPOLOGY", "--with-second-slurm-src"),
               (".libs/select_rail.so", "SLURM_SRC_SELECT", "--with-slurm-src"),
               ("src/sched/slurm/shadow/", "SLURM_SRC_SELECT", "--with-slurm-src"),
               ("second/.libs/select_rail.so", "SECOND_SLURM_SRC_SELECT", "--with-second-slurm-src"),
               (".libs/topology_rail.so", "SLURM_SRC_TOPOLOGY", "--with-slurm-src"),
               (".libs/job_submit_rail.so", "SLURM_SRC", "--with-slurm-src"),
               ("second/", "SECOND_SLURM_SRC", "--with-second-slurm-src"))


class Skip(Exception):
    """This test cannot run here; the text says why."""


def skip(reason: str) -> None:
    raise Skip(reason)


def _lacking(build: Path, name: str) -> str:
    """Why the build is not configured for a file; empty if it is."""
    if name.startswith("slurm-"):  # from --with-more-slurm-src, where a topology plugin chooses nodes
        release = name.partition("/")[0].removeprefix("slurm-")
        listed = build / "more-slurm.mk"
        if name.endswith("/select_rail.so") or not listed.exists() or f"slurm_{release}_release" not in listed.read_text():
            return f"the build has no such plugin for Slurm {release}: --with-more-slurm-src names no source that has one"
        return ""
    for begin, conditional, option in CONDITIONAL:
        if name.startswith(begin):
            configured = Configured(build)
            return "" if configured.has(conditional) else configured.why_not(option)
    return ""


def made_for(build: Path, name: str) -> bool:
    """Whether `make all` builds this file in that build."""
    return not _lacking(build, name)


def need(build: Path, names: list[str]) -> None:
    """Skips the test if the build is not configured for one of these files; a file that is merely missing is a failure."""
    if reasons := [reason for name in names if (reason := _lacking(build, name))]:
        skip(reasons[0])
    if missing := [name for name in names if not (build / name).exists()]:
        raise AssertionError(f"not built: {' '.join(missing)}: make all")


def equal(got, wanted, what: str) -> None:
    if got != wanted:
        raise AssertionError(f"{what}: {_difference(got, wanted)}")


def _difference(got, wanted) -> str:
    """Both values, or the first place where two long lists or tables differ."""
    if len(repr(got)) + len(repr(wanted)) < 400:
        return f"got {got!r}, wanted {wanted!r}"
    if isinstance(got, dict) and isinstance(wanted, dict):
        keys = [key for key in {**got, **wanted} if got.get(key) != wanted.get(key)]
        return f"in {keys[0]}: {_difference(got.get(keys[0]), wanted.get(keys[0]))}"
    if isinstance(got, list) and isinstance(wanted, list):
        for index, (one, other) in enumerate(zip(got, wanted)):
            if one != other:
                return f"at {index}: {_difference(one, other)}"
        return f"got {len(got)} entries, wanted {len(wanted)}"
    return f"got {repr(got)[:200]}, wanted {repr(wanted)[:200]}"


def holds(text: str, part: str, what: str) -> None:
    if part not in text:
        raise AssertionError(f"{what}: {part!r} is not in:\n{text}")


def check(condition, what: str) -> None:
    if not condition:
        raise AssertionError(what)
