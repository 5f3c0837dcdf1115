#!/usr/bin/env python3
"""nodewatchd and fabricwatchd as programs: exit statuses, readiness, signals, a sweep of a simulated fabric.

Runs in the build directory. The sweep is left out, and said so, where ibsim or opensm is missing."""
import glob
import json
import os
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.parse
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, f'{HERE}/../../../system')
from railcluster import process  # noqa: E402
from railcluster.speed import slowness  # noqa: E402

BUILD = os.getcwd()
GEN_SYSFS = f'{HERE}/../../../doubles/gen_sysfs.py'
UMAD2SIM = next(iter(glob.glob('/usr/lib/*/umad2sim/libumad2sim.so')), None)


def free_port():
    with socket.socket() as probe:
        probe.bind(('127.0.0.1', 0))
        return probe.getsockname()[1]


def wait_for(what, probe, seconds=20):
    process.wait_for(probe, seconds, what, every=0.02)


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
        self.addCleanup(os.close, reading)
        said = b''
        while select.select([reading], [], [], 60 * slowness())[0]:
            block = os.read(reading, 100)
            if not block:
                self.assertEqual(said, b'READY\n', self.log())
                return daemon
            said += block
        raise AssertionError(f'{said} and no end in time: a child of the daemon has the descriptor, too\n{self.log()}')

    def log(self, name='log'):
        with open(f'{self.home}/{name}') as f:
            return f.read()

    def test_the_unit_leaves_devices_open(self):
        """GPUs and the kernel log: ProtectClock closes them in systemd 245 to 251, the others always."""
        with open(f'{HERE}/../../../../etc/systemd/nodewatchd.service.in') as unit:
            settings = [line.split('=')[0] for line in unit if not line.startswith('#')]
        for setting in ('ProtectClock', 'PrivateDevices', 'DevicePolicy', 'DeviceAllow', 'ProtectKernelLogs'):
            self.assertNotIn(setting, settings)

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

    def test_once_prints_rules_beside_what_they_look_at(self):
        self.write('nvml', 'count=2\n1.lost=1\n')
        done = self.run_program('--once', '--signals')
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertRegex(done.stdout, r'(?m)^gpu1 +gpu\.lost +1 .*finding since .* fatal +gpu\.lost ')
        self.assertRegex(done.stdout, r'(?m)^gpu0 +gpu\.lost +0 .* ok ')
        self.assertIn('not watching fabric: ', done.stdout)
        told = json.loads(self.run_program('--once', '--signals', '--json').stdout)
        self.assertIn({'finding'}, [{row['state']} for row in told['rows'] if row['component'] == 'gpu1'])
        self.assertEqual(self.run_program('--signals').returncode, 2)

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

    def test_rules_of_a_site(self):
        self.write('nvml', 'count=2\n1.lost=1\n')
        severity = lambda: json.loads(self.run_program('--once', '--json').stdout)['findings'][0]['severity']
        self.assertEqual(severity(), 'fatal')
        self.assertEqual(self.run_program('--check-config').stdout, f'configuration: {self.conf}\n')
        self.write('health.conf', '[[rule]]\nname = "gpu.lost"\nseverity = "info"\n')
        self.assertEqual(severity(), 'info')
        self.assertEqual(self.run_program('--check-config').returncode, 0)
        printed = self.run_program('--print-rules')
        self.assertEqual(printed.returncode, 0, printed.stderr)
        self.assertIn('name = "gpu.lost"\nsignal = "gpu.lost"\ntest = "equal"\nvalue = 1\nseverity = "info"\n', printed.stdout)
        self.write('printed.conf', printed.stdout)
        again = self.run_program('--print-rules', '--rules', f'{self.home}/printed.conf')
        self.assertEqual(again.stdout, printed.stdout)

        self.write('health.conf', '[[rule]]\nname = "gpu.lost"\nseverity = "bad"\n')
        for options in ((), ('--check-config',), ('--once',), ('--print-rules',)):
            done = self.run_program(*options)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(f'{self.home}/health.conf:3: gpu.lost: severity: "bad" is none of info, warn, evict, fatal', done.stderr)
        self.assertEqual(self.run_program('--rules', f'{self.home}/none').returncode, 2)

    def test_rules_are_read_again(self):
        daemon = self.start(self.command())
        # What was logged before it watches is not of this start.
        wait_for('its sources', lambda: all(f'watching {name}\n' in self.log() for name in ('kmsg', 'nvml', 'infiniband')))
        self.write('kmsg', 'NVRM: Xid (PCI:0000:14:00): 79, fallen off\n')
        wait_for('the finding', lambda: re.search(r'gpu.xid.79 on gpu0: .*\(fatal\)', self.log()))
        self.write('health.conf', '[[rule]]\nname = "gpu.xid.79"\nserverity = "info"\n')
        daemon.send_signal(signal.SIGHUP)
        wait_for('the refusal', lambda: 'health.conf:3: gpu.xid.79: unknown key serverity' in self.log()
                 and 'the old configuration stands' in self.log())
        # A counter that no rule looked at before is read from now on.
        self.write('health.conf', '[[rule]]\nname = "gpu.xid.79"\nseverity = "info"\n[[rule]]\nname = "site.packets"\n'
                   'signal = "ib.counter.port_rcv_packets"\ntest = "delta"\nvalue = 10\nwindow = "1m"\n')
        daemon.send_signal(signal.SIGHUP)
        wait_for('the new severity', lambda: re.search(r'gpu.xid.79 on gpu0: .*\(info\)', self.log()))
        packets = 0

        def grown():
            nonlocal packets
            packets += 100
            subprocess.run([sys.executable, GEN_SYSFS, f'{self.home}/sys', '--set', f'mlx5_1.port_rcv_packets={10**6 + packets}'],
                           check=True)
            return 'site.packets on mlx5_1:1: port_rcv_packets grew by' in self.log()

        wait_for('the new rule', grown)
        self.assertNotIn('next start', self.log())

    def scraped(self):
        """The page by the Unix socket."""
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(20)
            client.connect(f'{self.home}/metrics.sock')
            client.sendall(b'GET /metrics HTTP/1.0\r\n\r\n')
            answer = b''.join(iter(lambda: client.recv(65536), b'')).decode()
        head, _, page = answer.partition('\r\n\r\n')
        self.assertTrue(head.startswith('HTTP/1.1 200 '), head)
        return page

    def test_metrics_are_scraped(self):
        port = free_port()
        self.configure(f'metrics_listen = "127.0.0.1:{port}"')
        self.start(self.command())
        self.write('nvml', 'count=2\n1.lost=1\n')
        wait_for('kmsg', lambda: 'watching kmsg' in self.log())
        self.write('kmsg', 'NVRM: Xid (PCI:0000:14:00): 79, fallen off\n')
        for line in (r'railyard_xid_total{component="gpu0",xid="79"} 1', r'railyard_findings{rule="gpu.lost",severity="fatal"} 1',
                     r'node_infiniband_link_downed_total{device="mlx5_1",port="1"} 0', r'railyard_source_watched{source="nvml"} 1'):
            wait_for(line, lambda: line in self.scraped())
        if not shutil.which('promtool'):
            self.skipTest('promtool is not here: apt-get install prometheus')
        checked = subprocess.run(['promtool', 'check', 'metrics'], input=self.scraped(), capture_output=True, text=True, timeout=60)
        # The names of dcgm-exporter are as they are.
        wrong = [line for line in checked.stderr.splitlines() if not re.match(
            r'DCGM_FI_DEV_\w+ (counter metrics should have "_total" suffix|metric name should not include type)', line)]
        self.assertEqual(wrong, [])
        if not shutil.which('prometheus'):
            self.skipTest('prometheus is not here: apt-get install prometheus')
        self.scrape_with_prometheus(port)

    def scrape_with_prometheus(self, port):
        """A real one finds the target up, and answers a query of node_exporter's dashboards."""
        self.write('prometheus.yml', 'scrape_configs:\n- job_name: nodewatchd\n  scrape_interval: 1s\n  static_configs:\n'
                   f'  - targets: ["127.0.0.1:{port}"]\n')
        own = free_port()
        with open(f'{self.home}/prometheus.log', 'w') as log:
            server = subprocess.Popen(['prometheus', f'--config.file={self.home}/prometheus.yml', f'--web.listen-address=127.0.0.1:{own}',
                                       f'--storage.tsdb.path={self.home}/tsdb'], stdout=log, stderr=log)
        self.addCleanup(lambda: (server.kill(), server.wait()))

        def asked(query):
            try:
                with urllib.request.urlopen(f'http://127.0.0.1:{own}/api/v1/query?' + urllib.parse.urlencode({'query': query}),
                                            timeout=20) as answer:
                    return [sample['value'][1] for sample in json.load(answer)['data']['result']]
            except (OSError, ValueError):
                return []

        wait_for('the target to be up', lambda: asked('up{job="nodewatchd"}') == ['1'], 60)
        self.assertEqual(asked('count by (device) (node_infiniband_link_downed_total)'), ['1', '1'])
        self.assertEqual(asked('sum(railyard_xid_total{xid="79"})'), ['1'])
        self.assertEqual(asked('DCGM_FI_DEV_XID_ERRORS{gpu="0"}'), ['79'])

    def test_a_port_in_use_keeps_no_agent_from_watching(self):
        with socket.socket() as other:
            other.bind(('127.0.0.1', 0))
            other.listen()
            self.configure(f'metrics_listen = "127.0.0.1:{other.getsockname()[1]}"')
            daemon = self.start(self.command())
            wait_for('the warning', lambda: 'metrics cannot be scraped' in self.log())
        daemon.send_signal(signal.SIGHUP)
        wait_for('the page', lambda: os.path.exists(f'{self.home}/metrics.sock'))
        self.assertIn('railyard_agent_info', self.scraped())
        self.configure('metrics_socket = ""')
        daemon.send_signal(signal.SIGHUP)
        wait_for('the socket to go', lambda: not os.path.exists(f'{self.home}/metrics.sock'))
        self.configure('metrics_listen = "0.0.0.0:8918"')
        refused = self.run_program('--check-config')
        self.assertEqual(refused.returncode, 2)
        self.assertIn('"0.0.0.0:8918" is no address of loopback', refused.stderr)

    def test_the_daemons_check_a_configuration_alike(self):
        def checked(*options):
            answers = set()
            for name in ('restartd', 'nodewatchd', 'fabricwatchd'):
                done = subprocess.run([f'{BUILD}/{name}', '--config', self.conf, *options], capture_output=True, text=True,
                                      timeout=60)
                answers.add((done.returncode, done.stdout, done.stderr.removeprefix(f'{name}: ')))
            self.assertEqual(len(answers), 1, answers)
            return answers.pop()

        self.assertEqual(checked('--check-config'), (0, f'configuration: {self.conf}\n', ''))
        status, printed, _ = checked('--print-config')
        self.assertEqual(status, 0)
        self.assertIn(f'job_socket = "{self.home}/job.sock"\n', printed)
        for table, line, wrong in (
                ('restartd', 'url = "gopher://x"', 'restartd.url: "gopher://x" is not a URL of restartd: write http://host:port'),
                ('restartd', 'poll_interval = "1d"', 'restartd.poll_interval: 1d is not between 100ms and 1m'),
                ('agent', 'interval = "1ms"', 'agent.interval: 1ms is not between 100ms and 1m'),
                ('fabricwatchd', 'interval = "2h"', 'fabricwatchd.interval: 2h is not between 100ms and 1h'),
                ('checkpoint', 'max_interval = "1s"', 'checkpoint.max_interval: 1s is below checkpoint.min_interval, 10s')):
            with self.subTest(line):
                self.write('railyard.conf', f'\n[{table}]\n{line}\n')
                for option in ('--check-config', '--print-config'):
                    self.assertEqual(checked(option), (2, '', f'{self.conf}:3: {wrong}\n'))

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
        self.assertEqual(daemon.wait(20 * slowness()), 0, self.log())
        self.assertFalse(os.path.exists(f'{self.home}/job.sock'))
        self.assertEqual(self.log().count('trying on'), 1)  # restartd's absence is told once

    def test_a_driver_that_hangs_holds_up_nothing(self):
        daemon = self.start(self.command())
        threads = lambda: len(os.listdir(f'/proc/{daemon.pid}/task'))
        watched = lambda: all(f'watching {name}\n' in self.log() for name in ('kmsg', 'nvml', 'infiniband'))
        # One serves, one does all that is due, one sleeps until NVML has an event.
        wait_for('rest', lambda: watched() and threads() == 3)
        self.write('nvml', 'count=2\n0.hang_ms=86400000\n')
        wait_for('another thread in place of the one that hangs', lambda: threads() == 4)
        self.write('kmsg', 'NVRM: Xid (PCI:0000:14:00): 79, fallen off\n')
        wait_for('the finding', lambda: 'gpu.xid.79 on gpu0' in self.log())
        self.assertIn('railyard_xid_total{component="gpu0",xid="79"} 1', self.scraped())
        self.write('nvml', 'count=2\n')
        wait_for('rest', lambda: threads() == 3)
        self.write('nvml', 'count=2\n0.hang_ms=86400000\n')
        wait_for('a thread that hangs', lambda: threads() == 4)
        daemon.send_signal(signal.SIGTERM)
        self.assertEqual(daemon.wait(20 * slowness()), 0, self.log())

    def test_file_systems_are_looked_at(self):
        for mounts, wanted in (('"scratch"', '"scratch" is no path from the root'),
                               (f'"/{"x" * 60}"', 'of at most 60 printable characters'),
                               (', '.join(f'"/{n}"' for n in range(17)), 'are 17, of which at most 16')):
            self.configure(f'mounts = [{mounts}]')
            for options in (('--check-config',), ('--once',), ()):
                done = self.run_program(*options)
                self.assertNotEqual(done.returncode, 0, mounts)
                self.assertIn('[agent] mounts: ', done.stderr)
                self.assertIn(wanted, done.stderr)
        # A path that is not there stops nobody, and a reload with a wrong list keeps the old one.
        self.configure(f'mounts = ["/", "{self.home}/gone"]')
        daemon = self.start(self.command())
        self.configure('mounts = ["scratch"]')
        daemon.send_signal(signal.SIGHUP)
        wait_for('the refusal', lambda: 'the old configuration stands' in self.log())
        daemon.terminate()
        self.assertEqual(daemon.wait(20 * slowness()), 0, self.log())

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
            self.assertEqual(daemon.wait(20 * slowness()), 0, self.log())
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
        done = subprocess.run([f'{BUILD}/fabricwatchd', '--config', self.conf, '--once'], capture_output=True, text=True,
                              timeout=60)
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
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True, timeout=60 * slowness())
        with open(self.conf, 'a') as f:
            f.write('[fabricwatchd]\ninterval = "100ms"\n')
        daemon = self.start([f'{BUILD}/fabricwatchd', '--config', self.conf], **umad)
        for hca in hcas:
            console(f'Unlink "{hca}"[1]')
        wait_for('the loss', lambda: 'n002: 0 of 2 links are up' in self.log())
        for hca in hcas:
            console(f'ReLink "{hca}"[1]')
        wait_for('the return', lambda: 'n002: all links are up again' in self.log())
        before = self.log('railyard.conf')
        self.write('railyard.conf', before.replace('"100ms"', '"1ms"'))
        daemon.send_signal(signal.SIGHUP)
        wait_for('the refusal', lambda: 'fabricwatchd.interval: 1ms is not between 100ms and 1h; the old configuration stands'
                 in self.log())
        self.write('railyard.conf', before)
        daemon.send_signal(signal.SIGHUP)
        wait_for('the reload', lambda: 'configuration read again' in self.log())
        self.assertIn(f'fabric {fabric} read again: 4 hosts', self.log())
        ibsim.send_signal(signal.SIGSTOP)  # the fabric hangs; the daemon still hears
        time.sleep(0.3)
        daemon.send_signal(signal.SIGTERM)
        self.assertEqual(daemon.wait(20 * slowness()), 0, self.log())
        ibsim.send_signal(signal.SIGCONT)


if __name__ == '__main__':
    for missing in (p for p in ('ibsim', 'opensm') if not shutil.which(p)):
        print(f'SKIP: {missing} is not installed: fabricwatchd sweeps nothing here')
    unittest.main(verbosity=2)
