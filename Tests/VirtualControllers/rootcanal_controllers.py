# SPDX-License-Identifier: Apache-2.0
"""Virtual Bluetooth controllers of RootCanal on one simulated link.

RootCanal listens on fixed ports of every address, so it runs in a network namespace of its own. A listener of the
original namespace stays open in this process and forwards each connection, which gets a controller of its own. Without
the right to create a network namespace, it creates a user namespace as well. `powered` says what is printed.
"""

import asyncio
import ctypes
import fcntl
import socket
import struct
import subprocess
import sys
from collections.abc import Callable

from rootcanal.binaries import get_package_binary_resource_path

import powered

HCI_PORT = 6402
NEW_USER_NAMESPACE = 0x10000000
NEW_NETWORK_NAMESPACE = 0x40000000
SET_INTERFACE_FLAGS = 0x8914
INTERFACE_UP_AND_RUNNING = 0x41
DEATH_SIGNAL = 1
KILL = 9


def enter_network_namespace(library: ctypes.CDLL) -> None:
    flags = NEW_NETWORK_NAMESPACE
    if library.unshare(flags) != 0 and library.unshare(flags | NEW_USER_NAMESPACE) != 0:
        sys.exit("no network namespace could be created: run as root or allow user namespaces")
    request = struct.pack("16sh14x", b"lo", INTERFACE_UP_AND_RUNNING)
    with socket.socket() as any_socket:
        fcntl.ioctl(any_socket, SET_INTERFACE_FLAGS, request)


def start_rootcanal(library: ctypes.CDLL) -> subprocess.Popen:
    program = get_package_binary_resource_path("rootcanal")
    return subprocess.Popen(
        [program, "-hci_port", str(HCI_PORT)],
        stdout=subprocess.DEVNULL,
        preexec_fn=lambda: library.prctl(DEATH_SIGNAL, KILL),
    )


async def copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while data := await reader.read(4096):
            writer.write(data)
            await writer.drain()
    except ConnectionError:
        pass
    finally:
        writer.close()


async def forward(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    far_reader, far_writer = await asyncio.open_connection("127.0.0.1", HCI_PORT)
    await asyncio.gather(copy(reader, far_writer), copy(far_reader, writer))


async def until_listening(process: subprocess.Popen) -> None:
    while process.poll() is None:
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", HCI_PORT)
            writer.close()
            return
        except ConnectionError:
            await asyncio.sleep(0.05)
    sys.exit(f"RootCanal ended with status {process.returncode}")


async def serve(listeners: list[socket.socket], ready: Callable[[], object]) -> None:
    library = ctypes.CDLL(None, use_errno=True)
    enter_network_namespace(library)
    process = start_rootcanal(library)
    await until_listening(process)
    await asyncio.start_server(forward, sock=listeners[0])
    ready()
    await asyncio.to_thread(process.wait)
    sys.exit(f"RootCanal ended with status {process.returncode}")


powered.run(serve, 1)
