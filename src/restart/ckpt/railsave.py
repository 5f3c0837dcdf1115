# SPDX-License-Identifier: GPL-2.0-or-later
"""Checkpoints of a training loop, also such as are written while it goes on: see railckpt.py(3).

    saver = railsave.Saver(railckpt.open())
    for step in range(first, steps):             # a framework's loop, which calls this from a callback
        state = compute(state)
        saver.after(step + 1, save)
    saver.finish(steps, save)

save(path) writes the state. Where it goes on when save() returns, it returns what tells when all is written: a Future, as
torch.distributed.checkpoint.async_save() does, or a Pending. The loop goes on then, and one of the next after()
publishes it, when it is written in all processes. What such a checkpoint has cost is how long the loop stood still.

It needs railckpt.py beside it.
"""
from __future__ import annotations

import contextlib
import pathlib
import time
from typing import Any, Callable, Iterator, Optional, Tuple, Type

from railckpt import Error, FencedError, PeerError, log

__all__ = ["Pending", "Saver", "steps"]


class Pending:
    """As much of a Future as a Saver needs: done() asks whether it is written in this process; result() waits for that,
    does what is left to do, and raises where it failed."""

    def __init__(self, done: Callable[[], bool], result: Callable[[], Any]) -> None:
        self.done, self.result = done, result


class Saver:
    """Takes the checkpoints of a loop, with a Handle or a Group; of a group all processes call the same.

    A checkpoint that fails is logged (logger "railckpt") and tried again, when it failed with an Error, an OSError or one
    of `failures`; only FencedError, and what else save() raises, is raised."""

    def __init__(self, ck: Any, failures: Tuple[Type[BaseException], ...] = ()) -> None:
        self._ck, self._failures = ck, (Error, OSError, *failures)
        self._writing: Optional[Any] = None
        self._step, self._held, self._beside = 0, 0.0, False
        self.saved: Optional[int] = None  # the step of the last that was published

    def after(self, step: int, save: Callable[[pathlib.Path], Any], wanted: bool = False) -> None:
        """After so many steps: publishes what has been written, and begins a checkpoint where one is due, or wanted."""
        if self._settle() and self._ck.due(wanted):
            self.now(step, save)

    def now(self, step: int, save: Callable[[pathlib.Path], Any]) -> None:
        """Begins a checkpoint, whether or not one is due, when the last one is written."""
        self._settle(wait=True)
        with self._surviving(step):
            begun = time.monotonic()
            path = self._ck.begin(step)
            try:
                written = save(path)
            except BaseException as error:  # noqa: BLE001: the other processes must hear of it
                written = _failed(error)
            goes_on = hasattr(written, "done") and hasattr(written, "result")
            self._writing = written if goes_on else Pending(lambda: True, lambda: None)
            self._step, self._held, self._beside = step, time.monotonic() - begun, False
            self._beside = not self._publish()

    def finish(self, step: int, save: Callable[[pathlib.Path], Any]) -> None:
        """At the loop's end: waits for what is being written, and saves what is in no checkpoint."""
        self._settle(wait=True)
        if self.saved != step:
            self.now(step, save)
            self._settle(wait=True)

    def _settle(self, wait: bool = False) -> bool:
        """Whether nothing is being written, which is waited for if asked."""
        with self._surviving(self._step):
            return self._writing is None or self._publish(wait)
        return True

    def _publish(self, wait: bool = False) -> bool:
        """Publishes what all processes have written; False: it is still being written."""
        begun, failed = time.monotonic(), None
        done = wait or self._writing.done()
        if done:
            try:
                self._writing.result()
            except BaseException as error:  # noqa: BLE001: raised below, when all have heard of it
                failed = error
            self._writing = Pending(lambda: True, (lambda: None) if failed is None else _failed(failed).result)
        self._held += time.monotonic() - begun
        parts = self._ck.gathered((done, failed and f"{type(failed).__name__}: {failed}"))
        troubles = [f"process {rank}: {trouble}" for rank, (_, trouble) in enumerate(parts) if trouble]
        if not troubles and not all(done for done, _ in parts):
            return False
        if troubles and not done:
            with contextlib.suppress(BaseException):  # its files are removed: nothing may write to them any more
                self._writing.result()
        self._writing = None
        if troubles:
            with contextlib.suppress(Error):  # what failed says more
                self._ck.abort()
            raise failed or PeerError(f"nothing is published, as not all parts were written: {'; '.join(troubles[:4])}")
        self._ck.commit(self._held if self._beside else None)
        self.saved = self._step
        return True

    @contextlib.contextmanager
    def _surviving(self, step: int) -> Iterator[None]:
        try:
            yield
        except FencedError:
            raise
        except self._failures as error:
            if self._ck.rank == 0:
                log.warning("checkpoint of step %d failed, the job goes on: %s", step, error)


def _failed(error: BaseException) -> Pending:
    def result() -> None:
        raise error
    return Pending(lambda: True, result)


def steps(ck: Any, first: int, end: int, save: Callable[[pathlib.Path], Any], wanted: Callable[[], bool],
          failures: Tuple[Type[BaseException], ...]) -> Iterator[int]:
    """Handle.steps() and Group.steps()."""
    saver = Saver(ck, failures)
    for step in range(first, end):
        yield step
        saver.after(step + 1, save, wanted())
    if first < end:
        saver.finish(end, save)
