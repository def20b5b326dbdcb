"""List the links of a monthly crawl of Common Crawl on Spark: spark-submit common_crawl.py warc.paths.gz s3://bucket/links.parquet

`warc.paths.gz` has the path of an archive a line; it is at https://data.commoncrawl.org/crawl-data/CC-MAIN-.../warc.paths.gz.
Run it in the region of the crawl (us-east-1), where reading costs requests only. A job that was stopped goes on with --resume.
"""

from __future__ import annotations

import argparse
import gzip
from pathlib import Path

from absolve import spark

BUCKET = "s3://commoncrawl/"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("paths", type=Path)
    parser.add_argument("output")
    parser.add_argument("--bucket", default=BUCKET)
    parser.add_argument("--first", type=int, help="take so many archives only, for a trial")
    parser.add_argument("--resume", action="store_true")
    options = parser.parse_args()
    with gzip.open(options.paths, "rt", encoding="utf-8") as file:
        urls = [options.bucket + line.strip() for line in file][: options.first]
    with spark.session("common crawl") as session:
        columns = ["document", "entity", "element", "kind", "text", "target", "scope"]
        failed = spark.write(session, urls, options.output, columns=columns, resume=options.resume)
        failed.write.mode("overwrite").parquet("errors.parquet")


if __name__ == "__main__":
    main()
