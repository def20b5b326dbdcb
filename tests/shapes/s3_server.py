"""A server of S3 on loopback (moto's), with the settings for it in the environment; commands that are started have them, too."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import pytest


class Bucket(NamedTuple):
    """An empty bucket, and a client of another library."""

    name: str
    client: Any
    environment: dict[str, str]

    def url(self, key: str = "") -> str:
        return f"s3://{self.name}/{key}"

    def put(self, files: dict[str, bytes]) -> None:
        for key, data in files.items():
            self.client.put_object(Bucket=self.name, Key=key, Body=data)

    def files(self, prefix: str = "") -> dict[str, bytes]:
        """Return what objects have, by key."""
        found = self.client.list_objects_v2(Bucket=self.name, Prefix=prefix).get("Contents", [])
        return {one["Key"]: self.client.get_object(Bucket=self.name, Key=one["Key"])["Body"].read() for one in found}

    def unfinished(self) -> list[Any]:
        """Return the uploads that are neither completed nor aborted."""
        return list(self.client.list_multipart_uploads(Bucket=self.name).get("Uploads", []))


@contextmanager
def serving() -> Iterator[str]:
    """Yield the URL of a server; skip without one."""
    server = pytest.importorskip("moto.server", reason="there is no moto: pip install 'absolve[test]'")
    pytest.importorskip("s3fs", reason="there is no s3fs: pip install 'absolve[s3]'")
    logging.getLogger("werkzeug").setLevel(logging.CRITICAL)
    running = server.ThreadedMotoServer("127.0.0.1", port=0, verbose=False)
    running.start()
    try:
        host, port = running.get_host_and_port()
        yield f"http://{host}:{port}"
    finally:
        running.stop()


def made(endpoint: str, name: str) -> Bucket:
    """Return a new bucket."""
    import boto3

    environment = {
        "AWS_ACCESS_KEY_ID": "who", "AWS_SECRET_ACCESS_KEY": "sesame-of-nobody", "AWS_ENDPOINT_URL": endpoint, "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_EC2_METADATA_DISABLED": "true",
    }
    client = boto3.client(
        "s3", endpoint_url=endpoint, region_name="us-east-1", aws_access_key_id=environment["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=environment["AWS_SECRET_ACCESS_KEY"],
    )
    client.create_bucket(Bucket=name)
    return Bucket(name, client, environment)
