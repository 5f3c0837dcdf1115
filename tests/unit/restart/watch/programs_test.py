#!/usr/bin/env python3
"""nodewatchd and fabricwatchd as programs: exit statuses, readiness, signals, a sweep of a simulated fabric.

Runs in the build directory. The sweep is left out, and said so, where ibsim or opensm is missing."""
import glob
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.getcwd()
GEN_SYSFS = f'{HERE}/../../../doubles/gen_sysfs.py'
UMAD2SIM = next(iter(glob.glob('/usr/lib/*/umad2sim/libumad2sim.so')), None)


def wait_for(what, probe, seconds=20):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if probe():
            return
        time.sleep(0.02)
    raise AssertionError(f'{what} did not come within {seconds} s')


class Programs(unittest.TestCase):
    def setUp(self):
        self.home = tempfile.mkdtemp(prefix='railyard-watch-')
        self.addCleanup(shutil.rmtree, self.home)
        self.conf = f'{self.home}/railyard.conf'
        self.configure()
        subprocess.run([sys.executable, GEN_SYSFS, f'{self.home}/sys', '--hcas', '2', '--host', 'n001'], check=True)
        self.write('nvml', 'count=2\n')
        self.write('kmsg', '')

    def write(self, name, text):
        with open(f'{self.home}/{name}', 'w') as f:
            f.write(text)

    def configure(self, more=''):
        # Port 9 (discard): nobody answers, and nobody must.
        self.write('railyard.conf', f'[agent]\njob_socket = "{self.home}/job.sock"\n{more}\n[restartd]\n'
                   f'url = "http://127.0.0.1:9"\n[placement]\nfabric = "{self.home}/fabric.json"\n')

    def command(self, *options):
        host = () if '--host' in options else ('--host', 'n001')
        return [f'{BUILD}/nodewatchd', '--config', self.conf, *host, '--sysfs', f'{self.home}/sys', '--nvml',
                f'{BUILD}/tests/doubles/libnvidia-ml.so.1', '--kmsg', f'{self.home}/kmsg', *options]

    def environment(self, **more):
        return dict(os.environ, RAIL_NVML_STATE=f'{self.home}/nvml', **more)

    def run_program(self, *options):
        return subprocess.run(self.command(*options), env=self.environment(), capture_output=True, text=True, timeout=60)

    def start(self, command, **more):
        """A daemon that has said that it is ready."""
        reading, writing = os.pipe()
        log = open(f'{self.home}/log', 'w')
        self.addCleanup(log.close)
        daemon = subprocess.Popen([*command, '--ready-fd', str(writing)], env=self.environment(**more), stderr=log,
                                  pass_fds=[writing], cwd=self.home)
        self.addCleanup(lambda: (daemon.poll() is None and daemon.kill(), daemon.wait()))
        os.close(writing)
        with os.fdopen(reading) as ready:
            self.assertEqual(ready.read(), 'READY\n', self.log())
        return daemon

    def log(self, name='log'):
        with open(f'{self.home}/{name}') as f:
            return f.read()

    def test_once_prints_a_sound_host(self):
        done = self.run_program('--once', '--json')
        self.assertEqual(done.returncode, 0, done.stderr)
        said = json.loads(done.stdout)
        self.assertEqual([link['state'] for link in said['links']], ['ACTIVE', 'ACTIVE'])
        self.assertEqual(said['not_watching'], [f'fabric: {self.home}/fabric.json: No such file or directory'])

    def test_once_has_status_1_with_a_finding(self):
        self.write('nvml', 'count=2\n1.lost=1\n')
        done = self.run_program('--once')
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn('gpu.lost', done.stdout)

    def test_configuration_errors_name_the_place(self):
        for text, what in (('[agent]\nintervall = "1s"\n', 'intervall'), ('[agent]\ninterval = "1ms"\n', 'interval'),
                           ('[throttle]\nreasons = ["hot"]\n', 'hot')):
            with self.subTest(text):
                self.write('railyard.conf', text)
                done = self.run_program('--check-config')
                self.assertEqual(done.returncode, 2)
                self.assertIn(what, done.stderr)
                self.assertIn('railyard.conf', done.stderr)
        self.configure()
        self.assertEqual(self.run_program('--check-config').returncode, 0)

    def test_wrong_usage(self):
        self.assertEqual(self.run_program('--json').returncode, 2)
        self.assertEqual(self.run_program('--nonsense').returncode, 2)
        named = self.run_program('--host', 'n001; reboot')
        self.assertEqual(named.returncode, 2)
        self.assertIn('is no host name', named.stderr)
        self.write('railyard.conf', '[restartd]\nurl = "gopher://x"\n')
        self.assertEqual(self.run_program().returncode, 2)

    def test_a_life(self):
        daemon = self.start(self.command())
        self.assertTrue(os.path.exists(f'{self.home}/job.sock'))
        second = self.run_program()
        self.assertEqual(second.returncode, 1)
        self.assertIn('another nodewatchd', second.stderr)

        self.write('kmsg', 'NVRM: Xid (PCI:0000:14:00): 79, fallen off\n')
        wait_for('the finding', lambda: 'gpu.xid.79 on gpu0' in self.log())
        wait_for('the warning', lambda: 'http://127.0.0.1:9' in self.log() and 'trying on' in self.log())

        self.configure('nonsense = 1')
        daemon.send_signal(signal.SIGHUP)
        wait_for('the refusal', lambda: 'the old configuration stands' in self.log())
        self.configure('ignore_devices = ["mlx5_1"]')
        daemon.send_signal(signal.SIGHUP)
        wait_for('the reload', lambda: 'configuration read again' in self.log())
        self.assertIn('take effect at the next start', self.log())

        daemon.send_signal(signal.SIGTERM)
        self.assertEqual(daemon.wait(20), 0, self.log())
        self.assertFalse(os.path.exists(f'{self.home}/job.sock'))
        self.assertEqual(self.log().count('trying on'), 1)  # restartd's absence is told once

    def test_memory_does_not_grow_with_the_fabric(self):
        """nodewatchd's peak with 8,192 hosts, beside a fabric of two: it reads the file in blocks."""
        fabric, peaks = f'{self.home}/fabric.json', {}
        for host, shape in (('n001', 'units=1 hosts=2 rails=8'), ('n0001', 'pods=64 units=4 hosts=32 rails=8')):
            subprocess.run([f'{BUILD}/railtopo', 'synth', shape, '--out', fabric], check=True, stdout=subprocess.DEVNULL)
            daemon = self.start(self.command('--host', host))
            wait_for('its part of the file', lambda: os.path.exists(f'{self.home}/fabric-{host}'))
            with open(f'/proc/{daemon.pid}/maps') as f:
                if 'libasan' in f.read():
                    self.skipTest('a sanitizer keeps what is freed')
            with open(f'/proc/{daemon.pid}/status') as f:
                peaks[host] = int(re.search(r'^VmHWM:\s+(\d+) kB', f.read(), re.M)[1]) / 1024
            daemon.terminate()
            self.assertEqual(daemon.wait(20), 0, self.log())
        print(f'nodewatchd at its most: {peaks["n001"]:.1f} MiB with 2 hosts, {peaks["n0001"]:.1f} MiB with 8,192, whose '
              f'file has {os.path.getsize(fabric) / 2**20:.0f} MiB', file=sys.stderr)
        self.assertLess(peaks['n0001'], peaks['n001'] + 4)

    def test_after_sigkill_the_socket_is_replaced(self):
        daemon = self.start(self.command())
        daemon.kill()
        daemon.wait()
        self.assertTrue(os.path.exists(f'{self.home}/job.sock'))
        self.start(self.command())

    def test_fabricwatchd_without_a_fabric(self):
        done = subprocess.run([f'{BUILD}/fabricwatchd', '--config', self.conf, '--once'], capture_output=True, text=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn('fabric.json', done.stderr)

    @unittest.skipUnless(UMAD2SIM and shutil.which('ibsim') and shutil.which('opensm'), 'ibsim or opensm is not installed')
    def test_fabricwatchd_sweeps(self):
        fabric, net = f'{self.home}/fabric.json', f'{self.home}/net'
        subprocess.run([f'{BUILD}/railtopo', 'synth', 'units=2 hosts=2 rails=2', '--out', fabric, '--ibsim', net],
                       check=True, stdout=subprocess.DEVNULL)
        text = self.log('net')
        seat = re.findall(r'^Switch\s+\d+\s+"([^"]+)"', text, re.M)[-1]
        hcas = re.findall(r'"(H-[0-9a-f]+)"\s+#\s*"n002 ', text)
        self.assertEqual(len(hcas), 2)
        name = os.path.basename(self.home)
        umad = {'LD_PRELOAD': UMAD2SIM, 'IBSIM_SOCKNAME': name, 'SIM_HOST': seat}
        with open(f'{self.home}/ibsim.log', 'w') as log:
            ibsim = subprocess.Popen(['ibsim', '-s', net], stdin=subprocess.PIPE, stdout=log, stderr=log, text=True,
                                     env=dict(os.environ, IBSIM_SOCKNAME=name), cwd=self.home)
        self.addCleanup(lambda: (ibsim.stdin.close(), ibsim.kill(), ibsim.wait()))

        def console(line):
            ibsim.stdin.write(line + '\n')
            ibsim.stdin.flush()

        wait_for('ibsim', lambda: 'Network simulator ready' in self.log('ibsim.log'))
        subprocess.run(['opensm', '-o', '-g', '0x' + seat[2:], '-f', f'{self.home}/osm.log'], cwd=self.home,
                       env=dict(os.environ, OSM_TMP_DIR=f'{self.home}/', OSM_CACHE_DIR=f'{self.home}/', **umad),
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True, timeout=60)
        with open(self.conf, 'a') as f:
            f.write('[fabricwatchd]\ninterval = "100ms"\n')
        daemon = self.start([f'{BUILD}/fabricwatchd', '--config', self.conf], **umad)
        for hca in hcas:
            console(f'Unlink "{hca}"[1]')
        wait_for('the loss', lambda: 'n002: 0 of 2 links are up' in self.log())
        for hca in hcas:
            console(f'ReLink "{hca}"[1]')
        wait_for('the return', lambda: 'n002: all links are up again' in self.log())
        ibsim.send_signal(signal.SIGSTOP)  # the fabric hangs; the daemon still hears
        time.sleep(0.3)
        daemon.send_signal(signal.SIGTERM)
        self.assertEqual(daemon.wait(20), 0, self.log())
        ibsim.send_signal(signal.SIGCONT)


if __name__ == '__main__':
    for missing in (p for p in ('ibsim', 'opensm') if not shutil.which(p)):
        print(f'SKIP: {missing} is not installed: fabricwatchd sweeps nothing here')
    unittest.main(verbosity=2)
