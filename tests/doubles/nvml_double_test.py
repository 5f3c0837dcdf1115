#!/usr/bin/env python3
"""Compares the NVML double with NVIDIA's own Python bindings (pynvml), whose structures and names come from nvml.h;
probe/nvml_abi.h with nvml.h itself: the system's, and those fetched by build-aux/nvml-header from Debian releases; and the
double's fields with those recorded on an H100 (shared/data next to the source, or RAIL_TEST_DATA). Each part needs its
counterpart (Debian: python3-pynvml in contrib); if none is available the test is skipped (77). nodewatchd's unit tests use
the double, too."""
import ctypes
import os
import re
import subprocess
import sys
import tempfile
import threading
import time

LIBRARY = os.path.abspath(os.environ.get('NVML_DOUBLE', 'tests/doubles/libnvidia-ml.so.1'))


def child(state_file):
    import pynvml as n

    failed = []

    def same(what, seen, want):
        if seen != want:
            failed.append(f'{what}: pynvml says {seen!r}, written was {want!r}')

    def write(text):
        with open(state_file + '.new', 'w') as f:
            f.write(text)
        os.rename(state_file + '.new', state_file)

    write('count=3\n1.reasons=0xc8\n1.ecc_unc=5\n1.ecc_cor_life=7\n2.remap_pending=1\n2.remap_cor=2\n1.pcie_gen=4\n'
          '1.pcie_width=8\n1.pcie_replay=11\n')
    n.nvmlInit()
    same('count', n.nvmlDeviceGetCount(), 3)
    gpu = [n.nvmlDeviceGetHandleByIndex(i) for i in range(3)]
    pci = n.nvmlDeviceGetPciInfo(gpu[1])
    bus_id = pci.busId.decode() if isinstance(pci.busId, bytes) else pci.busId
    same('busId', bus_id, '00000000:30:00.0')
    same('bus', (pci.domain, pci.bus, pci.device, pci.pciDeviceId), (0, 0x30, 0, 0x233010de))
    for name in ('nvmlDeviceGetCurrentClocksEventReasons', 'nvmlDeviceGetCurrentClocksThrottleReasons'):
        if hasattr(n, name):  # the first was added in release 12.2
            same(name, getattr(n, name)(gpu[1]), 0xc8)
    same('bits', n.nvmlClocksThrottleReasonHwPowerBrakeSlowdown | n.nvmlClocksThrottleReasonHwThermalSlowdown
         | n.nvmlClocksThrottleReasonHwSlowdown, 0xc8)
    same('volatile uncorrected ECC', n.nvmlDeviceGetTotalEccErrors(gpu[1], n.NVML_MEMORY_ERROR_TYPE_UNCORRECTED,
                                                                   n.NVML_VOLATILE_ECC), 5)
    same('aggregate corrected ECC', n.nvmlDeviceGetTotalEccErrors(gpu[1], n.NVML_MEMORY_ERROR_TYPE_CORRECTED,
                                                                  n.NVML_AGGREGATE_ECC), 7)
    same('remapped rows', tuple(n.nvmlDeviceGetRemappedRows(gpu[2])), (2, 0, 1, 0))
    same('PCIe', (n.nvmlDeviceGetCurrPcieLinkGeneration(gpu[1]), n.nvmlDeviceGetCurrPcieLinkWidth(gpu[1]),
                  n.nvmlDeviceGetMaxPcieLinkGeneration(gpu[1]), n.nvmlDeviceGetMaxPcieLinkWidth(gpu[1]),
                  n.nvmlDeviceGetPcieReplayCounter(gpu[1])), (4, 8, 5, 16, 11))
    events = n.nvmlEventSetCreate()
    for g in gpu:
        n.nvmlDeviceRegisterEvents(g, n.nvmlEventTypeXidCriticalError, events)
    later = threading.Thread(target=lambda: (time.sleep(0.2), write('count=3\n2.xid=79\n2.xid_seq=1\n2.lost=1\n')))
    later.start()
    event = n.nvmlEventSetWait_v2(events, 20000)
    later.join()
    same('event', (event.eventType, event.eventData), (n.nvmlEventTypeXidCriticalError, 79))
    try:
        n.nvmlEventSetWait_v2(events, 10)
        failed.append('a second event came from one xid_seq')
    except n.NVMLError as e:
        same('no event', e.value, n.NVML_ERROR_TIMEOUT)
    try:
        n.nvmlDeviceGetCurrentClocksThrottleReasons(gpu[2])
        failed.append('a lost GPU answered')
    except n.NVMLError as e:
        same('lost', e.value, n.NVML_ERROR_GPU_IS_LOST)
    same('the library says what it is', 'double' in str(n.nvmlSystemGetDriverVersion()), True)
    print('\n'.join(failed) or 'ok: the double answers pynvml as NVML would')
    return 1 if failed else 0


def with_bindings():
    """The exit status, or None if pynvml is not installed."""
    if subprocess.run([sys.executable, '-c', 'import pynvml'], stderr=subprocess.DEVNULL).returncode != 0:
        return None
    with tempfile.TemporaryDirectory() as scratch:
        environment = dict(os.environ, LD_LIBRARY_PATH=os.path.dirname(LIBRARY), RAIL_NVML_STATE=f'{scratch}/state')
        return subprocess.run([sys.executable, os.path.abspath(__file__), f'{scratch}/state'],
                              env=environment).returncode


HERE = os.path.dirname(os.path.abspath(__file__))
RELEASES = ('bookworm', 'trixie')  # NVML 11.8 and 12.4: nvml_abi_check.c checks newer items in one of them only


CHANGES = (('NVML_ERROR_GPU_IS_LOST = 15', 'NVML_ERROR_GPU_IS_LOST = 14'), ('char busId[32]', 'char busId[16]'),
           ('NVML_MOST_LINKS = 36', 'NVML_MOST_LINKS = 17'), ('char* longName;', ''))


def headers():
    """The folders with an nvml.h, each with its name; the system's has none."""
    compiler = os.environ.get('CC', 'cc').split()
    if subprocess.run([*compiler, '-E', '-'], input=b'#include <nvml.h>', capture_output=True).returncode == 0:
        yield 'this system', []
    for release in RELEASES:
        told = subprocess.run([f'{HERE}/../../build-aux/nvml-header', '--cached', release], capture_output=True, text=True)
        if told.returncode == 0:
            yield f'Debian {release}', ['-I' + told.stdout.strip()]
        else:
            print(told.stderr.strip())


def agrees(folder, changes=()):
    """Whether nvml_abi.h, with each (text, other text) changed in it, agrees with the nvml.h in this folder."""
    with open(f'{HERE}/../../src/probe/nvml_abi.h') as file:
        ours = file.read()
    for text, other in changes:
        assert text in ours, text
        ours = ours.replace(text, other)
    with tempfile.TemporaryDirectory() as scratch:
        os.mkdir(f'{scratch}/probe')
        with open(f'{scratch}/probe/nvml_abi.h', 'w') as file:
            file.write(ours)
        done = subprocess.run([*os.environ.get('CC', 'cc').split(), '-std=gnu11', '-fsyntax-only', f'-I{scratch}', *folder,
                               f'{HERE}/nvml_abi_check.c'], capture_output=True, text=True)
    if done.returncode and not changes:
        print(done.stderr)
    return done.returncode == 0


def with_header():
    """The exit status, or None if there is no nvml.h."""
    status = None
    for name, folder in headers():
        sound = agrees(folder)
        # A changed number and layout must be detected, otherwise the check could not fail.
        checks = not any(agrees(folder, [change]) for change in CHANGES)
        print(f'{"ok" if sound and checks else "FAIL"}: nvml_abi.h {"agrees" if sound else "disagrees"} with nvml.h of {name}'
              + ('' if checks else ', and the check cannot fail'))
        status = (status or 0) | (not sound or not checks)
    return status


class FieldValue(ctypes.Structure):
    _fields_ = [('field', ctypes.c_uint), ('scope', ctypes.c_uint), ('timestamp', ctypes.c_longlong),
                ('latency', ctypes.c_longlong), ('type', ctypes.c_int), ('result', ctypes.c_int), ('value', ctypes.c_ulonglong)]


def with_recording():
    """Result and type of each field that nodewatchd queries; that GPU had no NVLink. The exit status, or None without the
    recording."""
    path = os.path.join(os.environ.get('RAIL_TEST_DATA', f'{HERE}/../../../shared/data'), 'h100/nvml-fields.txt')
    if not os.path.exists(path):
        print(f'SKIP: {path} is not here')
        return None
    with open(path) as file:
        recorded = {int(number): (int(result), int(kind or 0)) for number, result, kind in
                    re.findall(r'(?m)^ *(\d+) result +(\d+)(?: type (\d+))?', file.read())}
    with open(f'{HERE}/../../src/probe/nvml_abi.h') as file:
        fields = {name: int(number) for name, number in re.findall(r'NVML_FIELD_(\w+) = (\d+)', file.read())}
    double = ctypes.CDLL(LIBRARY)
    gpu = ctypes.c_void_p()
    assert double.nvmlInit_v2() == 0 and double.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(gpu)) == 0
    status = 0
    for name, number in fields.items():
        if name.startswith('NVLINK'):
            continue
        value = FieldValue(field=number)
        assert double.nvmlDeviceGetFieldValues(gpu, 1, ctypes.byref(value)) == 0
        if (value.result, value.type) != recorded[number]:
            print(f'FAIL: field {number} ({name}): the double says {value.result, value.type}, an H100 {recorded[number]}')
            status = 1
    print(f'{"FAIL" if status else "ok"}: fields as an H100 answered them')
    return status


def main():
    if len(sys.argv) > 1:
        return child(sys.argv[1])
    results = [with_bindings(), with_header(), with_recording()]
    if results == [None, None, None]:
        print('SKIP: neither pynvml, nor nvml.h, nor a recording is here')
        return 77
    return 1 if any(results) else 0


sys.exit(main())
