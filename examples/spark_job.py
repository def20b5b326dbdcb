"""Write the links of many inputs on a cluster: spark-submit examples/spark_job.py INPUT... OUTPUT

INPUT is a file, a folder or an archive that every executor can read; OUTPUT is a folder, or a URL that Spark can write.
"""

import sys

from pyspark.sql import SparkSession

from absolve import spark


def main(*arguments: str) -> None:
    *paths, output = arguments
    session = SparkSession.builder.appName("links").getOrCreate()
    spark.links(session, paths, failures=True, profile="whatwg").write.parquet(output)
    rows = session.read.parquet(output)
    rows.where("failure IS NULL").groupBy("scope", "base_layer").count().orderBy("scope", "base_layer").show()
    print(rows.where("failure IS NOT NULL").count(), "failures")
    session.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
