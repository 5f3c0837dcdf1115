#!/usr/bin/env python3
"""Creates a GPU host for hwloc: an XML file like lstopo's or a tree for HWLOC_FSROOT.

    gen_host.py --xml FILE [--host NAME] [OPTIONS]        hwloc 2 XML
    gen_host.py --fsroot DIR [--host NAME] [OPTIONS]      DIR/sys and DIR/proc

A TEST DOUBLE. Two sockets, each a NUMA node and a PCI domain; every GPU (10de:2330) shares a PCI switch with one or more HCAs
(15b3:1021); storage HCAs have separate root ports on socket 0.

    --gpus 8           GPUs
    --hcas 8           compute HCAs: HCA i is next to GPU i * GPUS / HCAS
    --order 3,0,1,2    device numbers of the compute HCAs by position; mlx5_ORDER[i] is HCA i
    --storage 2        storage HCAs, numbered after the compute HCAs
    --guid 0x946dae0000010000   base of the node GUIDs: mlx5_N has base + (N + 1) * 16
    --dead 3,5         devices that the host has lost
    --flat             no PCI switches: GPUs and HCAs are on the root ports of their sockets
"""
import argparse
import os
import pathlib
import struct

CORES = 4  # per socket


class Bridge:
    def __init__(self, busid, first, last):
        self.busid, self.first, self.last, self.below = busid, first, last, []


class Device:
    def __init__(self, busid, kind, name=None, guid=0):
        self.busid, self.kind, self.name, self.guid, self.below = busid, kind, name, guid, []


def layout(options):
    """Two lists of root ports, one per socket."""
    dead = set(options.dead)

    def hca(domain, bus, number):
        return Device(f'{domain:04x}:{bus:02x}:00.0', 'hca', f'mlx5_{number}', options.guid + (number + 1) * 16)

    sockets = [[], []]
    for gpu in range(options.gpus):
        domain = gpu * 2 // options.gpus
        socket = sockets[domain]
        base = 0x10 + gpu * 0x18
        hcas = [options.order[i] for i in range(options.hcas) if i * options.gpus // options.hcas == gpu]
        devices = [hca(domain, base + 3 + n, number) for n, number in enumerate(hcas) if number not in dead]
        devices.append(Device(f'{domain:04x}:{base + 8:02x}:00.0', 'gpu'))
        if options.flat:
            for device in devices:
                bus = int(device.busid[5:7], 16)
                port = Bridge(f'{domain:04x}:00:{bus >> 3:02x}.{bus & 7}', bus, bus)
                port.below.append(device)
                socket.append(port)
            continue
        root = Bridge(f'{domain:04x}:00:{base >> 3:02x}.0', base, base + 0xf)
        up = Bridge(f'{domain:04x}:{base:02x}:00.0', base + 1, base + 0xf)
        root.below.append(up)
        for n, device in enumerate(devices):
            bus = int(device.busid[5:7], 16)
            down = Bridge(f'{domain:04x}:{base + 1:02x}:{n:02x}.0', bus, bus)
            down.below.append(device)
            up.below.append(down)
        socket.append(root)
    for n in range(options.storage):
        bus = 0xe0 + n * 2
        port = Bridge(f'0000:00:{bus >> 3:02x}.{bus & 7}', bus, bus)
        if options.hcas + n not in dead:
            port.below.append(hca(0, bus, options.hcas + n))
        sockets[0].append(port)
    return sockets


def guid_text(guid):
    digits = f'{guid:016x}'
    return ':'.join(digits[i:i + 4] for i in range(0, 16, 4))


IDS = {'gpu': (0x0302, 0x10de, 0x2330), 'hca': (0x0207, 0x15b3, 0x1021), 'bridge': (0x0604, 0x1000, 0xc030)}


def xml(options, sockets):
    count = [0]
    out = ['<?xml version="1.0" encoding="UTF-8"?>', '<!DOCTYPE topology SYSTEM "hwloc2.dtd">', '<topology version="2.0">']

    def number():
        count[0] += 1
        return f'gp_index="{count[0]}"'

    def cpus(first, last):
        sets = f'0x{((1 << last) - 1) ^ ((1 << first) - 1):08x}'
        return f'cpuset="{sets}" complete_cpuset="{sets}"'

    def nodes(sets):
        return f'nodeset="0x{sets:08x}" complete_nodeset="0x{sets:08x}"'

    def put(item, depth):
        pad = ' ' * depth
        kind = 'bridge' if isinstance(item, Bridge) else item.kind
        pci_class, vendor, device = IDS[kind]
        pci = f'pci_busid="{item.busid}" pci_type="{pci_class:04x} [{vendor:04x}:{device:04x}] [0000:0000] 00" pci_link_speed="63.0"'
        if kind == 'bridge':
            out.append(f'{pad}<object type="Bridge" {number()} bridge_type="1-1" depth="{depth - 3}" '
                       f'bridge_pci="{item.busid[:4]}:[{item.first:02x}-{item.last:02x}]" {pci}>')
            for below in item.below:
                put(below, depth + 1)
        else:
            out.append(f'{pad}<object type="PCIDev" {number()} {pci}>')
            if kind == 'hca':
                out.append(f'{pad} <object type="OSDev" {number()} name="{item.name}" osdev_type="3">'
                           f'<info name="NodeGUID" value="{guid_text(item.guid)}"/></object>')
        out.append(f'{pad}</object>')

    everything = cpus(0, 2 * CORES)
    out.append(f'<object type="Machine" os_index="0" {everything} allowed_{everything.split()[0]} {nodes(3)} allowed_nodeset="0x00000003" {number()}>')
    out.append(f' <info name="HostName" value="{options.host}"/>')
    for socket, ports in enumerate(sockets):
        mine, node = cpus(socket * CORES, (socket + 1) * CORES), nodes(1 << socket)
        out.append(f' <object type="Package" os_index="{socket}" {mine} {node} {number()}>')
        out.append(f'  <object type="NUMANode" os_index="{socket}" {mine} {node} {number()} local_memory="1099511627776"/>')
        for core in range(socket * CORES, (socket + 1) * CORES):
            one = cpus(core, core + 1)
            out.append(f'  <object type="Core" os_index="{core}" {one} {node} {number()}>'
                       f'<object type="PU" os_index="{core}" {one} {node} {number()}/></object>')
        last = max((port.last for port in ports), default=0)
        out.append(f'  <object type="Bridge" {number()} bridge_type="0-1" depth="0" bridge_pci="{socket:04x}:[00-{last:02x}]">')
        for port in ports:
            put(port, 3)
        out.append('  </object>')
        out.append(' </object>')
    out += ['</object>', '</topology>', '']
    return '\n'.join(out)


def fsroot(options, sockets):
    root = pathlib.Path(options.fsroot)

    def write(path, content):
        path = root / path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else f'{content}\n'.encode())

    def link(path, target):
        path = root / path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(os.path.relpath(root / target, path.parent))

    total = 2 * CORES
    for name in ('online', 'possible', 'present'):
        write(f'sys/devices/system/cpu/{name}', f'0-{total - 1}')
        write(f'sys/devices/system/node/{name}', '0-1')
    for cpu in range(total):
        socket = cpu // CORES
        mask = f'{((1 << CORES) - 1) << socket * CORES:08x}'
        for name, value in {'physical_package_id': socket, 'core_id': cpu, 'thread_siblings': f'{1 << cpu:08x}',
                            'core_siblings': mask, 'core_cpus': f'{1 << cpu:08x}', 'package_cpus': mask}.items():
            write(f'sys/devices/system/cpu/cpu{cpu}/topology/{name}', value)
    for node in range(2):
        write(f'sys/devices/system/node/node{node}/cpumap', f'{((1 << CORES) - 1) << node * CORES:08x}')
        write(f'sys/devices/system/node/node{node}/distance', '10 20' if node == 0 else '20 10')
        write(f'sys/devices/system/node/node{node}/meminfo', f'Node {node} MemTotal: 1073741824 kB')
    write('proc/cpuinfo', '\n\n'.join(f'processor\t: {cpu}' for cpu in range(total)))
    write('proc/meminfo', 'MemTotal: 2147483648 kB')
    write('proc/sys/kernel/hostname', options.host)

    def put(item, above, socket):
        kind = 'bridge' if isinstance(item, Bridge) else item.kind
        pci_class, vendor, device = IDS[kind]
        path = f'{above}/{item.busid}'
        config = bytearray(64)
        struct.pack_into('<HH', config, 0, vendor, device)
        struct.pack_into('<H', config, 10, pci_class)
        config[14] = 1 if kind == 'bridge' else 0
        if kind == 'bridge':
            config[24:27] = bytes([int(item.busid[5:7], 16), item.first, item.last])
        mask = f'{((1 << CORES) - 1) << socket * CORES:08x}'
        for name, value in {'class': f'0x{pci_class:04x}00', 'vendor': f'0x{vendor:04x}', 'device': f'0x{device:04x}',
                            'subsystem_vendor': '0x0000', 'subsystem_device': '0x0000', 'revision': '0x00',
                            'local_cpus': mask, 'numa_node': socket, 'config': bytes(config)}.items():
            write(f'{path}/{name}', value)
        link(f'sys/bus/pci/devices/{item.busid}', path)
        if kind == 'hca':
            write(f'{path}/infiniband/{item.name}/node_guid', guid_text(item.guid))
            link(f'{path}/infiniband/{item.name}/device', path)
            link(f'sys/class/infiniband/{item.name}', f'{path}/infiniband/{item.name}')
        for below in item.below:
            put(below, path, socket)

    for socket, ports in enumerate(sockets):
        for port in ports:
            put(port, f'sys/devices/pci{socket:04x}:00', socket)


def numbers(text):
    return [int(part, 0) for part in text.split(',') if part]


def main():
    parser = argparse.ArgumentParser(description='Make a GPU host for hwloc (a test double).')
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument('--xml')
    where.add_argument('--fsroot')
    parser.add_argument('--host', default='n001')
    parser.add_argument('--gpus', type=int, default=8)
    parser.add_argument('--hcas', type=int, default=8)
    parser.add_argument('--order', type=numbers)
    parser.add_argument('--storage', type=int, default=2)
    parser.add_argument('--guid', type=lambda text: int(text, 0), default=0x946dae0000010000)
    parser.add_argument('--dead', type=numbers, default=[])
    parser.add_argument('--flat', action='store_true')
    options = parser.parse_args()
    options.order = options.order or list(range(options.hcas))
    sockets = layout(options)
    if options.xml:
        text = xml(options, sockets)
        if options.xml == '-':
            print(text, end='')
        else:
            pathlib.Path(options.xml).write_text(text)
    else:
        fsroot(options, sockets)


main()
