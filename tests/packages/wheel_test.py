#!/usr/bin/env python3
"""The wheel of railckpt, made of the librailckpt of the build directory, which this runs in: pip installs it into a
virtual environment, and there it brings its own library."""
import base64
import csv
import hashlib
import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile
import unittest
import zipfile

SOURCE = pathlib.Path(__file__).resolve().parents[2]
LIBRARY = pathlib.Path.cwd() / ".libs/librailckpt.so.0"
MODULES = ("railckpt.py", "railmarks.py", "railsave.py", "railcallbacks.py")
USE = """
import pathlib, sys, tempfile
import railcallbacks, railckpt, railmarks
folder = pathlib.Path(tempfile.mkdtemp(dir=sys.argv[1]))
with railckpt.open(folder, socket="", job=12, restart=0) as ck:
    with ck.write(7) as path:
        (path / "state").write_text("x")
    assert ck.latest().step == 7, ck.latest()
    list(ck.steps(7, 9, lambda path: (path / "state").write_text("x")))
    assert ck.latest().step == 9, ck.latest()
with railmarks.Marks() as marks:
    marks.mark()
print(railckpt.__file__)
print(*{line.split()[-1] for line in open("/proc/self/maps") if "librailckpt" in line})
"""


def made(folder, **more):
    words = [SOURCE / "build-aux/make-wheel", "1.2.3", LIBRARY, *(SOURCE / "src/restart/ckpt" / name for name in MODULES), folder]
    done = subprocess.run(words, capture_output=True, text=True, env={**os.environ, **more}, check=False)
    return done, [pathlib.Path(line) for line in done.stdout.split()]


def needs_sanitizer():
    return "san.so" in subprocess.run(["ldd", LIBRARY], capture_output=True, text=True, check=True).stdout


class Wheel(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="railyard-wheel-")
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        done, files = made(self.folder / "made")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.wheel, self.source = files

    def used(self, python, **more):
        """The module and the library that this Python uses, with nothing of ours in its environment."""
        env = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", **more}
        done = subprocess.run([python, "-B", "-c", USE, self.folder], env=env, cwd="/", capture_output=True, text=True, timeout=300, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return [pathlib.Path(line) for line in done.stdout.splitlines()]

    def check_use(self, python, place, **more):
        module, library = self.used(python, **more)
        self.assertTrue(module.is_relative_to(place), module)
        self.assertEqual(library, module.parent / "railckpt.libs/librailckpt.so.0")

    def test_the_record_names_every_file_with_its_checksum(self):
        with zipfile.ZipFile(self.wheel) as archive:
            rows = list(csv.reader(archive.read("railckpt-1.2.3.dist-info/RECORD").decode().splitlines()))
            self.assertEqual(sorted(row[0] for row in rows), sorted(archive.namelist()))
            for name, checksum, size in rows[:-1]:
                content = archive.read(name)
                told = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip("=")
                self.assertEqual((checksum, int(size)), (f"sha256={told}", len(content)), name)

    def test_the_same_files_give_the_same_bytes(self):
        _, again = made(self.folder / "again")
        for one, other in zip((self.wheel, self.source), again):
            self.assertEqual(one.read_bytes(), other.read_bytes(), one.name)

    @unittest.skipIf(needs_sanitizer(), "the library is built with a sanitizer, which its program must begin with")
    def test_unpacked_it_works(self):
        with zipfile.ZipFile(self.wheel) as archive:
            archive.extractall(self.folder / "here")
        self.check_use(sys.executable, self.folder, PYTHONPATH=str(self.folder / "here"))

    @unittest.skipIf(needs_sanitizer(), "the library is built with a sanitizer, which its program must begin with")
    def test_pip_installs_it_into_a_virtual_environment(self):
        place = self.folder / "venv"
        done = subprocess.run([sys.executable, "-m", "venv", place], capture_output=True, text=True, timeout=300, check=False)
        if done.returncode:
            self.skipTest(f"no virtual environments (python3-venv): {(done.stdout + done.stderr).strip()}")
        pip = [place / "bin/python", "-m", "pip", "--disable-pip-version-check", "install", "--no-index", "--no-cache-dir"]
        done = subprocess.run([*pip, self.wheel], capture_output=True, text=True, timeout=300, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.check_use(place / "bin/python", place)
        # The source in its place, without setuptools and network: it uses a librailckpt that is installed.
        for words in (["uninstall", "-y", "railckpt", "setuptools"], ["install", "--no-index", "--no-cache-dir", str(self.source)]):
            done = subprocess.run([*pip[:4], *words], capture_output=True, text=True, timeout=300, check=False)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        module, library = self.used(place / "bin/python", LD_LIBRARY_PATH=str(LIBRARY.parent))
        self.assertTrue(module.is_relative_to(place), module)
        self.assertEqual(library, LIBRARY.resolve())

    def test_a_source_distribution_can_be_made_of_one(self):
        with tarfile.open(self.source) as archive:
            archive.extractall(self.folder)
        program = "import railckpt_build, sys; print(railckpt_build.build_sdist(sys.argv[1]))"
        done = subprocess.run([sys.executable, "-B", "-c", program, self.folder / "made"], cwd=self.folder / "railckpt-1.2.3", capture_output=True,
                              text=True, check=False)
        self.assertEqual((done.stdout, done.stderr), ("railckpt-1.2.3.tar.gz\n", ""))
        with tarfile.open(self.folder / "made/railckpt-1.2.3.tar.gz") as again:
            self.assertIn("railckpt-1.2.3/railckpt_build.py", again.getnames())

    def test_the_source_distribution_holds_the_modules_and_how_to_build_them(self):
        with tarfile.open(self.source) as archive:
            names = sorted(archive.getnames())
            build = archive.extractfile("railckpt-1.2.3/pyproject.toml").read().decode()
        self.assertEqual(names, sorted(f"railckpt-1.2.3/{name}" for name in ("COPYING", "PKG-INFO", "pyproject.toml", "railckpt_build.py", *MODULES)))
        self.assertIn('build-backend = "railckpt_build"', build)
        self.assertIn('version = "1.2.3"', build)

    def test_what_is_missing_is_named(self):
        done = subprocess.run([SOURCE / "build-aux/make-wheel", "1", "/nonexistent/librailckpt.so.0", "x.py", self.folder], capture_output=True,
                              text=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr, "make-wheel: /nonexistent/librailckpt.so.0: is not there: make builds it\n")


if __name__ == "__main__":
    unittest.main()
