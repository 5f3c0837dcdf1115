"""What test files use beside the cluster itself."""


class Skip(Exception):
    """This test cannot run here; the text says why."""


def skip(reason: str) -> None:
    raise Skip(reason)


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
