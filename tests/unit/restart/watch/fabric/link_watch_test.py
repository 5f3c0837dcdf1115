#!/usr/bin/env python3
"""fabricwatchd judges links by the counters of all ports of a simulated fabric: errors that ibsim's console plants are
found within one sweep, on the right link, and a sound fabric is silent.

Runs in the build directory. Left out, and said so, where ibsim or opensm is missing."""
import glob
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[4] / 'system'))
from railcluster import process  # noqa: E402
from railcluster.speed import slowness  # noqa: E402

BUILD = os.getcwd()
UMAD2SIM = next(iter(glob.glob('/usr/lib/*/umad2sim/libumad2sim.so')), None)
SHAPE = 'pods=2 units=2 hosts=4 rails=4 rate=4xHDR'  # 64 HCAs and their leaves, spines and cores


def wait_for(what, probe, daemon=None, log=None):
    """What the probe finds, unless the daemon ends."""
    return process.wait_for(probe, 120, what, [Path(log)] if log else [], every=0.02, needs=daemon and process.Pid.of(daemon.pid))


@unittest.skipUnless(UMAD2SIM and shutil.which('ibsim') and shutil.which('opensm'), 'ibsim or opensm is not installed')
class Links(unittest.TestCase):
    def setUp(self):
        self.home = tempfile.mkdtemp(prefix='railyard-links-')
        self.addCleanup(shutil.rmtree, self.home)
        fabric, net = f'{self.home}/fabric.json', f'{self.home}/net'
        subprocess.run([f'{BUILD}/railtopo', 'synth', SHAPE, '--out', fabric, '--ibsim', net], check=True,
                       stdout=subprocess.DEVNULL)
        with open(fabric) as f:
            self.fabric = json.load(f)
        with open(net) as f:
            text = f.read()
        self.limits = text.splitlines()[0].partition('start ibsim with ')[2].split()
        # ibsim names nodes by their type and GUID; the first comment behind is what people call them.
        self.ids = {}
        for node, name in re.findall(r'^(?:Switch|Hca|Ca)\s+\d+\s+"([HS]-[0-9a-f]+)"\s+#\s*"([^"]+)"', text, re.M):
            self.ids[name] = node
        seat = re.findall(r'^Switch\s+\d+\s+"([^"]+)"', text, re.M)[-1]
        name = os.path.basename(self.home)
        self.umad = {'LD_PRELOAD': UMAD2SIM, 'IBSIM_SOCKNAME': name, 'SIM_HOST': seat}
        with open(f'{self.home}/ibsim.log', 'w') as log:
            self.ibsim = subprocess.Popen(['ibsim', '-s', *self.limits, net], stdin=subprocess.PIPE, stdout=log, stderr=log,
                                          text=True, env=dict(os.environ, IBSIM_SOCKNAME=name), cwd=self.home)
        self.addCleanup(lambda: (self.ibsim.stdin.close(), self.ibsim.kill(), self.ibsim.wait()))
        wait_for('ibsim', lambda: 'Network simulator ready' in self.log('ibsim.log'))
        subprocess.run(['opensm', '-o', '-g', '0x' + seat[2:], '-f', f'{self.home}/osm.log'], cwd=self.home,
                       env=dict(os.environ, OSM_TMP_DIR=f'{self.home}/', OSM_CACHE_DIR=f'{self.home}/', **self.umad),
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True, timeout=120 * slowness())
        self.conf = f'{self.home}/railyard.conf'
        # Port 9 (discard): nobody answers, and nobody must.
        self.write('railyard.conf', '[restartd]\nurl = "http://127.0.0.1:9"\n[placement]\n'
                   f'fabric = "{fabric}"\n[fabricwatchd]\ninterval = "200ms"\n')

    def write(self, name, text):
        with open(f'{self.home}/{name}', 'w') as f:
            f.write(text)

    def log(self, name='log'):
        with open(f'{self.home}/{name}') as f:
            return f.read()

    def console(self, line):
        self.ibsim.stdin.write(line + '\n')
        self.ibsim.stdin.flush()

    def once(self, *options):
        return subprocess.run([f'{BUILD}/fabricwatchd', '--config', self.conf, '--once', *options],
                              env=dict(os.environ, **self.umad), capture_output=True, text=True, timeout=120 * slowness(), cwd=self.home)

    def findings(self):
        """Of fabricwatchd --once, by rule and link; none but those of links."""
        done = self.once('--json')
        self.assertIn(done.returncode, (0, 1), done.stderr)
        return json.loads(done.stdout)

    def start(self):
        """fabricwatchd, once it has read all counters."""
        with open(f'{self.home}/log', 'w') as log:
            daemon = subprocess.Popen([f'{BUILD}/fabricwatchd', '--config', self.conf], stderr=log, cwd=self.home,
                                      env=dict(os.environ, **self.umad))
        # Not killed: its children take away what ibsim's library has put into the folder.
        self.addCleanup(lambda: (daemon.poll() is None and daemon.terminate(), daemon.wait(60)))
        self.hear(daemon, 'the counters', lambda: re.search(r'counters: all \d+ ports answer', self.log()))
        return daemon

    def hear(self, daemon, what, probe):
        """Waits for what the daemon logs."""
        return wait_for(what, probe, daemon, f'{self.home}/log')

    def test_a_sound_fabric_is_silent(self):
        done = self.once()
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        ports = re.search(r'^counters of (\d+) of (\d+) ports read$', done.stdout, re.M)
        self.assertEqual(ports[1], ports[2])
        self.assertGreater(int(ports[1]), 300)
        self.assertEqual(self.findings()['findings'], [])

    def test_planted_errors_are_found_on_their_link(self):
        daemon = self.start()
        host, leaf, spine = self.ids['n003 mlx5_1'], self.ids['leaf-su1-r1'], self.ids['leaf-su2-r0']
        planted = [(f'"{host}"[1] PortCounters.SymbolErrorCounter=40', 'link.symbol_errors', 'n003 mlx5_1:1', 'n003'),
                   (f'"{leaf}"[2] PortCounters.PortRcvErrors=9000', 'link.receive_errors', 'leaf-su1-r1 port 2', 'n002'),
                   (f'"{spine}"[5] PortCounters.LocalLinkIntegrityErrors=3', 'link.integrity_errors', 'leaf-su2-r0 port 5',
                    'n[005-008]')]
        for line, rule, end, hosts in planted:
            self.console('PerformanceSet ' + line)
            told = self.hear(daemon, rule, lambda: re.search(rf'info: ({rule} on .*)', self.log()))[1]
            self.assertIn(end, told)
            self.assertIn('(warn)', told)
            self.assertTrue(told.endswith(f'; hosts behind it: {hosts}'), told)
        # Each once, and nothing else.
        began = re.findall(r'info: ((?:link|rail)\.\S+) on ', self.log())
        self.assertEqual(sorted(began), sorted(rule for _, rule, _, _ in planted))
        daemon.send_signal(signal.SIGTERM)
        self.assertEqual(daemon.wait(20 * slowness()), 0, self.log())

    def test_counters_are_not_cleared(self):
        host = self.ids['n003 mlx5_1']
        self.console(f'PerformanceSet "{host}"[1] PortCounters.SymbolErrorCounter=40')
        self.assertEqual(self.findings()['findings'], [])  # what was there before is nobody's growth
        subprocess.run([f'{BUILD}/railtopo', 'discover', '--live', '--out', f'{self.home}/live.json'], check=True,
                       env=dict(os.environ, **self.umad), capture_output=True, timeout=60 * slowness())
        live = {hca['guid']: hca for one in json.loads(self.log('live.json'))['hosts'] for hca in one['hcas']}
        lid = live['0x' + host[2:]]['ports'][0]['lid']
        counters = subprocess.run(['perfquery', str(lid), '1'], env=dict(os.environ, **self.umad), capture_output=True,
                                  text=True, timeout=60)
        self.assertRegex(counters.stdout, r'SymbolErrorCounter:\.+40\n')

    def test_ports_that_do_not_answer_are_told(self):
        """Every question to a host's HCA is lost; what the sweep of the fabric asks is not."""
        daemon = self.start()
        host = self.ids['n003 mlx5_1']
        for attribute in (0x12, 0x1d):
            self.console(f'Error "{host}"[1] 100 {attribute}')
            self.hear(daemon, 'the silence', lambda: 'counters: 1 of ' in self.log())
        self.console(f'Error "{host}"[1] 0')
        self.hear(daemon, 'its end', lambda: len(re.findall('counters: all', self.log())) > 1)
        self.assertNotIn('links are not judged', self.log())
        daemon.send_signal(signal.SIGTERM)
        self.assertEqual(daemon.wait(20 * slowness()), 0, self.log())

    def test_rules_of_a_site(self):
        self.write('health.conf', '[[rule]]\nname = "link.integrity_errors"\nseverity = "evict"\n')
        done = self.once()
        self.assertEqual(done.returncode, 2)
        self.assertIn('health.conf:3: link.integrity_errors: severity: is info or warn, of a signal of the fabric', done.stderr)
        self.write('health.conf', '[[rule]]\nname = "link.integrity_errors"\nseverity = "info"\n')
        daemon = self.start()
        self.console(f'PerformanceSet "{self.ids["leaf-su1-r1"]}"[2] PortCounters.LocalLinkIntegrityErrors=3')
        self.hear(daemon, 'the rule of the site', lambda: re.search(r'link\.integrity_errors on .*\(info\)', self.log()))
        self.write('health.conf', '[[rule]]\nname = "link.integrity_errors"\nserverity = "warn"\n')
        daemon.send_signal(signal.SIGHUP)
        wait_for('the refusal', lambda: 'health.conf:3: link.integrity_errors: unknown key serverity' in self.log())
        self.assertIn('the old configuration stands', self.log())

    def test_without_counters(self):
        with open(self.conf, 'a') as f:
            f.write('counters = false\n')
        done = self.once('--json')
        self.assertEqual(done.returncode, 0, done.stderr)
        said = json.loads(done.stdout)
        self.assertNotIn('counters', said)
        self.assertNotIn('findings', said)


if __name__ == '__main__':
    for missing in (p for p in ('ibsim', 'opensm') if not shutil.which(p)):
        print(f'SKIP: {missing} is not installed: no counters are read here')
    unittest.main(verbosity=2)
