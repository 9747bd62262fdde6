# SPDX-License-Identifier: Apache-2.0
"""Two virtual Bluetooth controllers of bumble on one simulated link. `powered` says what is printed."""

import asyncio
import socket
from collections.abc import Callable

from bumble.controller import Controller
from bumble.link import LocalLink
from bumble.transport.tcp_server import open_tcp_server_transport_with_socket

import powered


async def serve(listeners: list[socket.socket], ready: Callable[[], object]) -> None:
    link = LocalLink()
    kept = []
    for name, listener in zip(("first", "second"), listeners):
        transport = await open_tcp_server_transport_with_socket(listener)
        kept.append(transport)
        kept.append(Controller(name, host_source=transport.source, host_sink=transport.sink, link=link))
    ready()
    await asyncio.get_running_loop().create_future()


powered.run(serve, 2)
