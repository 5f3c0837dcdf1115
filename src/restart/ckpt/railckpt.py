# SPDX-License-Identifier: GPL-2.0-or-later
"""Complete, fenced and timely checkpoints: librailckpt for Python. See librailckpt(3) and railckpt.py(3).

    import railckpt

    with railckpt.open() as ck:                  # everything from the environment of `sbatch --ckpt-dir=DIR`
        last = ck.latest()
        state = load(last.path / "state") if last else initial()
        for step in range(last.step if last else 0, steps):
            state = compute(state)
            if ck.due():
                with ck.write(step + 1) as path: # committed at the end of the block, removed when it raises
                    save(state, path / "state")

steps() can run the loop, and follows the rule of librailckpt(3): a failed checkpoint does not stop the job, unless
this incarnation of it is fenced off.

        for step in ck.steps(last.step if last else 0, steps, save=lambda path: save(state, path / "state")):
            state = compute(state)

In a parallel program one process holds the handle, and all take part: open_group() takes a function that gathers a
value from each process in all of them, such as mpi4py's comm.allgather.

This file and railsave.py are all: copy them, as into a container. They need Python 3.8 and librailckpt.so.0, found by the
linker's ways (LD_LIBRARY_PATH, ldconfig), or in the wheel or installation that it belongs to. A handle does not survive
fork(2) in the child, where its methods raise UsageError and its end leaves the parent's checkpoint alone.
"""
from __future__ import annotations

import contextlib
import ctypes
import logging
import os
import pathlib
import sysconfig
import threading
import time
from typing import Any, Callable, Iterator, List, NamedTuple, Optional, Tuple, Type, Union

__all__ = ["BusyError", "Checkpoint", "CorruptError", "Error", "FencedError", "Group", "Handle", "InternalError",
           "LibraryError", "MissingError", "PeerError", "StepExistsError", "StorageError", "UsageError", "fsync", "open",
           "open_group"]

log = logging.getLogger("railckpt")
RETRY_PAUSE_S = 5.0  # like librailckpt's after a failed commit
MAX_STEP = 999_999_999_999


class Error(Exception):
    """Base of all errors of this module; `status` is librailckpt's number, below zero, or 0 for errors in Python."""

    status = 0


class UsageError(Error):
    """An argument, an environment variable or the order of calls makes no sense."""

    status = -1


class CorruptError(Error):
    """DIR/epoch is malformed."""

    status = -2


class MissingError(Error):
    """The checkpoint directory or the staging directory does not exist."""

    status = -3


class FencedError(Error):
    """A later incarnation of the job, or another job, owns the directory: end the process."""

    status = -4


class BusyError(Error):
    """Another process is writing a checkpoint there; retry later."""

    status = -5


class StepExistsError(Error):
    """This step has been committed before."""

    status = -6


class StorageError(Error):
    """The operating system refused: no space, no permission, an I/O error."""

    status = -7


class InternalError(Error):
    """Out of memory, or a bug in librailckpt."""

    status = -8


class LibraryError(Error):
    """librailckpt.so.0 is not found, or invalid."""


class PeerError(Error):
    """Another process of the group failed to write its part; nothing was published."""


_ERRORS = {kind.status: kind for kind in (UsageError, CorruptError, MissingError, FencedError, BusyError,
                                          StepExistsError, StorageError, InternalError)}


class Checkpoint(NamedTuple):
    """A committed checkpoint."""

    path: pathlib.Path  # its directory, absolute
    step: int
    epoch: int          # the incarnation that wrote it
    files: int          # without the manifest
    bytes: int          # of all files
    time: float         # when it was committed, seconds since 1970
    cost: float         # what it cost the job, seconds
    skipped: int        # newer ones that are damaged; Handle.message names them


class _Options(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("dir", ctypes.c_char_p), ("socket", ctypes.c_char_p),
                ("job", ctypes.c_int64), ("restart", ctypes.c_int64), ("keep", ctypes.c_uint),
                ("read_only", ctypes.c_int), ("interval_s", ctypes.c_double), ("mtbf_s", ctypes.c_double),
                ("take_over", ctypes.c_int64)]


class _Info(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("path", ctypes.c_char_p), ("step", ctypes.c_uint64),
                ("epoch", ctypes.c_uint), ("files", ctypes.c_uint), ("bytes", ctypes.c_uint64),
                ("time_s", ctypes.c_double), ("cost_s", ctypes.c_double), ("skipped", ctypes.c_uint)]


def _places() -> Iterator[str]:
    """Where to look: the linker's path, the wheel, lib folders of PREFIX if this is PREFIX/lib/.../railckpt.py."""
    here = pathlib.Path(__file__).resolve()
    yield from ("librailckpt.so.0", str(here.parent / "railckpt.libs" / "librailckpt.so.0"))
    for above in here.parents:
        if above.name in ("lib", "lib64"):
            for name in (above.name, "lib64", "lib", f"lib/{sysconfig.get_config_var('MULTIARCH') or '.'}"):
                yield str(above.parent / name / "librailckpt.so.0")
            return


_library: Optional[ctypes.CDLL] = None


def _lib() -> ctypes.CDLL:
    global _library
    if _library is not None:
        return _library
    first = ""
    for place in _places():
        try:
            lib = ctypes.CDLL(place)
            for name, result, arguments in (
                    ("open", ctypes.c_int, [ctypes.POINTER(_Options), ctypes.POINTER(ctypes.c_void_p)]),
                    ("close", None, [ctypes.c_void_p]),
                    ("due", ctypes.c_int, [ctypes.c_void_p]),
                    ("interval", ctypes.c_double, [ctypes.c_void_p]),
                    ("begin", ctypes.c_int, [ctypes.c_void_p, ctypes.c_uint64, ctypes.POINTER(ctypes.c_char_p)]),
                    ("commit", ctypes.c_int, [ctypes.c_void_p]),
                    ("abort", ctypes.c_int, [ctypes.c_void_p]),
                    ("latest", ctypes.c_int, [ctypes.c_void_p, ctypes.POINTER(_Info)]),
                    ("message", ctypes.c_char_p, [ctypes.c_void_p]),
                    ("strerror", ctypes.c_char_p, [ctypes.c_int]),
                    ("blocked", ctypes.c_int, [ctypes.c_void_p, ctypes.c_double])):
                if name == "blocked" and not hasattr(lib, "railckpt_blocked"):
                    continue  # an older library: reported by commit()
                function = getattr(lib, f"railckpt_{name}")
                function.restype, function.argtypes = result, arguments
        except (OSError, AttributeError) as error:
            first = first or str(error)
            continue
        _library = lib
        return lib
    raise LibraryError(f"{first}: install librailckpt (package librailckpt0, or railckpt's wheel), or name its folder in LD_LIBRARY_PATH")


def _text(raw: Optional[bytes]) -> str:
    return (raw or b"").decode("utf-8", "surrogateescape")


def _raw(name: str, value: Union[str, os.PathLike, None]) -> Optional[bytes]:
    raw = None if value is None else os.fsencode(value)
    if raw is not None and b"\0" in raw:  # C would use only the text before it
        raise UsageError(f"option {name}: a zero byte is not allowed in a path")
    return raw


def _number(name: str, value: Optional[int], unset: int, least: int, most: int) -> int:
    """The value for C; a number that C would interpret as another, or as unset, is an error."""
    if value is None:
        return unset
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise UsageError(f"option {name} = {value!r}: a whole number from {least} to {most} is wanted")
    return value


def _seconds(name: str, value: Optional[float]) -> float:
    if value is not None and not value > 0:
        raise UsageError(f"option {name} = {value!r}: a number of seconds above 0 is wanted")
    return 0.0 if value is None else float(value)


class _Contract:
    """Shared by a handle and a group: the blocks and the loop, based on begin, commit, abort and due."""

    rank = 0

    def begin(self, step: int) -> pathlib.Path:
        raise NotImplementedError

    def commit(self, blocked: Optional[float] = None) -> None:
        raise NotImplementedError

    def abort(self) -> None:
        raise NotImplementedError

    def due(self, wanted: bool = False) -> bool:
        raise NotImplementedError

    def close(self) -> None:
        raise NotImplementedError

    def _settle(self, failed: Optional[BaseException]) -> None:
        """Ends the checkpoint in progress after it was written (failed: the exception raised)."""
        if failed is None:
            self.commit()
        else:
            self.abort()

    @contextlib.contextmanager
    def write(self, step: int) -> Iterator[pathlib.Path]:
        """A block that writes the checkpoint of `step` into the directory it is given.

        At its end the checkpoint is committed; if it raises, nothing is published and the files are removed. All files
        must be closed by then; on a network file system each process must call fsync() for what it wrote."""
        path = self.begin(step)
        try:
            yield path
        except BaseException as error:
            with contextlib.suppress(Error):  # the block's exception is more informative
                self._settle(error)
            raise
        self._settle(None)

    def gathered(self, value: Any) -> List[Any]:
        """The value of each process that takes part."""
        return [value]

    def steps(self, first: int, end: int, save: Callable[[pathlib.Path], Any], wanted: Callable[[], bool] = bool,
              failures: Tuple[Type[BaseException], ...] = ()) -> Iterator[int]:
        """The steps from `first` below `end`; after the body of each, a checkpoint where one is due, or wanted(), and at
        the end one of what is in none.

        save(path) writes the state after that step, at once or beside the next ones (railsave.py); the checkpoint has the
        number of steps done, which is `first` of the job that goes on from it. A checkpoint that fails is logged (logger
        "railckpt") and tried again; only FencedError, and what else than an Error, an OSError or one of `failures` save()
        raises, ends the loop."""
        from railsave import steps  # which needs this module
        return steps(self, first, end, save, wanted, failures)

    def __enter__(self):
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Handle(_Contract):
    """An open checkpoint directory, as open() returns it. Methods may be called by any thread, one at a time."""

    def __init__(self, lib: ctypes.CDLL, ck: int) -> None:
        self._lib, self._ck, self._pid = lib, ck, os.getpid()
        self._lock = threading.RLock()
        self._failed = -RETRY_PAUSE_S
        self.message = _text(lib.railckpt_message(ck))  # the message of the last call, or ""

    @contextlib.contextmanager
    def _held(self) -> Iterator[int]:
        """The C handle, locked for this thread."""
        if self._pid != os.getpid():  # first: another thread may have held the lock at the fork
            raise UsageError("this handle belongs to the process that opened it: open one after fork")
        with self._lock:
            if not self._ck:
                raise UsageError("this handle is closed")
            yield self._ck

    def _call(self, name: str, *arguments: Any) -> int:
        with self._held() as ck:
            status = getattr(self._lib, f"railckpt_{name}")(ck, *arguments)
            self.message = _text(self._lib.railckpt_message(ck))
            if status < 0:
                raise _ERRORS.get(status, InternalError)(self.message or _text(self._lib.railckpt_strerror(status)))
            return status

    def due(self, wanted: bool = False) -> bool:
        """Whether a checkpoint should be written now. Cheap enough for every step; `message` says why.

        wanted: the program requests one regardless of the interval, as after a signal that its time limit is near."""
        due = self._call("due") == 1 and time.monotonic() - self._failed >= RETRY_PAUSE_S
        return due or bool(wanted)

    @property
    def interval(self) -> float:
        """The current interval, in seconds."""
        with self._held() as ck:
            return self._lib.railckpt_interval(ck)

    def latest(self) -> Optional[Checkpoint]:
        """The newest valid checkpoint, or None. The first call reads all its files and verifies their checksums."""
        info = _Info(size=ctypes.sizeof(_Info))
        with self._held():
            if self._call("latest", ctypes.byref(info)) == 1:
                return None
            return Checkpoint(pathlib.Path(os.fsdecode(info.path)), info.step, info.epoch, info.files, info.bytes,
                              info.time_s, info.cost_s, info.skipped)

    def begin(self, step: int) -> pathlib.Path:
        """Starts the checkpoint of `step`; its staging directory. write() is the same as a block."""
        step = _number("step", step, 0, 0, MAX_STEP)
        path = ctypes.c_char_p()
        with self._held():
            self._call("begin", step, ctypes.byref(path))
            return pathlib.Path(os.fsdecode(path.value or b""))

    def commit(self, blocked: Optional[float] = None) -> None:
        """Publishes the checkpoint in progress. `message` reports other problems, such as no answer from nodewatchd.

        blocked: seconds that the program was stopped, if it was written concurrently; None: the time since begin()."""
        with self._held():
            if blocked is not None:
                if not hasattr(self._lib, "railckpt_blocked"):
                    raise LibraryError("blocked: this librailckpt is too old for it")
                self._call("blocked", float(blocked))
            self._call("commit")

    def abort(self) -> None:
        """Removes the checkpoint in progress; due() is then false for 5 s."""
        self._failed = time.monotonic()
        self._call("abort")

    def close(self) -> None:
        """Frees the handle and aborts a checkpoint in progress. May be called again."""
        if self._pid != os.getpid():
            return
        with self._lock:
            ck, self._ck = self._ck, 0
            if ck:
                self._lib.railckpt_close(ck)

    def __del__(self) -> None:
        with contextlib.suppress(Exception):  # of an incomplete handle
            self.close()


class Group(_Contract):
    """One handle for all processes of a parallel program, as open_group() returns it.

    The process of rank 0 has the handle. Every method is called by all processes, in the same order, and does the same
    in all of them: it returns the same value, or raises the same error."""

    def __init__(self, rank: int, gather: Callable[[Any], List[Any]], handle: Optional[Handle]) -> None:
        self.rank, self._gather, self._handle = rank, gather, handle

    def gathered(self, value: Any) -> List[Any]:
        """The value of each process, by rank."""
        return self._gather(value)

    @property
    def message(self) -> str:
        """Like Handle.message, in process 0; "" in all others."""
        return self._handle.message if self._handle else ""

    def _first(self, act: Callable[[Handle], Any]) -> Any:
        return _agreed(self._gather, self._handle and (lambda: act(self._handle)))

    def due(self, wanted: bool = False) -> bool:
        """Like Handle.due(); also true if any process requests one. It costs one gather: if steps are short, call it
        every few steps."""
        heard = []

        def gather(value: Any) -> List[Any]:
            heard.extend(self._gather((value, bool(wanted))))
            return [value for value, _ in heard]

        due = _agreed(gather, self._handle and (lambda: self._handle.due()))
        return due or any(want for _, want in heard)

    @property
    def interval(self) -> float:
        """Like Handle.interval, in all processes."""
        return self._first(lambda ck: ck.interval)

    def latest(self) -> Optional[Checkpoint]:
        """Like Handle.latest(), in all processes."""
        return self._first(lambda ck: ck.latest())

    def begin(self, step: int) -> pathlib.Path:
        """Like Handle.begin(), in all processes."""
        return self._first(lambda ck: ck.begin(step))

    def commit(self, blocked: Optional[float] = None) -> None:
        """Waits for all processes; then like Handle.commit(), with the longest time that one of them was stopped."""
        self._settle(None, blocked)

    def abort(self) -> None:
        """Like Handle.abort(), in all processes."""
        self._first(lambda ck: ck.abort())

    def _settle(self, failed: Optional[BaseException], blocked: Optional[float] = None) -> None:
        parts = self._gather((None if failed is None else f"{type(failed).__name__}: {failed}", blocked))
        troubles = [f"process {rank}: {trouble}" for rank, (trouble, _) in enumerate(parts) if trouble is not None]
        if not troubles:
            self._first(lambda ck: ck.commit(max((held for _, held in parts if held is not None), default=None)))
            return
        self._first(lambda ck: ck.abort())
        if failed is None:
            raise PeerError(f"nothing is published, as not all parts were written: {'; '.join(troubles[:4])}")

    def close(self) -> None:
        """Frees the handle of process 0; does not wait for the others."""
        if self._handle:
            self._handle.close()


def _agreed(gather: Callable[[Any], List[Any]], act: Optional[Callable[[], Any]]) -> Any:
    """Returns or raises in all processes what `act` does in process 0; `act` is None in the others."""
    value, failed = None, None
    if act:
        try:
            value = act()
        except Exception as error:  # noqa: BLE001: the others wait for an answer
            failed = error
    if failed is not None and not isinstance(failed, Error):
        gather((None, InternalError, f"{type(failed).__name__} in process 0: {failed}"))
        raise failed
    value, kind, words = gather((value, type(failed) if failed else None, str(failed) if failed else ""))[0]
    if kind is not None:
        raise kind(words)
    return value


def open(directory: Union[str, os.PathLike, None] = None, *, socket: Union[str, os.PathLike, None] = None,
         job: Optional[int] = None, restart: Optional[int] = None, keep: Optional[int] = None, read_only: bool = False,
         interval: Optional[float] = None, mtbf: Optional[float] = None, take_over: Optional[int] = None) -> Handle:
    """Opens the checkpoint directory and, unless read_only, claims it for this incarnation of the job.

    Arguments that are None come from the environment, see railckpt(1). Times are seconds; job and take_over are job
    numbers (0: not in a job); socket "": no agent. `message` of the handle names the previous owner of the directory.
    Raises UsageError, CorruptError, MissingError, FencedError, BusyError, StorageError, InternalError, LibraryError."""
    options = _Options(size=ctypes.sizeof(_Options), dir=_raw("directory", directory), socket=_raw("socket", socket),
                       job=_number("job", job, -1, 0, 2**63 - 1), restart=_number("restart", restart, -1, 0, 9999),
                       keep=_number("keep", keep, 0, 1, 2**32 - 1), read_only=int(bool(read_only)),
                       interval_s=_seconds("interval", interval), mtbf_s=_seconds("mtbf", mtbf),
                       take_over=_number("take_over", take_over, -1, 0, 2**63 - 1))
    lib, out = _lib(), ctypes.c_void_p()
    status = lib.railckpt_open(ctypes.byref(options), ctypes.byref(out))
    if status < 0 or not out.value:
        raise _ERRORS.get(status, InternalError)(_text(lib.railckpt_message(None)))
    return Handle(lib, out.value)


def open_group(rank: int, gather: Callable[[Any], List[Any]], directory: Union[str, os.PathLike, None] = None,
               **options: Any) -> Group:
    """The same for all processes of a parallel program, each of which calls it with its rank.

    gather(value) is called by all and returns the list of all values, by rank: comm.allgather of mpi4py, or with
    torch.distributed

        def gather(value):
            values = [None] * dist.get_world_size()
            dist.all_gather_object(values, value)
            return values

    Raises what open() raises, in all processes."""
    held: List[Handle] = []
    _agreed(gather, (lambda: held.append(open(directory, **options))) if rank == 0 else None)
    return Group(rank, gather, held[0] if held else None)


def fsync(path: Union[str, os.PathLike]) -> None:
    """Flushes a file, or all files below a directory, to the storage: on a network file system each host must do this
    for its own files before the checkpoint is committed."""
    path = pathlib.Path(path)
    for each in sorted(path.rglob("*")) if path.is_dir() else [path]:
        if each.is_file() and not each.is_symlink():
            descriptor = os.open(each, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
