# SPDX-License-Identifier: Apache-2.0
"""Runs virtual controllers in a child process. SIGHUP cuts their power: the child is killed and a new one is started.

The ports stay the same, because this process keeps the listeners open. A host that connects in between waits for the
new controllers.
"""

import asyncio
import ctypes
import json
import os
import signal
import socket
import sys
from collections.abc import Awaitable, Callable

DEATH_SIGNAL = 1

# Serves the listeners forever, and calls the function when it is ready.
Controllers = Callable[[list[socket.socket], Callable[[], object]], Awaitable[None]]


def start(controllers: Controllers, listeners: list[socket.socket], signals: set[signal.Signals]) -> int:
    """Starts the child, and returns when it serves the listeners."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        ctypes.CDLL(None).prctl(DEATH_SIGNAL, signal.SIGKILL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, signals)
        asyncio.run(controllers(listeners, lambda: os.write(writer, b".")))
        sys.exit()
    os.close(writer)
    is_ready = os.read(reader, 1)
    os.close(reader)
    if not is_ready:
        sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    return child


def run(controllers: Controllers, count: int) -> None:
    """Opens `count` listeners and serves them until this process is killed.

    Prints a line of JSON, {"ports": [...]}: the TCP ports of 127.0.0.1 on which two
    controllers speak HCI.
    """
    signals = {signal.SIGHUP, signal.SIGCHLD}
    signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    listeners = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    child = start(controllers, listeners, signals)
    ports = [listener.getsockname()[1] for listener in listeners]
    print(json.dumps({"ports": ports * (2 // count)}), flush=True)
    while True:
        if signal.sigwait(signals) == signal.SIGHUP:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            child = start(controllers, listeners, signals)
            continue
        # SIGCHLD of the killed child may still be pending.
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            sys.exit(os.waitstatus_to_exitcode(status))
