"""One bucket for all tests: Java's environment, which executors get, is that of the moment when it starts."""

import os
from collections.abc import Iterator

import pytest

from tests.shapes.s3_server import Bucket, made, serving


@pytest.fixture(scope="session", autouse=True)
def bucket() -> Iterator[Bucket]:
    with serving() as endpoint:
        found = made(endpoint, "bucket")
        before = dict(os.environ)
        os.environ.update(found.environment)
        yield found
        os.environ.clear()
        os.environ.update(before)
