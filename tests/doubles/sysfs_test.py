#!/usr/bin/env python3
"""gen_sysfs.py against an oracle: prometheus-node-exporter reads the tree and must return what was written.

Skipped (77) without prometheus-node-exporter (Debian: prometheus-node-exporter)."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, f'{HERE}/../system')
from railcluster.process import wait_for  # noqa: E402

EXPORTER = shutil.which('prometheus-node-exporter') or '/usr/bin/prometheus-node-exporter'


def gen(*args):
    subprocess.run([sys.executable, f'{HERE}/gen_sysfs.py', *args], check=True)


def main():
    if not os.access(EXPORTER, os.X_OK):
        print('SKIP: prometheus-node-exporter is not installed')
        return 77
    with tempfile.TemporaryDirectory() as scratch:
        root = f'{scratch}/sys'
        gen(root, '--hcas', '3', '--host', 'n001')
        injected = {('mlx5_0', 'link_downed'): 3, ('mlx5_1', 'port_xmit_wait'): 123456789012,
                    ('mlx5_2', 'symbol_error'): 17, ('mlx5_2', 'port_rcv_data'): 4294967296}
        gen(root, *sum((['--set', f'{d}.{c}={v}'] for (d, c), v in injected.items()), []),
            '--set', 'mlx5_1.link=down')
        log = open(f'{scratch}/log', 'w+')
        # Port 0: the kernel picks a free one, which the exporter does not print; its socket shows it.
        exporter = subprocess.Popen([EXPORTER, '--web.listen-address=127.0.0.1:0', f'--path.sysfs={root}',
                                     '--collector.disable-defaults', '--collector.infiniband'],
                                    stdout=log, stderr=log)
        try:
            def port():
                if exporter.poll() is not None:
                    log.seek(0)
                    sys.exit(f'sysfs_test: prometheus-node-exporter ended:\n{log.read()}')
                inodes = set()
                for fd in os.listdir(f'/proc/{exporter.pid}/fd'):
                    try:
                        m = re.match(r'socket:\[(\d+)\]', os.readlink(f'/proc/{exporter.pid}/fd/{fd}'))
                    except OSError:
                        continue
                    if m:
                        inodes.add(m.group(1))
                for line in open('/proc/net/tcp').read().splitlines()[1:]:
                    f = line.split()
                    if f[3] == '0A' and f[9] in inodes:
                        return int(f[1].split(':')[1], 16)
                return None

            address = f'http://127.0.0.1:{wait_for(port, 20, "the exporter", every=0.05)}/metrics'
            text = urllib.request.urlopen(address, timeout=20).read().decode()
        finally:
            exporter.terminate()
            exporter.wait()

        def metric(name, device):
            m = re.search(rf'^node_infiniband_{name}{{device="{device}",port="1"}} (\S+)$', text, re.M)
            if not m:
                sys.exit(f'sysfs_test: the exporter has no {name} of {device}; it answered:\n{text}')
            return float(m.group(1))

        # node_exporter's metric for a counter file, and the factor that it applies (data counters are in words).
        names = {'link_downed': ('link_downed_total', 1), 'port_xmit_wait': ('port_transmit_wait_total', 1),
                 'symbol_error': ('symbol_error_total', 1), 'port_rcv_data': ('port_data_received_bytes_total', 4)}
        checks = [(metric(names[c][0], d), v * names[c][1], f'{c} of {d}') for (d, c), v in injected.items()]
        checks += [(metric('link_downed_total', 'mlx5_2'), 0, 'link_downed of mlx5_2'),
                   (metric('state_id', 'mlx5_0'), 4, 'state of mlx5_0'),
                   (metric('physical_state_id', 'mlx5_0'), 5, 'phys_state of mlx5_0'),
                   (metric('state_id', 'mlx5_1'), 1, 'state of mlx5_1'),
                   (metric('physical_state_id', 'mlx5_1'), 2, 'phys_state of mlx5_1'),
                   (metric('rate_bytes_per_second', 'mlx5_0'), 400e9 / 8, 'rate of mlx5_0')]
        failed = [f'{what}: the exporter says {seen:g}, written was {want:g}' for seen, want, what in checks
                  if seen != want]
        print('\n'.join(failed) or f'ok: {len(checks)} values read back by prometheus-node-exporter')
        return 1 if failed else 0


sys.exit(main())
