"""Two virtual Bluetooth controllers of bumble on one simulated link.

Prints a line of JSON, {"ports": [P1, P2]}: the TCP ports of 127.0.0.1 on which they speak HCI. Runs until it is killed.
"""

import asyncio
import json
import socket

from bumble.controller import Controller
from bumble.link import LocalLink
from bumble.transport.tcp_server import open_tcp_server_transport_with_socket


async def main() -> None:
    link = LocalLink()
    kept = []
    ports = []
    for name in ("first", "second"):
        listener = socket.create_server(("127.0.0.1", 0))
        ports.append(listener.getsockname()[1])
        transport = await open_tcp_server_transport_with_socket(listener)
        kept.append(transport)
        kept.append(Controller(name, host_source=transport.source, host_sink=transport.sink, link=link))
    print(json.dumps({"ports": ports}), flush=True)
    await asyncio.get_running_loop().create_future()


asyncio.run(main())
