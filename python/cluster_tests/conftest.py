"""A real S3 server, and a Ray cluster of three nodes, on loopback."""

from __future__ import annotations

import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

os.environ["RAY_USAGE_STATS_ENABLED"] = "0"  # before Ray is imported: it would try to report
os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")

ACCESS, SECRET = "ACCESS", "SECRETWORD"


@dataclass
class S3:
    """A server, its options for s3fs, and the folder behind its bucket `data`."""

    port: int
    options: dict[str, Any]
    folder: pathlib.Path

    def put(self, path: str, text: bytes) -> None:
        """Writes an object, by the server: it remembers what its folders hold."""
        import s3fs

        s3fs.S3FileSystem(**self.options).pipe_file(f"data/{path}", text)

    def through(self, port: int) -> dict[str, Any]:
        """The options by way of a proxy."""
        return {**self.options, "endpoint_url": f"http://127.0.0.1:{port}"}


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def rclone_program() -> str:
    beside = pathlib.Path(sys.executable).with_name("rclone")
    return str(beside) if beside.exists() else shutil.which("rclone") or "rclone"


@pytest.fixture(scope="session")
def s3(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3]:
    root = tmp_path_factory.mktemp("s3")
    (root / "data").mkdir()
    port = free_port()
    log = open(root.with_suffix(".log"), "wb")
    command = [rclone_program(), "serve", "s3", "--addr", f"127.0.0.1:{port}", "--auth-key",
               f"{ACCESS},{SECRET}", "--vfs-cache-mode", "off", str(root)]
    server = subprocess.Popen(
        command,
        stdout=log,
        stderr=subprocess.STDOUT,
        env={**os.environ, "RCLONE_CONFIG": os.devnull},
    )
    try:
        end = time.monotonic() + 30
        while b"Starting s3 server" not in root.with_suffix(".log").read_bytes():
            running = server.poll() is None and time.monotonic() < end
            assert running, root.with_suffix(".log").read_text()
            time.sleep(0.05)
        options = {
            "key": ACCESS,
            "secret": SECRET,
            "endpoint_url": f"http://127.0.0.1:{port}",
            "client_kwargs": {"region_name": "us-east-1"},
        }
        yield S3(port, options, root / "data")
    finally:
        server.terminate()
        server.wait(timeout=10)
        log.close()


HEALTH = {
    "health_check_initial_delay_ms": 1000,
    "health_check_period_ms": 1000,
    "health_check_timeout_ms": 2000,
    "health_check_failure_threshold": 3,
}
STORE_BYTES = 80 << 20


def started_cluster() -> Any:
    """Starts the nodes. On a machine that is busy, the first may miss its own deadline."""
    from ray.cluster_utils import Cluster

    # Loopback alone: with 127.0.0.1 Ray would wait for the machine's outer address.
    head = {
        "num_cpus": 1,
        "node_ip_address": "127.0.0.2",
        "include_dashboard": False,
        "object_store_memory": STORE_BYTES,
        "_system_config": HEALTH,
    }
    for attempt in range(3):
        made = None
        try:
            made = Cluster(initialize_head=True, head_node_args=head)
            made.extra = [
                made.add_node(
                    num_cpus=1, node_ip_address=f"127.0.0.{i}", object_store_memory=STORE_BYTES
                )
                for i in (3, 4)
            ]
            return made
        except Exception:
            if made is not None:
                made.shutdown()
            if attempt == 2:
                raise
    return None


@pytest.fixture(scope="session")
def cluster() -> Iterator[Any]:
    # Paths of its sockets are limited to 107 bytes.
    folder = tempfile.mkdtemp(prefix="ws", dir="/tmp")
    os.makedirs(f"{folder}/ray")
    os.environ["RAY_TMPDIR"] = folder
    import ray

    made = started_cluster()
    try:
        ray.init(address=made.address, _node_ip_address="127.0.0.2", log_to_driver=False)
        made.wait_for_nodes()
        yield made
    finally:
        ray.shutdown()
        made.shutdown()
        shutil.rmtree(folder, ignore_errors=True)
