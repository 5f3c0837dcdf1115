#!/usr/bin/env python3
"""railcheck's checks of a host, over doubles of NVML, libcuda and cuBLAS (tests/doubles) that plant each fault. Runs in the
build directory.
"""
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / 'system'))
from railcluster.speed import slowness  # noqa: E402

RAILCHECK = os.path.abspath('railcheck')
DOUBLES = os.path.abspath('tests/doubles')


class Checks(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix='railyard-check-')
        self.addCleanup(scratch.cleanup)
        self.home = scratch.name
        self.write('railyard.conf', f'[agent]\nnvml = "{DOUBLES}/libnvidia-ml.so.1"\n[placement]\nfabric = "{self.home}/none.json"\n')
        self.nvml('count=2\n')
        self.cuda()

    def write(self, name, text):
        with open(f'{self.home}/{name}', 'w') as f:
            f.write(text)

    def nvml(self, text):
        self.write('nvml', text)

    def cuda(self, text=''):
        self.write('cuda', 'count=2\n' + text)

    def run_program(self, *words, **more):
        environment = {**os.environ, 'RAIL_NVML_STATE': f'{self.home}/nvml', 'RAIL_CUDA_STATE': f'{self.home}/cuda',
                       'RAILYARD_CONF': f'{self.home}/railyard.conf', 'TMPDIR': self.home}
        environment.pop('CUDA_VISIBLE_DEVICES', None)
        return subprocess.run([RAILCHECK, *words], capture_output=True, text=True, timeout=100 * slowness(), env=environment, **more)

    def results(self, *words, status=0):
        done = self.run_program(*words, '--json')
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return json.loads(done.stdout)

    def one(self, results, test, component):
        found = [one for one in results if one['test'] == test and one['component'] == component]
        self.assertEqual(len(found), 1, f'{test} of {component} in {json.dumps(results, indent=1)}')
        return found[0]

    # --- disk ---

    def test_disk(self):
        results = self.results('disk', self.home)
        self.assertEqual([one['test'] for one in results], ['disk.write', 'disk.read', 'disk.fsync'])
        for one in results:
            self.assertEqual((one['component'], one['verdict']), (self.home, 'measured'))
            self.assertGreater(one['value'], 0)
        self.assertEqual(sorted(os.listdir(self.home)), ['cuda', 'nvml', 'railyard.conf'], 'it leaves files behind')

    def test_a_site_expects_more_of_its_disk(self):
        self.write('health.conf', f'[[expected]]\ntest = "disk.write"\nof = "{self.home}"\nvalue = 1e9\nsource = "the offer"\n')
        one = self.one(self.results('disk', self.home, status=1), 'disk.write', self.home)
        self.assertEqual((one['verdict'], one['expected'], one['source']), ('bad', 1e9, 'the offer'))
        self.assertIn('of what is expected', one['says'])

    def test_a_disk_that_is_not_there(self):
        one = self.results('disk', '/no/such', status=2)[0]
        self.assertEqual((one['verdict'], one['says']), ('not run', 'No such file or directory'))

    # --- gpu ---

    def test_gpu(self):
        results = self.results('gpu')
        self.assertEqual([(one['component'], one['pci'], one['verdict']) for one in results],
                         [('gpu0', '0000:14:00.0', 'sound'), ('gpu1', '0000:30:00.0', 'sound')])
        self.assertIn('1980 MHz', results[0]['says'])

    def test_gpu_by_the_rules(self):
        self.nvml('count=2\n1.remap_failed=1\n0.remap_pending=1\n')
        results = self.results('gpu', status=1)
        self.assertEqual(self.one(results, 'gpu.remap_failed', 'gpu1')['verdict'], 'bad')
        self.assertEqual(self.one(results, 'gpu.remap_pending', 'gpu0')['verdict'], 'warning')
        self.write('health.conf', '[[rule]]\nname = "gpu.remap_failed"\non = false\n')
        self.results('gpu')
        # A reason to throttle is a finding if it stayed; below the rule's mask nothing is.
        self.nvml('count=1\n0.reasons=0x80\n')
        self.assertEqual(self.one(self.results('gpu', status=1), 'gpu.throttle.hw_power_brake', 'gpu0')['verdict'], 'bad')
        self.nvml('count=1\n0.reasons=0x4\n')
        self.results('gpu')

    def test_gpu_that_is_lost_or_hangs(self):
        self.nvml('count=2\n0.lost=1\n')
        self.assertEqual(self.one(self.results('gpu', status=1), 'gpu.lost', 'gpu0')['verdict'], 'bad')

    def test_gpu_without(self):
        self.nvml('init=9\n')
        one = self.results('gpu', status=2)[0]
        self.assertEqual(one['verdict'], 'not run')
        self.assertIn('NVML: Driver Not Loaded (9)', one['says'])
        one = self.results('gpu', '--nvml', '/no/such/libnvidia-ml.so.1', status=2)[0]
        self.assertIn('/no/such/libnvidia-ml.so.1', one['says'])

    # --- GPUs through CUDA ---

    LIBRARIES = [word for name in ('libcuda.so.1', 'libcublas.so.12', 'libcublasLt.so.12') for word in ('--library', f'{DOUBLES}/{name}')]

    def through_cuda(self, check, *words, status=0):
        return self.results(check, *self.LIBRARIES, *words, status=status)

    def test_hbm(self):
        results = self.through_cuda('hbm')
        for gpu in ('gpu0', 'gpu1'):
            for test, expected in (('hbm.write', 3246), ('hbm.read', 3058), ('hbm.copy', 3011)):
                one = self.one(results, test, gpu)
                self.assertEqual((one['verdict'], one['unit'], one['expected']), ('sound', 'GB/s', expected))
                self.assertAlmostEqual(one['share'], 3000 / expected, delta=0.01 if test == 'hbm.copy' else 0.02)
            self.assertEqual(self.one(results, 'hbm.pattern', gpu)['value'], 0)

    def test_hbm_slow(self):
        self.cuda('1.hbm=2000\n')
        results = self.through_cuda('hbm', status=1)
        self.assertEqual(self.one(results, 'hbm.read', 'gpu0')['verdict'], 'sound')
        one = self.one(results, 'hbm.read', 'gpu1')
        self.assertEqual(one['verdict'], 'bad')
        self.assertIn('of what is expected of NVIDIA H100 80GB HBM3*, where 85 % is the least', one['says'])

    def test_hbm_that_forgets(self):
        self.cuda('0.flip_fill=1\n')
        results = self.through_cuda('hbm', status=1)
        one = self.one(results, 'hbm.pattern', 'gpu0')
        self.assertEqual((one['verdict'], one['value']), ('bad', 1))
        self.assertIn('1 bits', one['says'])
        self.assertEqual(self.one(results, 'hbm.pattern', 'gpu1')['verdict'], 'sound')

    def test_a_call_that_fails(self):
        self.cuda('1.fail_context=214\n')
        results = self.through_cuda('hbm', status=1)
        self.assertEqual(self.one(results, 'hbm.read', 'gpu0')['verdict'], 'sound')
        one = self.one(results, 'hbm.start', 'gpu1')
        self.assertEqual(one['verdict'], 'bad')
        self.assertIn('uncorrectable ECC error encountered (214)', one['says'])

    def test_kernels_are_assembled_or_compiled_by_the_driver(self):
        """Of a driver that takes only one of both; what is not assembled here, without ptxas, is PTX alone."""
        self.cuda('no_cubin=1\n')
        self.assertEqual(self.one(self.through_cuda('hbm'), 'hbm.read', 'gpu0')['verdict'], 'sound')
        self.cuda('no_ptx=1\n')
        with open('Makefile') as makefile:
            assembled = any(line.startswith('CUBIN_GPUS = ') and ' 90' in line for line in makefile)
        results = self.through_cuda('hbm', status=0 if assembled else 2)
        if assembled:
            self.assertEqual(self.one(results, 'hbm.read', 'gpu0')['verdict'], 'sound')
        else:
            print('SKIP: there is no ptxas here: kernels are PTX alone')

    def test_no_memory_for_a_context(self):
        self.cuda('1.fail_context=2\n')
        one = self.one(self.through_cuda('hbm', status=2), 'hbm.start', 'gpu1')
        self.assertEqual((one['verdict'], one['says']),
                         ('not run', "less of the GPU's memory is free than a context takes, 527 MiB of an H100"))

    def test_a_call_that_hangs(self):
        self.cuda('1.hang_launch=1\n')
        seconds = f'{min(2 * slowness(), 59):.1f}'  # the call itself would never end; those of gpu0 must
        results = self.through_cuda('hbm', '--deadline', f'{seconds}s', status=1)
        self.assertEqual(self.one(results, 'hbm.read', 'gpu0')['verdict'], 'sound')
        one = self.one(results, 'hbm.write', 'gpu1')
        self.assertEqual((one['verdict'], one['says']), ('bad', f'no end within {seconds} s: given up'))

    def test_who_is_hurried_blames_nobody(self):
        self.cuda('1.hang_launch=1\n')
        seconds = f'{min(1.9 * slowness(), 59):.1f}'  # below what level 2 takes, and enough to come to the call
        results = self.through_cuda('hbm', '--level', '2', '--deadline', f'{seconds}s', status=2)
        one = self.one(results, 'hbm.write', 'gpu1')
        self.assertEqual((one['verdict'], one['says']),
                         ('not run', f'no end within {seconds} s, and a sound one may take longer: given up'))

    def test_no_memory_is_free(self):
        self.cuda('mem_mib=1\n')
        one = self.one(self.through_cuda('hbm', status=2), 'hbm.read', 'gpu0')
        self.assertEqual(one['verdict'], 'not run')

    def test_somebody_computes_there(self):
        self.nvml('count=2\n1.pid=4711\n')
        for check in ('hbm', 'nvlink'):
            one = self.one(self.through_cuda(check, status=2), f'{check}.start', 'gpu1')
            self.assertIn('process 4711 uses it', one['says'])

    def test_throttled_under_load(self):
        self.nvml('count=2\n1.reasons=0x40\n')
        results = self.through_cuda('hbm', status=1)
        self.assertEqual(self.one(results, 'gpu.throttle.hw_thermal_slowdown', 'gpu1')['check'], 'hbm')
        self.assertIn('1980 MHz', self.one(results, 'hbm.clocks', 'gpu0')['says'])

    def test_without_cuda(self):
        results = self.results('hbm', '--library', '/no/such/libcuda.so.1', status=2)
        self.assertEqual(results[0]['verdict'], 'not run')
        self.assertIn('/no/such/libcuda.so.1', results[0]['says'])
        self.cuda('init=100\n')
        self.assertEqual(self.through_cuda('pcie', status=2)[0]['says'], 'libcuda: no CUDA-capable device is detected (100)')

    def test_gemm(self):
        results = self.through_cuda('gemm')
        for precision in ('fp64', 'fp32', 'tf32', 'bf16', 'fp8'):
            for gpu in ('gpu0', 'gpu1'):
                one = self.one(results, f'gemm.{precision}', gpu)
                self.assertIn('all right', one['says'])
                self.assertEqual(one['unit'], 'TFLOP/s')

    def test_gemm_corrupt(self):
        self.cuda('1.flip_product=1\n')
        results = self.through_cuda('gemm', status=1)
        for precision in ('fp64', 'fp32', 'tf32', 'bf16', 'fp8'):
            one = self.one(results, f'gemm.{precision}', 'gpu1')
            self.assertEqual(one['verdict'], 'bad')
            self.assertIn('elements are wrong', one['says'])
            self.assertNotIn('wrong', self.one(results, f'gemm.{precision}', 'gpu0').get('says', ''))

    def test_gemm_has_the_same_bits_on_all_gpus(self):
        bits = lambda gpu: self.one(self.through_cuda('gemm'), 'gemm.bits', gpu)
        self.assertRegex(bits('gpu0')['says'], r'^[0-9a-f]{16}: \d+ x \d+, cuBLAS 130100, ')
        self.assertEqual(bits('gpu0')['says'], bits('gpu1')['says'])

    def test_gemm_corrupt_where_whole_numbers_do_not_show_it(self):
        self.cuda('1.flip_wide=1\n')
        results = self.through_cuda('gemm', status=0)
        self.assertEqual(self.one(results, 'gemm.bf16', 'gpu1')['verdict'], self.one(results, 'gemm.bf16', 'gpu0')['verdict'])
        for gpu in ('gpu0', 'gpu1'):  # of two nobody knows which is right
            self.assertEqual(self.one(results, 'gemm.bits', gpu)['verdict'], 'warning')
        self.cuda('1.flip_wide=2\n')
        one = self.one(self.through_cuda('gemm', status=1), 'gemm.bits', 'gpu1')
        self.assertEqual(one['verdict'], 'bad')
        self.assertIn('products have other bits than the first', one['says'])

    def test_gemm_of_a_gpu_with_less_memory(self):
        self.cuda('mem_mib=16\n1.mem_mib=4\n')
        results = self.through_cuda('gemm')
        for test in ('gemm.fp64', 'gemm.bf16', 'gemm.bits'):
            self.assertNotIn('other bits', self.one(results, test, 'gpu1')['says'])

    def test_gemm_without_fp8(self):
        self.cuda('*.tflops_fp8=0\n')
        results = self.through_cuda('gemm')
        self.assertEqual([one for one in results if one['test'] == 'gemm.fp8'], [])

    def test_gemm_by_our_own_kernels(self):
        words = ('--library', f'{DOUBLES}/libcuda.so.1', '--library', '/no/such/libcublas.so.12')
        results = self.results('gemm', *words, status=2)
        for precision in ('fp64', 'fp32'):
            one = self.one(results, f'gemm.{precision}', 'gpu1')
            self.assertEqual(one['verdict'], 'sound')
            self.assertIn('all right, by kernels of railcheck', one['says'])
        self.assertIn('/no/such/libcublas.so.12', self.one(results, 'gemm.cublas', 'gpus')['says'])
        self.cuda('0.flip_product=1\n')
        self.assertEqual(self.one(self.results('gemm', *words, status=1), 'gemm.fp64', 'gpu0')['verdict'], 'bad')

    def test_pcie(self):
        results = self.through_cuda('pcie')
        for gpu in ('gpu0', 'gpu1'):
            for test, rate in (('pcie.h2d', 55), ('pcie.d2h', 55), ('pcie.both', 110), ('pcie.h2d_all', 55), ('pcie.d2h_all', 55)):
                self.assertAlmostEqual(self.one(results, test, gpu)['value'], rate, delta=6)
            self.assertEqual(self.one(results, 'pcie.h2d', gpu)['expected'], 63)

    def test_pcie_slow_or_wrong(self):
        self.cuda('0.pcie=25\n')
        self.assertEqual(self.one(self.through_cuda('pcie', status=1), 'pcie.d2h', 'gpu0')['verdict'], 'bad')
        self.cuda('1.flip_copy=1\n')
        one = self.one(self.through_cuda('pcie', status=1), 'pcie.data', 'gpu1')
        self.assertIn('came back from the GPU as another than was sent', one['says'])

    def test_nvlink(self):
        self.nvml('count=4\n')
        self.write('cuda', 'count=4\n')
        results = self.through_cuda('nvlink')
        pairs = [one for one in results if one['test'] == 'nvlink.pair']
        self.assertEqual(len(pairs), 12)
        self.assertEqual({one['verdict'] for one in pairs}, {'sound'})
        self.write('cuda', 'count=4\n2.link=100\n3.peer=0\n')
        results = self.through_cuda('nvlink', status=1)
        for one in results:
            if one['test'] == 'nvlink.pair':
                self.assertEqual(one['verdict'], 'bad' if 'gpu2' in one['component'] else 'sound', one)
        self.assertIn('goes through the host', self.one(results, 'nvlink.through_host', 'gpu0-gpu3')['says'])
        self.assertEqual([one for one in results if one['test'] == 'nvlink.gpu'], [], 'three that reach each other are too few to tell')

    def test_nvlink_names_the_gpu_whose_links_are_slow(self):
        self.nvml('count=8\n')
        self.write('cuda', 'count=8\n5.link=100\n')
        results = self.through_cuda('nvlink', status=1)
        self.assertEqual([one['component'] for one in results if one['test'] == 'nvlink.gpu'], ['gpu5'])
        self.assertIn("its pairs reach 25 % of the others'", self.one(results, 'nvlink.gpu', 'gpu5')['says'])
        self.write('cuda', 'count=8\n')
        self.assertEqual([one for one in self.through_cuda('nvlink') if one['test'] == 'nvlink.gpu'], [])

    def test_all(self):
        results = self.results('all', *self.LIBRARIES)
        self.assertEqual({one['check'] for one in results}, {'gpu', 'hbm', 'gemm', 'pcie', 'nvlink', 'disk'})

    # --- preflight ---

    def preflight(self, *words):
        done = self.run_program('preflight', '--nccl', '--devices=lo,eth0', *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def test_a_preflight_says_how_many_processes_of_nccl_have_a_gpu_and_a_rail(self):
        self.cuda('mem_mib=16\n')
        places = lambda words: next(word for word in words if word['check'] == 'nccl.places')
        words = self.preflight(*self.LIBRARIES)
        self.assertEqual((places(words)['value'], words[-1]['check']), (2, 'preflight'))
        one = places(self.preflight('--library', '/no/such/libcuda.so.1', '--hosts=a,b', '--rank=1'))
        self.assertEqual((one['host'], one['verdict']), ('b', 'not run'))
        self.assertIn('/no/such/libcuda.so.1', one['says'])
        self.nvml('count=2\n1.pid=4711\n')
        self.assertIn('process 4711 uses gpu1', places(self.preflight(*self.LIBRARIES))['says'])

    # --- the self-test ---

    def test_selftest_of_checks(self):
        words = ('selftest', '--checks', '--nvml', f'{DOUBLES}/libnvidia-ml.so.1', *self.LIBRARIES, '--library', f'{DOUBLES}/libnccl.so.2',
                 '--library', f'{DOUBLES}/libibverbs.so.1')
        outcomes = self.results(*words)
        between = {'net', 'mpi', 'nccl'}
        self.assertEqual({one['check'] for one in outcomes}, {'disk', 'gpu', 'hbm', 'gemm', 'pcie', 'nvlink', 'hca'} | between)
        for one in outcomes:
            print(f'{one["check"]:8} {one["fault"]:40} through {one["through"]}')
            if one['trouble'].startswith(('only hardware shows it: ', 'this railcheck was built without ')):
                self.assertFalse(one['tried'], one)
            else:
                self.assertEqual((one['tried'], one['trouble']), (True, ''), one)
        self.assertEqual({one['check'] for one in outcomes if 'hardware' in one['trouble']}, between | {'hca'})
        without = self.results('selftest', '--checks')
        self.assertEqual({one['check'] for one in without if one['tried']}, {'disk'} | between)
        self.assertIn('needs --nvml', [one['trouble'] for one in without if one['check'] == 'hbm'][0])
        self.assertIn('needs --library', [one['trouble'] for one in without if 'NCCL and CUDA' in one['through']][0])
        told = self.run_program('selftest', '--checks', 'nccl')
        self.assertIn('nccl not tried: only hardware shows it: railcheck nccl on hosts with GPUs', told.stdout)
        self.assertEqual(self.run_program('selftest', '--library', '/x').returncode, 2)

    # --- usage ---

    def test_wrong_expectations(self):
        for text, what in (('test = "hbm"\nof = "*"\nvalue = 1', 'health.conf:2: test: "hbm" is none of hbm.read'),
                           ('test = "hbm.read"\nvalue = 1', 'health.conf:1: the row of [[expected]] has no of'),
                           ('test = "hbm.read"\nof = "X"\nvalue = "1"', 'health.conf:4: hbm.read: value: must be a number above 0'),
                           ('test = "hbm.read"\nof = "X"\nvalue = 1\nleast = 2', 'least: must be a share'),
                           ('test = "hbm.read"\nof = "X"\nvalu = 1', 'valu: unknown key'),
                           ('test = "hbm.read"\nof = "X"', 'value: is missing, as the row is new')):
            with self.subTest(text):
                self.write('health.conf', f'[[expected]]\n{text}\n')
                done = self.run_program('disk', self.home)
                self.assertEqual(done.returncode, 2)
                self.assertIn(what, done.stderr)

    def test_wrong_usage(self):
        for words in ([], ['nothing'], ['gpu', '--level', '4'], ['gpu', '--config', '/no/such'], ['gpu', '--fabric', '/no/such']):
            done = self.run_program(*words)
            self.assertEqual(done.returncode, 2, words)
            self.assertNotEqual(done.stderr, '')


if __name__ == '__main__':
    sys.exit(unittest.main())
