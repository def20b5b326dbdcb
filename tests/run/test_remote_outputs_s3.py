"""Remote stores with an S3 server: moto's, in a subprocess."""

import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyarrow import fs

from absolve.run import remote_outputs

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def settings() -> Iterator[dict[str, str]]:
    """Return Hadoop's settings of a server with an empty bucket; skip without a server."""
    command = shutil.which("moto_server")
    if command is None:
        pytest.skip("there is no moto_server (pip install 'moto[server]')")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    endpoint = f"127.0.0.1:{port}"
    argv = [command, "-H", "127.0.0.1", "-p", str(port)]
    with subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        try:
            _wait(port)
            files = fs.S3FileSystem(
                access_key="who",
                secret_key="sesame",  # noqa: S106 - of nobody
                endpoint_override=endpoint,
                scheme="http",
                region="us-east-1",
                allow_bucket_creation=True,
            )
            files.create_dir("bucket")
            _try(files)
            yield {
                "fs.s3a.access.key": "who",
                "fs.s3a.secret.key": "sesame",
                "fs.s3a.endpoint": f"http://{endpoint}",
                "fs.s3a.endpoint.region": "us-east-1",
            }
        finally:
            server.terminate()


def _wait(port: int) -> None:
    until = time.monotonic() + 60
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            if time.monotonic() > until:
                raise
            time.sleep(0.1)
        else:
            return


def _try(files: Any) -> None:
    """Skip if Arrow alone cannot write to the server: moto 5.2.1 replies to the end of an upload with an empty body."""
    try:
        with files.open_output_stream("bucket/tried") as out:
            out.write(b"x")
    except OSError as error:
        pytest.skip(f"this moto_server does not speak with Arrow: {error}")
    files.delete_file("bucket/tried")


def _all(files: Any) -> list[str]:
    found = files.get_file_info(fs.FileSelector("bucket", recursive=True))
    return sorted(info.path for info in found if info.type is fs.FileType.File)


def test_a_file_is_uploaded_to_s3_completely_and_replaces_an_existing_one(settings: dict[str, str], tmp_path: Path) -> None:
    store = remote_outputs.of("s3a://bucket/below/", settings.get)
    source = tmp_path / "x"
    for data in (b"old", b"new" * 4_000_000):  # the second one is uploaded in several parts
        source.write_bytes(data)
        store.put(source, "a/b c é.html")
        with store.files.open_input_stream("bucket/below/a/b c é.html") as stream:
            assert stream.read() == data
    assert _all(store.files) == ["bucket/below/a/b c é.html"]


def test_a_failed_upload_to_s3_is_reported_and_leaves_no_file(settings: dict[str, str], tmp_path: Path) -> None:
    store = remote_outputs.of("s3://none/below", settings.get)
    (tmp_path / "x").write_bytes(b"new")
    with pytest.raises(OSError, match="none"):
        store.put(tmp_path / "x", "a.html")
