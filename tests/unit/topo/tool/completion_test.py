#!/usr/bin/env python3
"""What bash completes for railtopo: every command, every option that its help has, and the formats."""
import os
import pathlib
import re
import shutil
import subprocess
import unittest

FILE = pathlib.Path(__file__).resolve().parents[4] / "etc" / "bash-completion" / "railtopo"
RAILTOPO = pathlib.Path.cwd() / "railtopo"


def usage(*words):
    return subprocess.run([RAILTOPO, *words, "--help"], capture_output=True, text=True, timeout=120, check=True).stdout


def complete(*words):
    script = f'. {FILE}; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _railtopo; printf "%s\\n" "${{COMPREPLY[@]}}"'
    done = subprocess.run([shutil.which("bash"), "-c", script, "bash", "railtopo", *words], cwd="/", env={"PATH": os.defpath},
                          capture_output=True, text=True, timeout=120, check=False)
    assert done.stderr == "", done.stderr
    return done.stdout.split()


def options(text):
    return sorted(re.findall(r"^ +(--[a-z-]+)", text, re.M))


class Completion(unittest.TestCase):
    def test_commands_and_their_options_are_those_of_the_help(self):
        commands = re.findall(r"^  ([a-z]+) ", usage(), re.M)
        self.assertIn("check", commands)
        self.assertEqual(sorted(complete("")), sorted(commands + options(usage())))
        for command in commands:
            self.assertEqual(sorted(complete(command, "--")), options(usage(command)), command)

    def test_formats_are_those_that_each_command_knows(self):
        for command in ("discover", "bless"):
            listed = re.search(r"--format\s+TEXT:\{([^}]*)\}", usage(command)).group(1)
            self.assertEqual(complete(command, "--format", ""), listed.split(","), command)
        listed = re.search(r"One of ((?:[a-z-]+, )+[a-z-]+)", " ".join(usage("export").split())).group(1)
        self.assertEqual(complete("export", "--format", "="), listed.split(", "))

    def test_words_of_a_made_fabric(self):
        self.assertEqual(complete("synth", "po"), ["pods=", "ports="])


if __name__ == "__main__":
    unittest.main()
