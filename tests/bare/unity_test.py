#!/usr/bin/env python3
"""build-aux/unity: which sources stand in one translation unit; what comes out compiles, links and does the same.

The project is made up: a Makefile with automake's names, and sources that are in each other's way or only look so.
"""

import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "system"))
from archive import check, tests
from railcluster.testing import equal

UNITY = Path(__file__).resolve().parents[2] / "build-aux" / "unity"
# two.cpp cannot stand with one.cpp: it has a helper() of its own; three.cpp can stand with either; loud.cpp has a macro,
# open.cpp opens a namespace to all that follows. deep.cpp speaks of two.cpp's first without meaning it, and has a class made of
# what it keeps to itself.
SOURCES = {
    "src/lib.hpp": "#pragma once\nint one(), two(), three(), loud(), open(), deep();\nstruct Deep {\n    struct Part;\n};\n"
                   "namespace far { inline int away() { return 8; } inline int trio() { return 3; } }\n",
    "src/one.cpp": '#include "lib.hpp"\n#include <filesystem>\nnamespace {\nnamespace fs = std::filesystem;\nint helper() {\n'
                   '    return fs::path("/").is_absolute();\n}\n} // namespace\nint one() { return helper(); }\n',
    "src/two.cpp": '#include "lib.hpp"\nnamespace {\nconstexpr int first = 1, second = 2;\n'
                   'int helper() {\n    return first * second;\n}\n'
                   "} // namespace\nint two() { return helper(); }\n",
    "src/three.cpp": '#include "made.h"\n#include "lib.hpp"\n#include <filesystem>\nnamespace {\nnamespace fs = std::filesystem;\n} // namespace\n'
                     'int three() { return fs::path("/").is_absolute() ? far::trio() : 0; }\n',
    "src/loud.cpp": '#include "lib.hpp"\n#define FOUR 4\nint loud() { return FOUR; }\n',
    "src/open.cpp": '#include "lib.hpp"\nusing namespace far;\nint open() { return away(); }\n',
    "src/deep.cpp": '#include "lib.hpp"\n// The first of them.\nnamespace {\nstruct Inner {\n    int value = 5;\n};\n} // namespace\n'
                    'struct Deep::Part {\n    Inner inner;\n};\nint deep() { return Deep::Part{}.inner.value + (*"first" == 0); }\n',
    "tests/check.hpp": "#pragma once\n#include <cstdio>\n#include <cstdlib>\ninline void same(int is, int wanted) {\n"
                       '    if (is != wanted) std::printf("%d is not %d\\n", is, wanted), std::exit(1);\n}\n',
    "tests/a_test.cpp": '#include "check.hpp"\n#include "../src/lib.hpp"\nnamespace {\n'
                        'int sum() {\n    return one() + two() + three();\n}\n'
                        "const int a = (same(sum(), 6), 0);\n} // namespace\n",
    "tests/b_test.cpp": '#include "check.hpp"\n#include "../src/lib.hpp"\nnamespace {\n'
                        'int sum() {\n    return loud() + open() + deep();\n}\n'
                        "const int b = (same(sum(), 17), 0);\n} // namespace\n",
    "tests/main.cpp": "namespace main_of {\nint status = 0;\n}\nint main() { return main_of::status; }\n"}
MAKEFILE = """\
CXX = g++
AM_CXXFLAGS = -I. -std=c++20 -Wall -Wextra -Wshadow -Werror
LIBTOOL = libtool
srcdir = ..
noinst_LTLIBRARIES = liball.la
liball_la_SOURCES = src/one.cpp src/two.cpp src/three.cpp src/loud.cpp src/open.cpp src/deep.cpp src/lib.hpp
am_liball_la_OBJECTS = src/one.lo src/two.lo src/three.lo src/loud.lo src/open.lo src/deep.lo
unit_programs = tests/unit_all
tests_unit_all_SOURCES = tests/a_test.cpp tests/b_test.cpp tests/main.cpp tests/check.hpp
tests_unit_all_CXXFLAGS = $(AM_CXXFLAGS) -O1
am_tests_unit_all_OBJECTS = tests/unit_all-a_test.o tests/unit_all-b_test.o tests/unit_all-main.o
generated_headers = made.h
all: tests/unit_all
made.h:
\techo '#pragma once' >$@
tests/unit_all: $(am_tests_unit_all_OBJECTS) $(am_liball_la_OBJECTS)
\t@mkdir -p tests
\t$(CXX) -o $@ $(am_tests_unit_all_OBJECTS) $(patsubst %.lo,%.o,$(am_liball_la_OBJECTS))
tests/unit_all-%.o: ../tests/%.cpp
\t@mkdir -p tests
\t$(CXX) $(AM_CXXFLAGS) -c -o $@ $<
src/%.lo: ../src/%.cpp
\t@mkdir -p src
\t$(CXX) $(AM_CXXFLAGS) -c -o src/$*.o $< && touch $@
"""
# libtool, as far as it is asked for: --mode=compile of one object.
LIBTOOL = """\
#!/bin/bash
while [ "$1" != --mode=compile ]; do shift; done
shift
for word; do
    test "$before" != -o || made=$word
    before=$word
done
"${@/#$made/${made%.lo}.o}" -MT "$made" && touch "$made"
"""


class World:
    def __init__(self, folder):
        self.top = Path(folder)
        self.build = self.top / "build"
        self.build.mkdir()
        (self.top / "build-aux").mkdir()
        self.unity = self.top / "build-aux" / "unity"
        self.unity.write_text(UNITY.read_text())
        self.unity.chmod(0o755)
        for name, text in SOURCES.items():
            self.write(name, text)
        libtool = self.build / "libtool"
        libtool.write_text(LIBTOOL)
        libtool.chmod(0o755)
        (self.build / "Makefile").write_text(MAKEFILE.replace("LIBTOOL = libtool", f"LIBTOOL = {libtool}"))

    def write(self, name, text):
        path = self.top / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)

    def run(self, *command):
        told = subprocess.run(command, cwd=self.build, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        check(told.returncode == 0, f"{command} exits with {told.returncode}:\n{told.stdout}")
        return told.stdout

    def units(self):
        """Which sources stand together."""
        made = (path.read_text() for path in sorted((self.build / "unity").glob("*.cpp")))
        return [[line.rstrip('"').rpartition("/")[2] for line in text.splitlines() if line.endswith('.cpp"')] for text in made]


def test_who_stands_with_whom(folder):
    world = World(folder)
    world.run(world.unity)
    equal(world.units(), [["one.cpp", "deep.cpp"], ["two.cpp", "three.cpp"], ["a_test.cpp", "b_test.cpp"]], "who stands together")
    world.run("make")
    world.run("./tests/unit_all")
    told = world.run("make")
    check("nothing to be done" in told.lower(), f"a second make makes:\n{told}")


def test_what_changes_is_made_again(folder):
    world = World(folder)
    world.run(world.unity)
    world.run("make")
    # Its header, which no rule here names; then a source that is in the way from now on.
    world.write("src/lib.hpp", SOURCES["src/lib.hpp"].replace("return 3", "return 4"))
    told = subprocess.run("make && ./tests/unit_all", shell=True, cwd=world.build, text=True, capture_output=True, check=False)
    check("7 is not 6" in told.stdout, f"the units were not made again:\n{told.stdout}{told.stderr}")
    world.write("src/lib.hpp", SOURCES["src/lib.hpp"])
    helper = "int helper() {\n    return 3;\n}\n} // namespace"
    world.write("src/three.cpp", SOURCES["src/three.cpp"].replace("} // namespace", helper).replace("far::trio()", "helper()"))
    world.run("make")
    world.run("./tests/unit_all")
    equal(world.units(), [["one.cpp", "deep.cpp"], ["a_test.cpp", "b_test.cpp"]], "who stands together now")


if __name__ == "__main__":
    sys.exit(tests(globals()))
