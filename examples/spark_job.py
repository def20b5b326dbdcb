"""Write the links and errors of many inputs on a cluster: spark-submit examples/spark_job.py INPUT... OUTPUT

INPUT is a file, a folder or an archive that every executor can read; OUTPUT is a folder, or a URL that Spark can write.
"""

import sys

from absolve import spark


def main(*arguments: str) -> None:
    *paths, output = arguments
    with spark.session("links") as session:
        errors = spark.write(session, paths, f"{output}/links", profile="whatwg")
        errors.write.json(f"{output}/errors")
        session.read.parquet(f"{output}/links").groupBy("scope", "base_layer").count().orderBy("scope", "base_layer").show()


if __name__ == "__main__":
    main(*sys.argv[1:])
