#!/usr/bin/env python3
"""railcheck selftest: every rule of the program fires at its fault, injected through the doubles, and at nothing less; rules
that cannot fire, fire too soon or on a sound host are found. Runs in the build directory.
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

RAILCHECK = os.path.abspath('railcheck')
NVML = os.path.abspath('tests/doubles/libnvidia-ml.so.1')


class Selftest(unittest.TestCase):
    def setUp(self):
        # In memory where there is one to write to, as railcheck's own directory usually is.
        memory = '/dev/shm' if os.access('/dev/shm', os.W_OK) else None
        scratch = tempfile.TemporaryDirectory(prefix='railyard-check-', dir=memory)
        self.addCleanup(scratch.cleanup)
        self.home = scratch.name
        self.rules('')

    def rules(self, text):
        with open(f'{self.home}/health.conf', 'w') as f:
            f.write(text)

    def run_program(self, *options, **more):
        os.makedirs(f'{self.home}/tmp', exist_ok=True)
        return subprocess.run([RAILCHECK, 'selftest', '--rules', f'{self.home}/health.conf', *options], capture_output=True,
                              text=True, timeout=300, env={**os.environ, 'TMPDIR': f'{self.home}/tmp'}, **more)

    def outcomes(self, *options, status=0):
        done = self.run_program('--json', *options)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return {one['rule']: one for one in json.loads(done.stdout)}

    def test_every_rule_fires_through_a_double_and_is_silent_below(self):
        told = subprocess.run([os.path.abspath('nodewatchd'), '--print-rules', '--rules', f'{self.home}/health.conf'],
                              capture_output=True, text=True, check=True, timeout=60).stdout
        rows = [row for row in told.split('[[rule]]')[1:] if 'on = false' not in row]
        names = [re.search(r'^name = "(.*)"$', row, re.M)[1] for row in rows]
        self.assertGreater(len(names), 60)
        outcomes = self.outcomes('--nvml', NVML)
        self.assertEqual(sorted(outcomes), sorted(names))
        for name, one in outcomes.items():
            print(f'{name:40} {"fires" if one["fires"] else "does not fire":13} {"stays silent" if one["silent"] else "is not silent":13} '
                  f'{one["through"]:14} {one["source"]}')
            self.assertEqual(one['trouble'], '', name)
            # A rule whose signal no injector can bring about is not shown to fire.
            self.assertNotEqual(one['through'], 'judge alone', f'{name}: no injector of {one["signal"]} in src/check/stage.cpp')
            self.assertNotEqual(one['source'], '', name)
        self.assertEqual(os.listdir(f'{self.home}/tmp'), [], 'it leaves files behind')

    def test_the_table_for_people(self):
        done = self.run_program('--nvml', NVML, 'ib.')
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn('each fires at its fault and is silent below it', done.stdout)
        self.assertEqual(len([line for line in done.stdout.splitlines() if line.startswith('ib.')]), len(self.outcomes('ib.')))

    def test_without_a_double_gpus_are_judged_alone(self):
        outcomes = self.outcomes('gpu.')
        self.assertEqual([name for name, one in outcomes.items() if not one['fires'] or not one['silent']], [])
        one = outcomes['gpu.pcie_width']
        self.assertEqual((one['through'], one['fires'], one['silent'], one['after_s']), ('judge alone', True, True, 60))

    def test_links_by_what_a_sweep_answers(self):
        outcomes = self.outcomes('link.') | self.outcomes('rail.')
        self.assertGreater(len(outcomes), 15)
        self.assertEqual({one['through'] for one in outcomes.values()}, {'port readings'})
        # A site's rate between two widths, and one that no fault on a link reaches.
        self.rules('[[rule]]\nname = "link.rate"\nvalue = 0.9\n[[rule]]\nname = "site.full"\nsignal = "link.discards"\n'
                   'test = "delta"\nvalue = 70000\nwindow = "1m"\n')
        self.assertEqual(self.outcomes('link.rate')['link.rate']['trouble'], '')
        self.assertIn('no finding site.full within', self.outcomes('site.', status=1)['site.full']['trouble'])

    def test_a_console_that_is_none(self):
        pipe = f'{self.home}/console'
        for make, what in ((None, 'No such file'), (lambda: open(pipe, 'w').close(), 'not a named pipe'),
                           (lambda: (os.unlink(pipe), os.mkfifo(pipe)), 'no ibsim reads its commands')):
            if make:
                make()
            done = self.run_program('--ibsim', pipe, 'link.')
            self.assertEqual(done.returncode, 2, done)
            self.assertIn(f'{pipe}: {what}', done.stderr)

    def test_a_sites_rule(self):
        self.rules('[[rule]]\nname = "site.packets"\nsignal = "ib.counter.port_rcv_packets"\ntest = "rate"\nvalue = 1000\n'
                   'window = "1m"\n[[rule]]\nname = "ib.rate"\nvalue = 0.5\n')
        self.assertEqual(self.outcomes('site.')['site.packets']['through'], 'sysfs')
        self.assertTrue(self.outcomes('ib.rate')['ib.rate']['fires'])

    def test_rules_that_are_wrong(self):
        rule = '[[rule]]\nname = "site.wrong"\nsignal = "{}"\ntest = "{}"\n{}\n'
        for signal, test, fields, trouble in (
                ('gpu.clock_events', 'bit', 'value = 0x80\nunless = 0x80', 'no finding site.wrong within'),
                ('gpu.lost', 'equal', 'value = 2', 'no finding site.wrong within'),
                ('gpu.pcie_width', 'above', 'value = 8', 'it fires on a sound host'),
                ('ib.rate', 'below', 'value = 2\nagainst = "own"', 'it fires on a sound host')):
            with self.subTest(signal):
                self.rules(rule.format(signal, test, fields))
                one = self.outcomes('--nvml', NVML, 'site.wrong', status=1)['site.wrong']
                self.assertIn(trouble, one['trouble'])
                said = self.run_program('--nvml', NVML, 'site.wrong')
                self.assertIn(f'site.wrong: {one["trouble"]}', said.stdout)
                self.assertIn('1 of 1 do not', said.stdout)

    def test_wrong_usage(self):
        for options, what in ((['--nvml', '/no/such'], '/no/such'), (['no.such.rule'], 'no.such.rule')):
            done = self.run_program(*options)
            self.assertEqual(done.returncode, 2, done)
            self.assertIn(what, done.stderr)
        self.rules('[[rule]]\nname = "gpu.lost"\nseverity = "bad"\n')
        done = self.run_program()
        self.assertEqual(done.returncode, 2)
        self.assertIn('health.conf:3: gpu.lost: severity', done.stderr)
        self.assertEqual(subprocess.run([RAILCHECK, 'selftest', '--rules', '/no/such'], capture_output=True,
                                        timeout=60).returncode, 2)


if __name__ == '__main__':
    sys.exit(unittest.main())
