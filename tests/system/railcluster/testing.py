"""What test files use beside the cluster itself."""


class Skip(Exception):
    """This test cannot run here; the text says why."""


def skip(reason: str) -> None:
    raise Skip(reason)


def equal(got, wanted, what: str) -> None:
    if got != wanted:
        raise AssertionError(f"{what}: got {got!r}, wanted {wanted!r}")


def holds(text: str, part: str, what: str) -> None:
    if part not in text:
        raise AssertionError(f"{what}: {part!r} is not in:\n{text}")


def check(condition, what: str) -> None:
    if not condition:
        raise AssertionError(what)
