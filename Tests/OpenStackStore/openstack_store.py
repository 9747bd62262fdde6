# SPDX-License-Identifier: Apache-2.0
"""OpenStack Swift with its interface of S3 on one machine: `openstack_store.py FOLDER PORT BUCKET`.

The servers of accounts, containers, objects and the proxy run in one process. The data in FOLDER outlives it. The proxy
listens on PORT of 127.0.0.1; objects of the bucket can be read without credentials under /v1/AUTH_test/BUCKET/. Prints
a line when it accepts requests.
"""

import os
import socket
import sys

import eventlet
import eventlet.wsgi

eventlet.monkey_patch()

from swift.common import utils  # noqa: E402

STORAGE = """
[DEFAULT]
swift_dir = {folder}
devices = {folder}/devices
mount_check = false
fallocate_reserve = 0
[pipeline:main]
pipeline = {kind}-server
[app:{kind}-server]
use = egg:swift#{kind}
"""

# Four filters that every proxy needs are added by it.
PROXY = """
[DEFAULT]
swift_dir = {folder}
[pipeline:main]
pipeline = s3api tempauth slo dlo proxy-server
[app:proxy-server]
use = egg:swift#proxy
account_autocreate = true
[filter:s3api]
use = egg:swift#s3api
[filter:tempauth]
use = egg:swift#tempauth
user_test_tester = testing .admin
[filter:slo]
use = egg:swift#slo
[filter:dlo]
use = egg:swift#dlo
"""


class NoCache:
    """The cache that the filter of credentials needs. It keeps nothing."""

    def get(self, *arguments: object, **options: object) -> None:
        return None

    set = delete = get


def write(folder: str, name: str, text: str) -> str:
    path = os.path.join(folder, name)
    with open(path, "w") as file:
        file.write(text)
    return path


def write_ring(folder: str, kind: str, port: int) -> None:
    """A ring with one device. The places of objects do not depend on the port, which is another at each start."""
    from swift.common.ring import RingBuilder

    builder = RingBuilder(part_power=4, replicas=1, min_part_hours=1)
    address = {"ip": "127.0.0.1", "port": port, "replication_ip": "127.0.0.1", "replication_port": port}
    builder.add_dev({"id": 0, "region": 1, "zone": 1, "weight": 1, "device": "d1", "meta": "", **address})
    builder.rebalance()
    builder.get_ring().save(os.path.join(folder, f"{kind}.ring.gz"))


def serve(path: str, listener: socket.socket) -> None:
    from swift.common.http_protocol import SwiftHttpProtocol
    from swift.common.wsgi import NullLogger, loadapp

    app = loadapp(path)

    def with_cache(environ: dict, start_response: object) -> object:
        environ["swift.cache"] = NoCache()
        return app(environ, start_response)

    # As the programs of Swift do. Programs of S3 need `ETag` and not `Etag`.
    eventlet.spawn(
        eventlet.wsgi.server,
        listener,
        with_cache,
        NullLogger(),
        protocol=SwiftHttpProtocol,
        capitalize_response_headers=False,
    )


def create_bucket(path: str, bucket: str) -> None:
    """Creates the bucket with its account without the filters. Anyone may read its objects."""
    from swift.common.swob import Request
    from swift.common.wsgi import loadapp

    request = Request.blank(
        f"/v1/AUTH_test/{bucket}",
        environ={"REQUEST_METHOD": "PUT", "swift_owner": True},
        headers={"X-Container-Read": ".r:*"},
    )
    response = request.get_response(loadapp(path)._pipeline_final_app)
    if response.status_int not in (201, 202):
        sys.exit(f"The bucket was not created: {response.status}")


def main() -> None:
    folder, port, bucket = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    os.makedirs(os.path.join(folder, "devices", "d1"), exist_ok=True)
    write(folder, "swift.conf", "[swift-hash]\nswift_hash_path_suffix = tests\n")
    utils.set_swift_dir(folder)
    for kind in ("account", "container", "object"):
        listener = eventlet.listen(("127.0.0.1", 0))
        write_ring(folder, kind, listener.getsockname()[1])
        serve(write(folder, f"{kind}.conf", STORAGE.format(folder=folder, kind=kind)), listener)
    proxy = write(folder, "proxy.conf", PROXY.format(folder=folder))
    create_bucket(proxy, bucket)
    serve(proxy, eventlet.listen(("127.0.0.1", port)))
    print("ready", flush=True)
    eventlet.Event().wait()


main()
