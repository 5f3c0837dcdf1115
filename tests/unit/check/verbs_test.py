#!/usr/bin/env python3
"""railcheck over libibverbs: hca, each port through itself, and net --verbs, between processes, over a double (tests/doubles)
that plants each fault. Runs in the build directory.
"""
import json
import os
import socket
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / 'system'))
from railcluster.speed import slowness  # noqa: E402

RAILCHECK = os.path.abspath('railcheck')
DOUBLE = os.path.abspath('tests/doubles/libibverbs.so.1')


class Verbs(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix='railyard-verbs-')
        self.addCleanup(scratch.cleanup)
        self.home = scratch.name
        self.write('railyard.conf', f'[placement]\nfabric = "{self.home}/none.json"\n')

    def write(self, name, text):
        path = Path(self.home, name)
        path.write_text(text)
        path.chmod(0o600)
        return path

    def begin(self, *words, state='', host=''):
        environment = {**os.environ, 'RAIL_IBV_STATE': str(self.write(f'state{host}', state)), 'RAIL_IBV_QUEUES': f'{self.home}/queues',
                       'RAILYARD_CONF': f'{self.home}/railyard.conf'}
        return subprocess.Popen([RAILCHECK, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)

    def results(self, state, *words, status=0):
        library = () if '--library' in words else ('--library', DOUBLE)
        started = self.begin('hca', *library, *words, '--json', state=state)
        out, err = started.communicate(timeout=100 * slowness())
        self.assertEqual(started.returncode, status, out + err)
        return {(one['component'], one['test']): one for one in json.loads(out)}

    def test_without_the_library(self):
        one = self.results('', '--library', '/no/such/libibverbs.so.1', status=2)['hcas', 'hca.start']
        self.assertEqual(one['verdict'], 'not run')
        self.assertIn('/no/such/libibverbs.so.1', one['says'])

    def test_each_active_port_is_measured(self):
        results = self.results('devices=3\n1.down=1\n')
        self.assertEqual({component for component, _ in results}, {'mlx5_0:1', 'mlx5_2:1'})
        for port in ('mlx5_0:1', 'mlx5_2:1'):
            for test, unit in (('hca.write', 'Gb/s'), ('hca.read', 'Gb/s'), ('hca.latency', 'us')):
                one = results[port, test]
                self.assertEqual((one['verdict'], one['unit']), ('measured', unit))
            # Never faster than the double makes it; what a busy machine takes away says nothing.
            self.assertLess(results[port, 'hca.write']['value'], 10.5)
            self.assertGreater(results[port, 'hca.latency']['value'], 2)

    def test_there_is_no_device_or_no_active_port(self):
        self.assertEqual(self.results('devices=0\n', status=2)['hcas', 'hca.start']['says'], 'libibverbs shows no HCA')
        self.assertEqual(self.results('*.down=1\n', status=2)['hcas', 'hca.start']['says'], 'no port of an HCA is active')

    def test_a_site_expects_more(self):
        self.write('health.conf', '[[expected]]\ntest = "hca.write"\nof = "mlx5_1:1"\nvalue = 400\nleast = 0.9\n')
        results = self.results('', status=1)
        self.assertEqual(results['mlx5_1:1', 'hca.write']['verdict'], 'bad')
        self.assertEqual(results['mlx5_0:1', 'hca.write']['verdict'], 'measured')

    def test_a_port_that_fails_or_never_answers(self):
        results = self.results('1.fail=10\n')
        self.assertEqual(results['mlx5_0:1', 'hca.write']['verdict'], 'measured')
        one = results['mlx5_1:1', 'hca.start']
        self.assertEqual((one['verdict'], one['says']), ('warning', 'mlx5_1:1: remote access error'))
        one = self.results('1.hang=1\n')['mlx5_1:1', 'hca.start']
        self.assertEqual((one['verdict'], one['says']), ('warning', 'mlx5_1:1: the peer does not answer'))

    def test_between_hosts_a_slow_port_is_named(self):
        """Three hosts, each a process here; a host that has no libibverbs would say so before it comes."""
        with socket.create_server(('', 0)) as listener:
            port = listener.getsockname()[1]
        self.write('secret', 'as many bytes as it takes')
        words = ('net', '--verbs', '--library', DOUBLE, '--hosts=localhost,h2,h3', f'--port={port}', f'--secret-file={self.home}/secret',
                 '--devices=mlx5_0:1,mlx5_1:1', '--least=50', '--join=100s', '--patience=60s', '--json')
        hosts = [self.begin(*words, f'--rank={rank}', state='0.gbps=20\n1.gbps=1\n' if rank == 2 else '*.gbps=20\n', host=rank) for rank in range(3)]
        answers = [host.communicate(timeout=200 * slowness()) for host in hosts]
        if 'transport retry counter exceeded' in answers[0][0]:
            self.skipTest('processes may not copy each other\'s memory here (ptrace)')
        self.assertEqual([host.returncode for host in hosts], [1, 0, 0], answers)
        found = json.loads(answers[0][0])
        self.assertEqual([(one['host'], one['rail']) for one in found['slow']], [('h3', 1)], found['slow'])
        self.assertEqual((found['rounds'], found['lost'], found['unusable']), (6, [], []), 'what names a port is measured once more')

    def test_a_device_that_is_not_there_is_told(self):
        self.write('secret', 'as many bytes as it takes')
        with socket.create_server(('', 0)) as listener:
            port = listener.getsockname()[1]
        words = ('net', '--verbs', '--library', DOUBLE, '--hosts=localhost,h2', f'--port={port}', f'--secret-file={self.home}/secret',
                 '--devices=mlx5_7:1', '--join=100s', '--json')
        hosts = [self.begin(*words, f'--rank={rank}', host=rank) for rank in range(2)]
        answers = [host.communicate(timeout=200 * slowness()) for host in hosts]
        self.assertIn('mlx5_7:1: libibverbs shows no such device', answers[0][0] + answers[0][1])


if __name__ == '__main__':
    if not os.path.exists(DOUBLE):
        print('SKIP: libibverbs\' header was not there: railcheck hca and net --verbs are not built')
        sys.exit(77)
    sys.exit(unittest.main())
