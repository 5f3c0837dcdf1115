"""The stages of tests/run, with true counts: each Catch2 test case, script and system test is one test.

Usage: tests/run [--all [--resume] | --changed [REV] | --only PATTERN] [--learn] [--build DIR | --cold]

Without an option it is the gate, which every commit must pass. tests/tests.map lists its tests, with the reasons.
    --all            every test; --resume skips those that have passed and cover no file that has changed since
    --changed [REV]  the tests that cover a file that differs from REV (default HEAD)
    --only PATTERN   the tests whose STAGE:NAME in tests/tests.map contains PATTERN; if none, the Catch2 cases that contain it
    --learn          writes the duration of each test to tests/tests.map
    --cold           in a copy of the sources, with separate caches and build directory, all removed at the end: like a
                     machine that has never run this before
Each stage writes its output to BUILD/logs and shows it on failure. A gate or --all that passed at a commit adds a line to
BUILD/gate-passed, each test that passed one to BUILD/tests-passed.
"""

import argparse
import os
import subprocess
import sys
import tarfile
import tempfile
import time
import xml.etree.ElementTree
from pathlib import Path

HERE = Path(__file__).resolve().parent
SOURCE = HERE.parent
sys.path[:0] = [str(HERE), str(HERE / "system")]

import ahead  # noqa: E402
import sets  # noqa: E402
from ahead import IDLE, IDLE_SESSION  # noqa: E402
from railcluster import build as builder, deadline, speed  # noqa: E402
from railcluster.deadline import call  # noqa: E402
from railcluster.fresh import Fresh  # noqa: E402
from railcluster.process import Pid, leave_on_sigterm, tail  # noqa: E402

# Deadlines in seconds, many times the usual duration. What hangs is reported, killed and counts as a failure; scripts of make
# check have deadlines from tests/deadline, system tests from tests/system/run.
SECONDS = {"unit": 1800, "fuzz": 900, "firstday": 900}
FUZZ = "tests/fuzz/run"


class Results:
    """What passed, failed and was skipped, in order; and the duration of each test."""

    def __init__(self, record=None, at=""):
        self.record, self.at = record, at  # passed tests are recorded while the tree is at this commit
        self.seconds = {}
        self.passed = 0
        self.failed = []
        self.skipped = []

    def add(self, outcome, name, why=""):
        if outcome == "pass":
            self.passed += 1
        elif outcome == "skip":
            self.skipped.append((name, why))
        else:
            self.failed.append(f"{name}: {why}" if why else name)

    def ended(self, test, seconds, passed):
        self.seconds[test] = seconds
        if passed and self.at and sets.commit() == self.at:
            self.record.add(test, self.at, seconds)

    def skips(self):
        """A line for each reason: for lack of another release of Slurm some fifty tests are skipped at once."""
        by_reason = {}
        for name, why in self.skipped:
            by_reason.setdefault(why, []).append(name)
        return [f"{names[0] if len(names) == 1 else f'{len(names)} tests, the first {names[0]}'}: {why}" for why, names in by_reason.items()]

    def summary(self):
        text = f"{self.passed} passed, {len(self.failed)} failed"
        return f"{text}, {len(self.skipped)} skipped" if self.skipped else text


def say(text):
    print(f"    {text}", flush=True)


def call_all(commands, **options):
    """The exit statuses and durations of (command, log) pairs, one per processor at a time; ends like call()."""
    waiting, children, ended = list(enumerate(commands)), {}, {}
    try:
        while waiting or children:
            while waiting and len(children) < os.cpu_count():
                number, (command, log) = waiting.pop(0)
                with open(log, "wb") as out:
                    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=out, **options)
                children[number] = child, time.monotonic()
            time.sleep(0.05)
            for number, (child, begin) in list(children.items()):
                if child.poll() is None and time.monotonic() > begin + SECONDS["unit"] * speed.slowness():
                    text = deadline.end(Pid.of(child.pid), str(commands[number][0][0]), SECONDS["unit"] * speed.slowness())
                    child.wait()
                    with open(commands[number][1], "a", encoding="utf-8") as out:
                        print(text, file=out)
                if child.poll() is not None:
                    ended[number] = children.pop(number)[0].returncode, time.monotonic() - begin
    finally:
        for child, _ in children.values():
            child.terminate()
        for child, _ in children.values():
            child.wait()
    return [ended[number] for number in range(len(commands))]


class Stages:
    def __init__(self, build, choice, results):
        self.build, self.choice, self.results = build, choice, results
        self.asan = build.with_name(build.name + "-asan")
        self.configuring = self.asan_configuring = self.asan_build = self.ahead = self.other_root = self.nvml = None

    # --- building ---

    def build_all(self):
        self.configuring = builder.start_configure(self.build, ["--enable-werror"], say, ("", "trixie"), builder.more_sources(say))
        if self.choice.any("sanitizers"):
            self.configure_sanitizers()
        if self.configuring:
            self.configuring.wait(say)
        self.other_root = self.start_other_root()
        self.nvml = self.start_nvml_header()
        builder.make(self.build, ["all"], say)
        if self.choice.any("unit") or self.choice.any("check"):
            builder.make(self.build, ["check", "TESTS=", self.check_programs()], say, "make check programs")
        slowness = speed.measure()
        os.environ[speed.VARIABLE] = f"{slowness:.2f}"
        say(f"deadlines are {slowness:.1f} times the usual, by the speed of this machine now")

    def start_other_root(self):
        """Fetches another Debian's Slurm while we compile; a test that needs it waits, or reports why it is missing."""
        if os.geteuid() != 0 or not any(map(self.choice.wants, ("firstday:24.11", *self.choice.known.named("system:slurm2411*")))):
            return None
        (self.build / "logs").mkdir(parents=True, exist_ok=True)
        with open(self.build / "logs" / "debian13-root.log", "wb") as log:
            return subprocess.Popen([*IDLE, SOURCE / "build-aux" / "debian13-root"], stdin=subprocess.DEVNULL, stdout=log,
                                    stderr=log)

    def start_nvml_header(self):
        """NVIDIA's header of two releases, from small packages; the test that needs them reports if they are missing."""
        if not self.choice.wants("check:tests/doubles/nvml_double_test.py"):
            return None
        (self.build / "logs").mkdir(parents=True, exist_ok=True)
        script = SOURCE / "build-aux" / "nvml-header"
        with open(self.build / "logs" / "nvml-header.log", "wb") as log:
            return subprocess.Popen(["timeout", "300", "sh", "-c", '"$1" bookworm; "$1" trixie', "sh", script], stdin=subprocess.DEVNULL,
                                    stdout=log, stderr=log)

    # --- unit tests ---

    def programs(self, stage, build):
        """The unit programs of a stage, the longest first: most tests are compiled once, for one stage or the other."""
        wanted = [name for name in builder.listed(build, "unit_programs") if self.choice.wants(f"{stage}:{name}")]
        return sorted(wanted, key=lambda name: -self.choice.known.seconds(f"{stage}:{name}"))

    def check_programs(self):
        """The programs that make check builds, as an argument for make."""
        left_out = set(builder.listed(self.build, "unit_programs")) - set(self.programs("unit", self.build))
        if not self.choice.wants(f"check:{FUZZ}"):
            left_out |= set(builder.listed(self.build, "fuzz_programs"))
        return "check_PROGRAMS=" + " ".join(name for name in builder.listed(self.build, "check_PROGRAMS") if name not in left_out)

    def unit(self, stage="unit", build=None, env=None, left_out=None):
        """Runs Catch2 programs of the build, one per processor at a time; each test case is a test."""
        build = build or self.build
        names = [name for name in self.programs(stage, build) if name != left_out]
        (build / "logs").mkdir(parents=True, exist_ok=True)
        pattern = [f"*{self.choice.case}*"] if self.choice.case else []
        commands = []
        for name in names:
            report = build / "logs" / f"{stage}-{Path(name).name}.xml"
            report.unlink(missing_ok=True)  # not an earlier run's result
            commands.append(([build / name, "-r", "xml", "-o", report, *pattern], report.with_suffix(".log")))
        ends = call_all(commands, env={**os.environ, **(env or {})}, cwd=build)
        for name, (command, log), (status, seconds) in zip(names, commands, ends):
            failures = len(self.results.failed)
            self.unit_program(command[0], stage, status, log, log.with_suffix(".xml"))
            self.results.ended(f"{stage}:{name}", seconds, len(self.results.failed) == failures and not pattern)

    def unit_program(self, binary, stage, status, log, report):
        try:
            cases = xml.etree.ElementTree.parse(report).getroot().iter("TestCase")
            outcomes = [(case.get("name"), case.find("OverallResult").get("success") == "true", case) for case in cases]
        except (OSError, xml.etree.ElementTree.ParseError, AttributeError) as error:
            print(tail(log, 40), flush=True)
            self.results.add("fail", f"{stage}: {binary.name}", f"exit status {status}, no full report ({error})")
            return
        failures = [(name, case) for name, success, case in outcomes if not success]
        for name, success, _ in outcomes:
            self.results.add("pass" if success else "fail", f"{stage}: {name}")
        for name, case in failures:
            print(f"--- {stage}: {name}")
            print("\n".join(line.strip() for line in case.itertext() if line.strip()), flush=True)
        if status and not failures:
            print(tail(log, 40), flush=True)
            self.results.add("fail", f"{stage}: {binary.name}", f"exit status {status} though no test case failed")

    # --- lints, golden files, doubles: every other script of make check ---

    def scripts(self):
        units = builder.listed(self.build, "unit_programs")
        return [name for name in builder.listed(self.build, "TESTS") if name not in units]

    def check(self):
        scripts = [name for name in self.scripts() if self.choice.wants(f"check:{name}")]
        if not scripts:
            return
        if self.nvml:
            self.nvml.wait()
        log = self.build / "logs" / "check.log"
        times = self.build / "logs" / "check.seconds"
        times.unlink(missing_ok=True)
        try:
            builder.Step("make check", ["make", "check", "-k", f"-j{2 * (os.cpu_count() or 1)}", "TESTS=" + " ".join(scripts), self.check_programs()], log, self.build,
                         {"MAKEFLAGS": "", "RAILYARD_SECONDS": str(times)}, lambda line: builder.left_of(scripts, log, line)).wait(say)
        except builder.Failed:
            pass  # each script reports its own result
        seconds = dict(line.rsplit(" ", 1) for line in times.read_text().splitlines()) if times.exists() else {}
        for name in scripts:
            base = self.build / name
            trs, output = base.with_suffix(".trs"), base.with_suffix(".log")
            if not trs.exists():
                trs, output = Path(f"{base}.trs"), Path(f"{base}.log")
            found = [line.split(":", 2)[2].split(None, 1)[0] for line in trs.read_text().splitlines()
                     if line.startswith(":test-result:")] if trs.exists() else []
            if not found:
                self.results.add("fail", f"check: {name}", "it left no result")
            for result in found:
                if result in ("PASS", "XFAIL"):
                    self.results.add("pass", f"check: {name}")
                elif result == "SKIP":
                    reasons = output.read_text(errors="replace").strip().splitlines() or ["no reason given"]
                    self.results.add("skip", f"check: {name}", reasons[-1 if len(reasons) == 1 else -2])
                else:
                    self.results.add("fail", f"check: {name}", result)
                    print(tail(output, 40), flush=True)
            path = next((path for path in seconds if path.endswith("/" + name)), None)
            if path:
                self.results.ended(f"check:{name}", float(seconds[path]), bool(found) and {*found} <= {"PASS", "XFAIL"})

    # --- system tests ---

    def system(self):
        if os.geteuid() != 0:
            self.results.add("skip", "system", "not root: the cluster's hosts and its Slurm need it")
            return
        runner = [sys.executable, "-B", HERE / "system" / "run"]
        listed = subprocess.run([*runner, "--list"], capture_output=True, text=True, check=True).stdout.split()
        wanted = [name for name in listed if self.choice.wants(f"system:{name}")]
        if not wanted:
            return
        logs = self.build / "logs"
        logs.mkdir(parents=True, exist_ok=True)
        names, report = logs / "system.tests", logs / "system.results"
        names.write_text("".join(f"{name}\n" for name in wanted))
        report.unlink(missing_ok=True)
        status = call([*runner, "--build", self.build, "--results", report, "--tests", names], None)  # each has its deadline
        lines = report.read_text().splitlines() if report.exists() else []
        for line in lines:
            outcome, name, seconds, *why = line.split(" ", 3)
            self.results.add(outcome, f"system: {name}", *why)
            if outcome != "skip":
                self.results.ended(f"system:{name}", float(seconds), outcome == "pass")
        if status not in (0, 1) or (status == 1 and not any(line.startswith("fail") for line in lines)):
            self.results.add("fail", "system", f"the runner ended with status {status}")

    # --- a site's first day ---

    def firstday(self):
        """Runs README's commands for a site on hosts with a real systemd; shows the intermediate output of scripts."""
        build = ["--build", self.build]
        for name, words in (("killed", ["killed_test.py"]), ("22.05", ["firstday_test.py", *build]),
                            ("24.11", ["firstday_test.py", *build, "--slurm", "24.11"])):
            test = f"firstday:{name}"
            if not self.choice.wants(test):
                continue
            log = self.build / "logs" / f"firstday-{name}.log"
            log.parent.mkdir(parents=True, exist_ok=True)
            begin = time.monotonic()
            with open(log, "wb") as out:
                status = call([sys.executable, "-B", HERE / "firstday" / words[0], *words[1:]], SECONDS["firstday"], stdout=out,
                              stderr=out)
            lines = log.read_text(errors="replace").strip().splitlines() or ["it says nothing"]
            print("\n".join(f"    {line}" for line in lines) if status in (0, 77) else "\n".join(lines), flush=True)
            outcome = {0: "pass", 77: "skip"}.get(status, "fail")
            self.results.add(outcome, f"firstday: {name}", lines[-1] if outcome != "pass" else "")
            if outcome != "skip":
                self.results.ended(test, time.monotonic() - begin, outcome == "pass")

    # --- sanitizers ---

    def sanitized_programs(self):
        """The programs that the stage builds."""
        fuzzers = builder.listed(self.asan, "fuzz_programs") if self.choice.wants(f"sanitizers:{FUZZ}") else []
        return [*self.programs("sanitizers", self.asan), *fuzzers]

    def configure_sanitizers(self):
        """Next to the other configure, since each leaves a core idle; and after that has started, which fetches Slurm's
        sources."""
        try:
            self.asan_configuring = builder.start_configure(self.asan, builder.SANITIZED, say, using=builder.sanitizing_compilers(),
                                                            what="configure with sanitizers")
        except builder.Failed:
            pass  # the stage itself reports it

    def start_sanitizers(self):
        """Builds in the background, in idle time, of which the other stages leave most."""
        try:
            if self.asan_configuring:
                self.asan_configuring.wait(lambda text: None)  # it has had all the time of the build
            programs = self.sanitized_programs()
            self.ahead = ahead.Ahead(self.asan, self.asan / "logs" / "sanitizers-ahead.xml")
            then = self.ahead.wrapper() if ahead.PROGRAM in programs and not self.choice.case else []
            self.asan_build = builder.start_make(self.asan, programs, "make with sanitizers", [*IDLE_SESSION, *then])
        except builder.Failed:
            pass  # the stage itself reports it

    def sanitizers(self):
        begun = self.ahead is not None and self.ahead.take(self.asan_build)
        if self.asan_build and not begun:
            self.asan_build.stop()  # needed now: the rest is built at the usual priority
        builder.configure(self.asan, builder.SANITIZED, say, using=builder.sanitizing_compilers())
        builder.make(self.asan, self.sanitized_programs(), say, "make with sanitizers")
        env = {"ASAN_OPTIONS": "detect_leaks=1:abort_on_error=0"}
        self.unit("sanitizers", self.asan, env, ahead.PROGRAM if begun else None)
        if begun:
            self.end_ahead()
        if self.choice.wants(f"sanitizers:{FUZZ}"):
            log, begin = self.asan / "logs" / "sanitizers-fuzz.log", time.monotonic()
            with open(log, "wb") as out:
                status = call([SOURCE / FUZZ], SECONDS["fuzz"], stdout=out, stderr=out, cwd=self.asan,
                              env={**os.environ, **env, "srcdir": str(SOURCE)})
            if status:
                print(tail(log, 40), flush=True)
            self.results.add("fail" if status else "pass", f"sanitizers: {FUZZ}", f"exit status {status}" if status else "")
            self.results.ended(f"sanitizers:{FUZZ}", time.monotonic() - begin, not status)

    def end_ahead(self):
        failures, test = len(self.results.failed), f"sanitizers:{ahead.PROGRAM}"
        status = self.ahead.end(SECONDS["unit"] * speed.slowness())
        self.unit_program(self.ahead.program, "sanitizers", status, self.asan_build.log, self.ahead.report)
        # The duration of the program itself was not measured.
        self.results.ended(test, self.choice.known.seconds(test), len(self.results.failed) == failures)

    # --- the release ---

    def release(self):
        begin, failures = time.monotonic(), len(self.results.failed)
        self.tarball()
        self.results.ended("release:tarball", time.monotonic() - begin, len(self.results.failed) == failures)

    def tarball(self):
        """The output of make dist can be configured and built read-only, and make install fills a DESTDIR.

        It is compiled as by packagers, file by file and without precompiled headers: this finds missing #includes.
        """
        builder.run_step("make dist", ["make", "dist"], self.build / "logs" / "dist.log", self.build, say,
                         {"MAKEFLAGS": "", "XZ_OPT": "-0"})
        tarball = max(self.build.glob("railyard-*.tar.xz"), key=lambda path: path.stat().st_mtime)
        with tempfile.TemporaryDirectory(dir=self.build) as scratch:
            folder = Path(scratch)
            with tarfile.open(tarball) as archive:
                archive.extractall(folder, filter="data")
            tarball.unlink()
            top = next(folder.iterdir())
            subprocess.run(["chmod", "-R", "a-w", top], check=True)
            try:
                (folder / "out").mkdir()
                slurm = [word for word in builder.Configured(self.build).command if word.startswith("--with-")]
                builder.run_step("configure the tarball", [top / "configure", "--enable-werror", *slurm, *builder.compilers()],
                                 self.build / "logs" / "dist-configure.log", folder / "out", say)
                # -k: reports all files that lack an #include at once.
                builder.make(folder / "out", ["-k", "all", *builder.listed(folder / "out", "unit_programs")], say, "make the tarball")
                self.results.add("pass", "release: builds from the tarball")
            except builder.Failed as error:
                print(error, flush=True)
                self.results.add("fail", "release: builds from the tarball", str(error).splitlines()[0])
            subprocess.run(["chmod", "-R", "u+w", top], check=True)
            self.install(folder / "root")

    def install(self, root):
        builder.run_step("make install", ["make", "install", f"DESTDIR={root}"], self.build / "logs" / "install.log",
                         self.build, say, {"MAKEFLAGS": ""})
        installed = {path.name for path in root.rglob("*") if path.is_file()}
        built = {path.name for path in self.build.iterdir() if path.is_file() and path.name.startswith("rail")
                 and os.access(path, os.X_OK)}
        absent = sorted(built - installed)
        self.results.add("fail" if absent or not built else "pass", "release: make install",
                         f"not installed: {' '.join(absent) or 'no program was built'}")

    # --- all ---

    def run(self):
        stages = [("unit", self.unit), ("check", self.check), ("system", self.system), ("firstday", self.firstday),
                  ("release", self.release), ("sanitizers", self.sanitizers)]
        total = time.monotonic()
        for name, stage in [("build", self.build_all), *((name, stage) for name, stage in stages if self.choice.any(name))]:
            print(f"=== {name}", flush=True)
            begin = time.monotonic()
            before = self.results.passed, len(self.results.failed), len(self.results.skipped)
            try:
                stage()
                if name == "build" and self.choice.any("sanitizers"):
                    self.start_sanitizers()
            except (builder.Failed, subprocess.CalledProcessError, OSError) as error:
                print(error, flush=True)
                self.results.add("fail", name, str(error).splitlines()[0])
            after = self.results.passed, len(self.results.failed), len(self.results.skipped)
            counts = [new - old for new, old in zip(after, before)]
            words = ", ".join(f"{count} {word}" for count, word in zip(counts, ("passed", "failed", "skipped")) if count)
            print(f"=== {name}: {words + ', ' if words else ''}{time.monotonic() - begin:.0f} s", flush=True)
            if name == "build" and self.results.failed:
                break
        self.seconds = time.monotonic() - total
        print(f"=== all: {self.seconds:.0f} s")
        if self.choice.whole() == "all":
            skipped = {name.replace(": ", ":", 1) for name, _ in self.results.skipped}
            for test in sorted(self.choice.known.entries.keys() - self.results.record.holding(self.choice.known) - skipped):
                print(f"NOT PASSED since a file that it covers has changed: {test}")
        for line in self.results.skips():
            print(f"SKIP {line}")
        for line in self.results.failed:
            print(f"FAIL {line}")
        print(self.results.summary(), flush=True)
        return 1 if self.results.failed else 0


def cold(words):
    """Runs everything again in a copy of the sources, without leftovers of earlier runs; returns its exit status."""
    with Fresh() as fresh:
        print(f"=== cold: all of it in {fresh.folder}", flush=True)
        return call([sys.executable, "-B", fresh.source / "tests" / "stages.py", *words], None, env=fresh.environment)


def main():
    parser = argparse.ArgumentParser(prog="tests/run", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--all", action="store_true", help="every test")
    which.add_argument("--changed", nargs="?", const="HEAD", metavar="REV", help="the tests that cover what differs from REV")
    which.add_argument("--only", default="", metavar="PATTERN", help="only the tests whose name holds this text")
    parser.add_argument("--resume", action="store_true", help="with --all: without those that have passed")
    parser.add_argument("--learn", action="store_true", help="write how long tests took into tests/tests.map")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--build", type=Path, default=SOURCE / "build", metavar="DIR")
    where.add_argument("--cold", action="store_true", help="with caches and a build directory of its own, removed at the end")
    args = parser.parse_args()
    if args.resume and not args.all:
        parser.error("--resume is for --all")
    leave_on_sigterm()
    try:
        if args.cold:
            return cold([word for word in sys.argv[1:] if word != "--cold"])
        return run_chosen(args)
    except (builder.Failed, sets.Refused) as error:
        print(f"tests/run: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("tests/run: interrupted", file=sys.stderr)
        return 130


def run_chosen(args):
    """Runs the requested tests, and records the results."""
    known, build, at = sets.Map(), args.build.resolve(), sets.commit()
    record = sets.Record(build)
    choice = sets.Choice(known, args, record.holding(known) if args.resume else ())
    if choice.left_out:
        print(f"=== {len(choice.left_out)} tests have passed, and nothing that they cover has changed since")
    stages = Stages(build, choice, Results(record, at))
    status = run_stages(stages)
    if args.learn:
        known.learn(stages.results.seconds)
    if choice.whole() and status == 0 and at and sets.commit() == at:
        sets.note_gate(build, choice.whole(), at, stages.seconds)
    return status


def run_stages(stages):
    try:
        return stages.run()
    finally:
        for step in (stages.configuring, stages.asan_configuring, stages.asan_build):
            if step:
                step.stop()
        for fetching in (stages.other_root, stages.nvml):
            if fetching and fetching.poll() is None:
                fetching.terminate()
                fetching.wait()


if __name__ == "__main__":
    sys.exit(main())
