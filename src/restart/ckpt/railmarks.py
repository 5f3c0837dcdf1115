# SPDX-License-Identifier: GPL-2.0-or-later
"""Step marks for Python: find the host that delays a job although all wait for each other. See railckpt.py(3).

    import railmarks

    with railmarks.Marks() as marks:             # in every process of the job
        for step in range(steps):
            compute()
            with marks.waiting():
                exchange_with_others()           # a collective, halos, a barrier
            marks.mark()

It needs railckpt.py next to it, and librailckpt, like that.
"""
from __future__ import annotations

import contextlib
import ctypes
import os
import time
from typing import Iterator, Optional

from railckpt import InternalError, LibraryError, UsageError, _ERRORS, _lib, _text

__all__ = ["Marks"]


def _marks_lib() -> ctypes.CDLL:
    lib = _lib()
    for name, result, arguments in (("marks_open", ctypes.c_int, [ctypes.POINTER(ctypes.c_void_p)]),
                                    ("mark", ctypes.c_int, [ctypes.c_void_p, ctypes.c_double]),
                                    ("marks_close", None, [ctypes.c_void_p])):
        if not hasattr(lib, f"railckpt_{name}"):
            raise LibraryError("Marks: this librailckpt is too old for them")
        function = getattr(lib, f"railckpt_{name}")
        function.restype, function.argtypes = result, arguments
    return lib


class Marks:
    """Step marks of this process, from which restartd finds the host that delays the job.

    Every process of the job has its own; no checkpoint directory is needed. Outside of a job, or without nodewatchd, they
    have no effect and cost nothing. Not thread-safe; close(), or the end of a `with` block, ends them. Raises UsageError,
    InternalError and LibraryError of railckpt."""

    def __init__(self) -> None:
        self._marks, self._pid = None, os.getpid()
        self._lib = _marks_lib()
        out = ctypes.c_void_p()
        status = self._lib.railckpt_marks_open(ctypes.byref(out))
        if status < 0 or not out.value:
            raise _ERRORS.get(status, InternalError)(_text(self._lib.railckpt_message(None)))
        self._marks = out.value
        self._waited = 0.0

    def mark(self, waited: Optional[float] = None) -> None:
        """A step has ended. waited: seconds since the last mark in which this process waited for others, or for their
        data; None: the time within waiting() blocks. Reported to nodewatchd at most every 5 s, waiting at most 100 ms."""
        if self._marks is None or self._pid != os.getpid():
            raise UsageError("these marks are closed" if self._marks is None else
                             "these marks belong to the process that began them: begin others after fork")
        waited, self._waited = self._waited if waited is None else float(waited), 0.0
        status = self._lib.railckpt_mark(self._marks, waited)
        if status < 0:
            raise _ERRORS.get(status, InternalError)(_text(self._lib.railckpt_strerror(status)))

    @contextlib.contextmanager
    def waiting(self) -> Iterator[None]:
        """A block in which this process waits for others: a collective, a barrier, an exchange of halos."""
        began = time.monotonic()
        try:
            yield
        finally:
            self._waited += time.monotonic() - began

    def close(self) -> None:
        """Ends the marks; may be called again. In a child of fork(2) the parent's marks continue."""
        marks, self._marks = self._marks, None
        if marks is not None and self._pid == os.getpid():
            self._lib.railckpt_marks_close(marks)

    def __enter__(self) -> "Marks":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        with contextlib.suppress(Exception):
            self.close()
