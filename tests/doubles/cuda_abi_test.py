#!/usr/bin/env python3
"""Compares railcheck's declarations of CUDA with NVIDIA's own files, and compiles its kernels with every available compiler: by
clang without a toolkit, by nvcc, and assembles each with ptxas for the GPUs that it supports. Reports what is missing; no GPU
is needed.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
SRC = HERE / '../../src'
KERNELS = SRC / 'check/cuda_kernels.cu'
TOOLKIT = os.environ.get('CUDA_HOME', '/usr/local/cuda')
GPUS = ('sm_80', 'sm_90', 'sm_100')  # A100, H100 and H200, B200
# What to compile with which of NVIDIA's headers, and changes to our declarations, in the first of our headers. Each change must
# break the compilation, otherwise the check could not fail.
CHECKS = (('cuda_abi_check.cpp', 'cublasLt.h', ('check/cuda_abi.h', 'check/cuda_blas_abi.h'),
           (('CUDA_ERROR_ECC_UNCORRECTABLE = 214', 'CUDA_ERROR_ECC_UNCORRECTABLE = 215'),
            ('X(cuMemAlloc_v2, (CUdeviceptr * at, size_t bytes))', 'X(cuMemAlloc_v2, (CUdeviceptr * at, int bytes))'),
            ('X(cuCtxSetCurrent, (CUcontext context))', 'X(cuCtxSetCurrent, (CUcontext context, int more))'))),
          ('nccl_abi_check.cpp', 'nccl.h', ('check/mpi/nccl_abi.h',),
           (('ncclFloat32 = 7', 'ncclFloat32 = 8'), ('char internal[128]', 'char internal[64]'),
            ('(ncclComm_t * made, int ranks, ncclUniqueId id, int rank)', '(ncclComm_t * made, int ranks, ncclUniqueId* id, int rank)'))))
failed, skipped = [], []


def run(*words):
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=120)


def tool(name):
    beside = f'{TOOLKIT}/bin/{name}'
    return shutil.which(name) or (beside if os.access(beside, os.X_OK) else None)


def told(what, sound, why=''):
    print(f'{"ok" if sound else "FAIL"}: {what}{": " + why if why and not sound else ""}')
    if not sound:
        failed.append(what)


def skip(what):
    print(f'SKIP: {what}')
    skipped.append(what)


def agrees(folder, source, ours, change=None):
    """Whether our headers, with one text changed in the first, agree with those of the folder."""
    with tempfile.TemporaryDirectory() as scratch:
        for name in ours:
            text = (SRC / name).read_text()
            if change and name == ours[0]:
                # Line breaks may differ.
                pattern = re.sub(r'\\?\s+', r'\\s+', re.escape(change[0]))
                text, times = re.subn(pattern, change[1], text)
                assert times == 1, change
            path = pathlib.Path(scratch, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return run(*os.environ.get('CXX', 'c++').split(), '-std=c++20', '-fsyntax-only', f'-I{scratch}', '-isystem', folder, HERE / source)


def declarations():
    for source, theirs, ours, changes in CHECKS:
        folder = next((f for f in (f'{TOOLKIT}/include', '/usr/include') if os.path.exists(f'{f}/{theirs}')), None)
        if folder is None:
            skip(f'{" and ".join(ours)} are not held to NVIDIA\'s: no {theirs} is here')
            continue
        done = agrees(folder, source, ours)
        told(f'{folder} agrees with {" and ".join(ours)}', done.returncode == 0, done.stderr)
        for change in changes:
            told(f'a wrong {change[1]} is found', agrees(folder, source, ours, change).returncode != 0)


def moves_whole_pairs(ptx, kernel):
    body = re.search(rf'\.entry {kernel}\(.*?\n\}}', ptx, re.S).group()
    moves = re.findall(r'(?:ld|st)\.global(\.v2|\.v4)?\.', body)
    return any(moves) and all(moves[:-1] if kernel in ('railyard_read', 'railyard_check') else moves)


def kernels():
    compilers = {}
    for name in ('clang', 'clang-19', 'clang-17', 'clang-16', 'clang-15', 'clang-14'):
        if path := shutil.which(name):
            compilers['clang'] = [path, '-x', 'cuda', '--cuda-device-only', '--cuda-gpu-arch=sm_80', '-nocudainc', '-nocudalib',
                                  '-Wno-unknown-cuda-version', '-Wall', '-Wextra', '-Werror', '-O2', '-std=c++17', '-S']
            break
    else:
        skip('kernels are not compiled by clang: it is not installed')
    if path := tool('nvcc'):
        compilers['nvcc'] = [path, '-arch=compute_80', '-ptx', '-O2', '-std=c++17', '-Werror', 'all-warnings']
    else:
        skip('kernels are not compiled by nvcc: it is not installed')
    ptxas = tool('ptxas')
    if ptxas is None:
        skip('kernels are not assembled: there is no ptxas')
    names = set(re.findall(r'RAILYARD_KERNEL (\w+)\(', KERNELS.read_text()))
    assert len(names) >= 10, names
    with tempfile.TemporaryDirectory() as scratch:
        for compiler, words in compilers.items():
            ptx = f'{scratch}/{compiler}.ptx'
            done = run(*words, f'-I{SRC}', KERNELS, '-o', ptx)
            told(f'{compiler} compiles the kernels', done.returncode == 0, done.stderr)
            if done.returncode:
                continue
            text = pathlib.Path(ptx).read_text()
            told(f'{compiler}: all {len(names)} kernels are entries',
                 set(re.findall(r'\.entry (\w+)\(', text)) == names, str(names))
            # Copies in two halves of 8 bytes: a sound H200 reached 54 % of its bandwidth.
            for name in ('write', 'read', 'copy', 'fill', 'check'):
                told(f'{compiler}: railyard_{name} moves 16 bytes at once', moves_whole_pairs(text, f'railyard_{name}'))
            # The version for drivers of CUDA 11; nvcc writes that of its own release.
            version = tuple(map(int, re.search(r'^\.version (\d+)\.(\d+)', text, re.M).groups()))
            if compiler == 'clang':
                told(f'clang writes PTX {version[0]}.{version[1]}, which drivers of CUDA 12 read', version < (8, 0))
            told(f'{compiler}: for compute_80', '.target sm_80' in text)
            for gpu in GPUS if ptxas else ():
                done = run(ptxas, f'-arch={gpu}', '-v', ptx, '-o', f'{scratch}/cubin')
                if 'is not defined for option' in done.stderr:
                    skip(f'kernels are not assembled for {gpu}: this ptxas does not know it')
                    continue
                spills = [int(n) for n in re.findall(r'(\d+) bytes spill', done.stderr)]
                told(f'{compiler}: ptxas assembles for {gpu}, without spills', done.returncode == 0 and not any(spills),
                     done.stderr)


declarations()
kernels()
skip('kernels do not run on a GPU here; their logic runs on the CPU, through tests/doubles/cuda_double.cpp')
if failed:
    sys.exit(1)
sys.exit(0)
