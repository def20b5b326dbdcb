"""Wrong usage: status 2, a message that names what is wrong, and not a byte written, whatever the command."""

import shlex
from pathlib import Path
from typing import Final

import pytest
from command_runner import PAGE, PROFILE_WORDS, Runner

from tests.shapes.captures import files_below, written

INSIDE: Final = "output and input must be separate folders"
RESUME: Final = "--resume needs -o FILE"
WRONG: Final = [  # a command line, and what its message says
    # inputs
    ("links a.html --include *", "need a folder as INPUT"), ("links site --url http://h/?x", "no query"),
    ("links site --url-map none.csv", "none.csv: not-found"), ("links - --from -", "can be read only once"), ("rewrite - -", "can be read only once"),
    ("rewrite a.html b.html", "several inputs"), ("verify a.html", "missing: AFTER"), ("verify - -", "can be read only once"),
    ("links a.html --url page.html", "absolute URL, not 'page.html'"), ("links a.html --url http://[", "absolute URL, not 'http://['"),
    ("links a.html --url ''", "absolute URL, not ''"), ("links ftp://h.example/", "only URLs of http and https are asked for"),
    ("audit ftp://h.example/", "only URLs of http and https are asked for"), ("links a.html --fail-on malformed,broken", "unknown problem 'broken'"),
    # outputs
    ("rewrite site", "need -o FOLDER or --in-place"), ("rewrite --from list", "need -o FOLDER or --in-place"),
    ("rewrite site -o site", "to replace inputs, give --in-place"),
    ("rewrite site -o site/out", INSIDE),
    ("rewrite site -o .", INSIDE),
    ("rewrite site -o soft/out", INSIDE),
    ("rewrite site -o table", "is a file"), ("rewrite a.html b.html -o a.html", "is a file"),
    ("rewrite site other/site -o out", "both be written to"), ("rewrite a.html d/a.html -o out", "both be written to"),
    ("rewrite - -o out/", "the standard input (-) has no file name"), ("rewrite - --in-place", "cannot replace the standard input (-)"),
    ("rewrite http://h.example/ --in-place", "--in-place cannot replace http://h.example/"),
    ("rewrite a.html --in-place -o out", "exclude each other"), ("rewrite a.html --dry-run --diff", "exclude each other"),
    ("rewrite a.html --backup .bak", "--backup needs --in-place"), ("rewrite a.html --in-place --backup d/x", "--backup needs a suffix"),
    ("rewrite a.html --in-place --backup ''", "--backup needs a suffix"), ("links site --format sqlite", "cannot be written to the standard output"),
    ("links a.html -o links.xls", "links.xls: no format has this suffix"), ("links a.html -o a.html --format csv", "is also an input"),
    ("links a.html -o link.csv", "is also an input"),
    *(
        (f"{command} {options} -o table{form}", "table")  # a list or a table that is read
        for command, form in (("links", " -f csv"), ("documents", " -f csv"), ("rewrite", ""))
        for options in ("--from table", "--url-map table a.html")
    ),
    ("rewrite --remap=@table a.html -o table", "table"), ("mirror http://h.example/", "a mirror needs -o DIR, or -o FILE.zip"),
    ("mirror site --url http://h/ -o x.html", "one page becomes one file"),
    ("mirror c.warc -o m --start x", "--start needs the URL of a page, not 'x'"),
    ("mirror site -o m --depth 1", "--depth needs a URL as INPUT, or --start URL"),
    # logs
    ("rewrite a.html -o o.html --log a.html", "the output a.html is also an input"), ("rewrite a.html -o o.html --log o.html", "are the same file"),
    ("rewrite a.html -o o.html --log log.parquet", "--log "), ("rewrite a.html -o o.html --log log.html5", "log.html5: no format has this suffix"),
    ("rewrite site -o out --log out/a.html", "--log out/a.html is "),
    ("rewrite a.html --in-place --backup .csv --log a.html.csv", "--log a.html.csv is "),
    ("rewrite a.html -o o.html --remap @moved.csv --log moved.csv", "the output moved.csv is also an input"),
    ("rewrite a.html b.html --in-place --log c.csv --resume", "--log cannot be continued"),
    # runs that are continued
    *((f"links a.html --resume {options}", RESUME) for options in ("", "-o l.parquet", "-o l.sqlite", "-o l.txt -f table")),
    ("links a.html --resume -o l.csv --sql 'FROM links'", RESUME),
    ("links a.html a.html --resume -o l.csv", "--resume needs each input once"),
    *((f"rewrite {run} --resume", "--resume") for run in ("a.html --in-place", "site --dry-run", "a.html", "site --in-place")),
    # values
    ("links site --jobs 0", "must be a number"), ("links a.html --format xls", "--format takes jsonl, json, csv,"),
    ("links a.html --charset klingon", "unknown charset 'klingon'"), ("links a.html --profile rfc2396", f"--profile takes {PROFILE_WORDS}"),
    ("links a.html --prof rfc1808", "unknown option --prof"), ("links a.html --kind picture", "unknown kind 'picture'"),
    ("links a.html --scope near", "unknown scope 'near'"), ("links a.html --problem bad", "unknown problem 'bad'"),
    ("links a.html --columns uri", "unknown column 'uri'"), ("links a.html --columns title", "unknown column 'title'"),
    ("documents a.html --columns target", "unknown column 'target'"), ("links a.html --columns ,", "--columns"),
    ("links a.html --columns kind,kind", "--columns"), ("rewrite a.html --kind image --base empty", "--base"),
    ("rewrite a.html --remap http://h", "--remap"), ("rewrite a.html --remap h=http://g", "'h' in a remapping rule is not an absolute URL"),
    ("rewrite a.html --remap @none.csv", "none.csv"), ("rewrite - --unwrap waybak", "wayback"), ("completion cmd.exe", "cmd.exe"),
    ("links http://h.example/ --header ' x'", "a field of a request is 'Name: value' in ASCII"),
    ("links http://h.example/ --header 'a: b\r\nc: d'", "a field of a request is 'Name: value' in ASCII"),
    ("links http://h.example/ --cookies none.txt", "--cookies: "), ("audit site --save a.warc", "--save needs --live, or a URL"),
    # JSON that nothing would be written to
    ("links a.html --json", "hint: -f json"), ("rewrite a.html -f json", "--log FILE.json"), ("mirror a.html -f json -o m", "--check DIR"),
]


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    pages = dict.fromkeys(("a.html", "b.html", "d/a.html", "site/a.html", "site/b.html", "other/site/a.html"), PAGE)
    written(tmp_path, {**pages, "table": "a.html,http://h/\n", "moved.csv": "http://h/,http://g/\n"})
    Path("soft").symlink_to("site")
    Path("link.csv").symlink_to("a.html")


@pytest.mark.parametrize(("line", "message"), WRONG, ids=[line for line, _ in WRONG])
def test_wrong_usage_names_what_is_wrong_and_writes_nothing(absolve: Runner, line: str, message: str) -> None:
    before = files_below(Path())
    done = absolve(*shlex.split(line))
    assert (done.status, done.out, message in done.err) == (2, b"", True), done
    assert files_below(Path()) == before
