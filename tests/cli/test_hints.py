"""What people type first: each hint names commands and options that there are."""

import re
from pathlib import Path

import pytest
from command_runner import Runner

from absolve.cli import hints, option_table
from absolve.cli.commands import COMMANDS

WORDS = hints._tables()
TABLES = [WORDS["options"], WORDS["commands"], *WORDS["options-of"].values()]


def test_every_hint_names_what_there_is() -> None:
    rows = [row for table in (*TABLES, WORDS["removed"]) for row in table.items()]
    assert len(rows) > 150
    for words, hint in rows:
        named = re.findall(r"absolve (?:([a-z]+) )?", hint)
        assert {word for word in named if word} <= {*COMMANDS, "reads"}, hint
        for option in re.findall(r"(?<!\S)--?[a-z][a-z-]*", hint):
            assert option in {"--version", "--module", "--function"} or option_table.having(option), (words, hint)


def test_a_word_has_one_meaning() -> None:
    for table in TABLES:
        words = " ".join(table).split()
        assert len(words) == len(set(words))


# What is typed first, by the command, and what the hint names.
TYPED = {
    ("rewrite p.html", "--remap OLD=NEW"): "--replace=a --find=a --sed=s/a/b/ --search=a --prefix=x --strip-prefix=x --url-replace=x",
    ("rewrite p.html", "--remap http://HOST=https://HOST"): "--https --force-https --upgrade-insecure",
    ("rewrite p.html", "--url URL"): "--baseurl=x --base-url=x --base_url=x --BaseURL=x --root=x --domain=x --host=x",
    ("rewrite p.html", "--form relative"): "--relative --make-relative",
    ("rewrite p.html", "absolve mirror"): "-k --convert-links",
    ("rewrite p.html", "leave it out"): "--recursive -r --force --yes --absolute",
    ("rewrite p.html", "--dry-run counts"): "--preview --simulate --count",
    ("links p.html", "absolve check"): "--broken --dead --check-links",
    ("links p.html", "ORDER BY"): "--sort-by=x --order=x --sortr=x --sort=x",
    ("links p.html", "--sql"): "--where=x --count --selector=a --filter=a --emails",
    ("links p.html", "--format"): "--csv --xml --ndjson --delimiter=x --no-header",
    ("audit site", "--old OLD"): "--new=x --old-domain=x --before=x",
    ("audit site", "-o report.html"): "--report=x --html",
    ("mirror w.warc", "--depth N"): "--level=3 --crawl",
    ("mirror w.warc", "-o out names the output"): "out",
    ("", "absolve check"): "lint linkcheck broken",
    ("", "absolve mirror"): "crawl download wget archive serve zip inline unpack",
    ("", "argparse-manpage"): "man",
    ("help", "argparse-manpage"): "man",
}
WRITING = {"--in-place", "--fix", "--prune", "--backup"}


def test_what_is_typed_first_is_answered_by_its_meaning_and_never_with_an_option_that_writes(
    absolve: Runner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("p.html").write_bytes(b"<a href=x>x</a>")
    Path("w.warc").write_bytes(b"")
    Path("site").mkdir()
    for (command, meant), words in TYPED.items():
        for word in words.split():
            done = absolve(*command.split(), word)
            (hint,) = [line for line in done.err.splitlines() if line.startswith("hint: ")] or [""]
            assert (done.status, meant in hint) == (2, True), (command, word, done.err)
            assert not WRITING & {*hint.replace(",", "").split()} or word in {"--force", "--yes"}, (word, hint)


@pytest.mark.parametrize("word", ["--wait-a-bit", "--isolate", "--fixx", "--write-mapp", "--outputt", "--prunee"])
def test_no_guess_where_the_meaning_differs_or_something_is_written(absolve: Runner, word: str) -> None:
    assert [line for line in absolve("audit", "site", word).err.splitlines() if "did you mean" in line] in ([], ["hint: did you mean --write-map?"])
