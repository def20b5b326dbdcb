"""Links and errors of many inputs from a cluster: spark-submit examples/spark_job.py INPUT... OUTPUT

INPUT is a file, a folder or an archive where every executor sees it; OUTPUT is a folder, or a URL that Spark writes.
"""

import sys

from absolve import spark


def main(*arguments: str) -> None:
    *paths, output = arguments
    with spark.session("links") as session:
        made = spark.tables(session, paths, profile="whatwg").kept()
        spark.save(made.links, f"{output}/links", "parquet")
        spark.save(made.errors, f"{output}/errors", "json")
        made.links.groupBy("scope", "base_layer").count().orderBy("scope", "base_layer").show()


if __name__ == "__main__":
    main(*sys.argv[1:])
