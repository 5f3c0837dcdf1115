#!/usr/bin/env python3
"""Creates and changes a sysfs tree with InfiniBand HCAs like the mlx5 driver's: ROOT/class/infiniband/mlx5_N.

A TEST DOUBLE of the kernel's tree, verified by tests/doubles/sysfs_test.py, where the real prometheus-node-exporter reads back
what was written.

    gen_sysfs.py ROOT [--hcas 8] [--host NAME] [--rate-gbps 400]    create the tree (existing files are overwritten)
    gen_sysfs.py ROOT --set mlx5_0.link_downed=3 …                  change attributes, counters or hw_counters
    gen_sysfs.py ROOT --set mlx5_0.link=down …                      state, phys_state (and rate) together: up or down
    gen_sysfs.py ROOT --remove mlx5_3                               removes the device from the host

Values are written in place, as the kernel's files keep their inode: a reader that holds them open sees the change. A shorter
value briefly leaves the old tail after its newline; readers use the first line. HCA N is at PCI bus 0x13 + 28 N, next to GPU N of
the NVML double.
"""
import argparse
import os
import sys

COUNTERS = """VL15_dropped excessive_buffer_overrun_errors link_downed link_error_recovery
local_link_integrity_errors multicast_rcv_packets multicast_xmit_packets port_rcv_constraint_errors port_rcv_data
port_rcv_errors port_rcv_packets port_rcv_remote_physical_errors port_rcv_switch_relay_errors
port_xmit_constraint_errors port_xmit_data port_xmit_discards port_xmit_packets port_xmit_wait symbol_error
unicast_rcv_packets unicast_xmit_packets""".split()
HW_COUNTERS = """duplicate_request implied_nak_seq_err lifespan local_ack_timeout_err out_of_buffer out_of_sequence
packet_seq_err req_cqe_error req_cqe_flush_error req_remote_access_errors req_remote_invalid_request resp_cqe_error
resp_cqe_flush_error resp_local_length_error resp_remote_access_errors rnr_nak_retry_err rx_atomic_requests
rx_dct_connect rx_read_requests rx_write_requests roce_adp_retrans roce_adp_retrans_to roce_slow_restart
roce_slow_restart_cnps roce_slow_restart_trans""".split()
RATES = {800: '4X XDR', 400: '4X NDR', 200: '4X HDR', 100: '4X EDR', 56: '4X FDR', 40: '4X QDR'}


def write(path, value):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    text = f'{value}\n'.encode()
    fd = os.open(path, os.O_WRONLY | os.O_CREAT, 0o644)
    try:
        os.pwrite(fd, text, 0)
        os.ftruncate(fd, len(text))
    finally:
        os.close(fd)


def rate_text(gbps):
    return f'{gbps} Gb/sec ({RATES[gbps]})'


def link(target, path):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if not os.path.islink(path):
        os.symlink(target, path)


def default_guid(n):
    return 0x946dae0000010000 + (n + 1) * 16


def make_hca(root, n, host, gbps, guid=None):
    domain, bus = n // 8, 0x13 + n % 8 * 28
    pci = f'{root}/devices/pci{domain:04x}:{bus - 3:02x}/{domain:04x}:{bus:02x}:00.0'
    device = f'{pci}/infiniband/mlx5_{n}'
    text = f'{default_guid(n) if guid is None else guid:016x}'
    guid = ':'.join(text[at:at + 4] for at in range(0, 16, 4))
    for name, value in {'numa_node': n % 8 // 4, 'vendor': '0x15b3', 'device': '0x1021',
                        'current_link_speed': '32.0 GT/s PCIe', 'current_link_width': 16,
                        'max_link_speed': '32.0 GT/s PCIe', 'max_link_width': 16}.items():
        write(f'{pci}/{name}', value)
    for name, value in {'board_id': 'MT_0000000838', 'fw_ver': '28.39.1002', 'hca_type': 'MT4129', 'hw_rev': '0x0',
                        'node_desc': f'{host} mlx5_{n}', 'node_guid': guid, 'node_type': '1: CA',
                        'sys_image_guid': guid}.items():
        write(f'{device}/{name}', value)
    port = f'{device}/ports/1'
    for name, value in {'state': '4: ACTIVE', 'phys_state': '5: LinkUp', 'rate': rate_text(gbps),
                        'link_layer': 'InfiniBand', 'lid': f'0x{n + 1:x}', 'lid_mask_count': 0, 'sm_lid': '0x1',
                        'sm_sl': 0, 'cap_mask': '0xa651e848'}.items():
        write(f'{port}/{name}', value)
    write(f'{port}/gids/0', f'fe80:0000:0000:0000:{guid}')
    for name in COUNTERS:
        write(f'{port}/counters/{name}', 0)
    for name in HW_COUNTERS:
        write(f'{port}/hw_counters/{name}', 12 if name == 'lifespan' else 0)
    classes = f'{root}/class/infiniband'
    link(os.path.relpath(device, classes), f'{classes}/mlx5_{n}')
    link('../..', f'{device}/device')


def assign(root, text, gbps):
    """Applies one DEVICE.NAME=VALUE; raises ValueError with the problem."""
    place, equals, value = text.partition('=')
    device, dot, name = place.partition('.')
    base = f'{root}/class/infiniband/{device}'
    port = f'{base}/ports/1'
    if not (equals and dot):
        raise ValueError(f'"{text}" is not DEVICE.NAME=VALUE, such as mlx5_0.link_downed=1')
    if not os.path.isdir(port):
        raise ValueError(f'{base}: no such device; make the tree first')
    if name == 'link':
        states = {'up': ('4: ACTIVE', '5: LinkUp', rate_text(gbps)), 'down': ('1: DOWN', '2: Polling', rate_text(40))}
        if value not in states:
            raise ValueError(f'{place}: "{value}" is neither up nor down')
        for file, content in zip(('state', 'phys_state', 'rate'), states[value]):
            write(f'{port}/{file}', content)
        return
    for path in (f'{port}/{name}', f'{port}/counters/{name}', f'{port}/hw_counters/{name}', f'{base}/{name}'):
        if os.path.isfile(path):
            write(path, value)
            return
    raise ValueError(f'{place}: no such attribute or counter')


def main():
    parser = argparse.ArgumentParser(description='Make or change a sysfs tree of mlx5 HCAs (a test double).')
    parser.add_argument('root')
    parser.add_argument('--hcas', type=int, default=8)
    parser.add_argument('--host', default=os.uname().nodename)
    parser.add_argument('--rate-gbps', type=int, default=400, choices=sorted(RATES))
    parser.add_argument('--set', action='append', default=[], metavar='DEVICE.NAME=VALUE')
    parser.add_argument('--remove', action='append', default=[], metavar='DEVICE')
    a = parser.parse_args()
    if not a.set and not a.remove:
        os.makedirs(f'{a.root}/class/infiniband', exist_ok=True)
        for n in range(a.hcas):
            make_hca(a.root, n, a.host, a.rate_gbps)
    try:
        for text in a.set:
            assign(a.root, text, a.rate_gbps)
        for device in a.remove:
            os.unlink(f'{a.root}/class/infiniband/{device}')
    except (ValueError, OSError) as e:
        sys.exit(f'gen_sysfs.py: {e}')


if __name__ == '__main__':
    main()
