"""Start and stop a Spark session, and summarise errors of the cluster in one line.

In: the name of the program and a master URL. Out: a `SparkSession`; UsageError for problems of the cluster.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from absolve.core.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def session(name: str, master: str | None = None) -> Iterator[SparkSession]:
    """Yield a Spark session, which is stopped at the end of the `with` block.

    Executors run this Python interpreter unless PYSPARK_PYTHON is set. Raise UsageError where Spark does not start, and
    where its executors fail during the block.
    """
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.appName(name)
    try:
        spark = (builder.master(master) if master is not None else builder).getOrCreate()
        try:
            yield spark
        finally:
            spark.stop()
    except (Py4JError, PySparkException) as error:
        raise UsageError(_in_words(error)) from error


def _in_words(error: Exception) -> str:
    """Return one line for an exception of Spark: its cause, and the remedy where one is known."""
    text = str(error)
    if "JAVA_GATEWAY_EXITED" in text:
        home = os.environ.get("JAVA_HOME")
        why = "what it says stands above" if shutil.which("java", path=home and f"{home}/bin") else "there is no Java"
        return f"Spark does not start: {why}; it needs Java 17 or newer (Debian: apt-get install default-jre-headless)"
    if lacking := re.search(r"ModuleNotFoundError: (No module named '[^']+')", text):
        return (
            f"the executors cannot work: {lacking[1]} in their Python, which PYSPARK_PYTHON names:"
            " pip install 'absolve[spark]' there, too"
        )
    found = re.search(r"^: [\w.$]+: (.+)", text, re.MULTILINE)  # the Java exception, in the format of py4j
    return f"Spark: {found[1] if found else text.partition(chr(10))[0]}"
