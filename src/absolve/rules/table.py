r"""Read a table of redirects from a spreadsheet, or from an export of a plugin, host or crawler.

In: the bytes of a file: old URL, new URL, and perhaps a status, or exact, prefix or regex. The header names the columns
in any order; without one the order counts, or the hosts of both sites. Out: a `Redirect` for each row, or a `Rule`:
exact unless a cell names another kind. Rules with a query come first, and a rule with a host applies also where the new
site has a file. In a crawl, rows that were not redirected are no rules.

    >>> data = b"Ziel;Quelle;Code\n/b;/a;302\n"
    >>> [(rule.source, rule.target, rule.status) for rule in read_map("map.csv", data).rules]
    [('/a', ('/b',), 302)]
"""

from __future__ import annotations

import re
from itertools import chain
from typing import TYPE_CHECKING, Final, NamedTuple

from absolve.core import patterns
from absolve.core.errors import UsageError
from absolve.rules import cells
from absolve.rules.cells import NOT_UTF8, Row, Table, is_text, line, peek
from absolve.rules.columns import (
    Columns,
    Role,
    choose_columns,
    host_and_path,
    is_left_open,
    is_url,
    split_words,
    status,
    with_slashes,
)
from absolve.rules.functions import has_functions
from absolve.rules.model import (
    Condition,
    Rule,
    RuleSet,
    check_pattern,
    check_target,
    source,
    target_parts,
    to_https,
    tried,
    with_pattern,
    with_rest,
    with_target,
)
from absolve.urls.chain import REDIRECTS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from absolve.rules.model import How, Query

EXACT: Final = "exact"
PREFIX: Final = "prefix"
REGEX: Final = "regex"
SEARCH: Final = "search"  # a regular expression that is searched for, with `$1` for its first group
WILDCARD: Final = "wildcard"  # a path or URL with any rest, which is `:splat` or `*` in the new URL
QUERY: Final = "query"  # these two are for rewrites: parameters to drop from the query,
PRESET: Final = "preset"  # and rules by name
SPLAT: Final = re.compile(r":splat\b|\*$")
HOW: Final = (EXACT, PREFIX, REGEX, QUERY, PRESET)
_NO_PATHS: Final = frozenset({REGEX, SEARCH, QUERY, PRESET})


def _set(words: str) -> frozenset[str]:
    return frozenset(words.casefold().split())


_OLD: Final = _set(
    "old from request source src origin original orig quelle alt alte alter altes von ancien ancienne origine origen"
    " antigua antiguo vecchio vecchia oude oud van bron gammal gamla från stara stary stare starego antiga antigo velha"
    " legacy former previous incoming requested źródło starý stará staré původní pôvodná odkud zdroj zdrojová stari"
    " staro izvor vechi veche sursă sursa vanha lähde alkuperäinen eski kaynak régi forrás eredeti honnan fra gammel"
    " gamle kilde cũ nguồn lama asal παλιό παλιά παλιός παλαιό παλαιά πηγή προέλευση αρχικό старый старая старое старые"
    " прежний исходный исходная откуда источник старий стара старе звідки джерело стар ישן ישנה מקור القديم القديمة"
    " قديم قديمة المصدر قدیم قدیمی 旧 旧地址 旧网址 旧链接 旧路径 原 原网址 原地址 原链接 源 源地址 源网址 来源 舊"
    " 舊網址 原始 來源 古い 旧ページ 旧アドレス 転送元 リダイレクト元 移行前 変更前 移転元"
    " 기존 이전 원본 구 전 출발지 소스 matchurl"
)
_NEW: Final = _set(
    "new to target destination dest redirect redirects redirected redirecturl redirectto final ziel neu neue"
    " neuer neues nach location goto nouveau nouvelle vers cible destino nuevo nueva nuovo nuova nieuw nieuwe naar doel"
    " ny nya till nowa nowy nowe cel docelowy docelowa novo nova replacement para nový nová nové cíl cílová cieľ"
    " cieľová kam novi cilj nou nouă noua destinație destinația destinatie țintă uusi kohde yeni hedef új cél hová hova"
    " til nye mål mới đích baru tujuan νέο νέα νέος στόχος προορισμός προορισμού новый новая новое новые куда целевой"
    " целевая цель назначение назначения новий нова нове куди ціль призначення цільовий нов חדש חדשה יעד الجديد"
    " الجديدة جديد جديدة الوجهة الهدف جدید مقصد 新 新地址 新网址 新链接 新路径 目标 目标地址 目标网址 目的 目的地"
    " 重定向到 跳转到 新網址 目標 新しい 新ページ 新アドレス 転送先 リダイレクト先 移行後 変更後 移転先 새 신규"
    " 새로운 대상 후 목적지 도착지"
)
_FROM: Final = _set("de da od iz z с из з")  # noqa: RUF001
_TO: Final = _set("a na do на в")
_KINDS: Final = _set("status statuscode code type typ style http responsecode redirecttype tipo estado statut")
_NOT_URLS: Final = _set(
    "host domain type typ style status statuscode code chain loop count number anzahl hops method inlinks indexability"
    " regex date title titel id query string matches title"
)
_NO_KINDS: Final = _set("group gruppe category entity content indexability match matching")
_MATCHES: Final = _set("url login role referrer agent cookie custom header server page ip language") | {cells.NESTED}
_OTHER_ACTIONS: Final = _set("random pass nothing")  # of Redirection, in place of a redirect
_ACTIONS: Final = _OTHER_ACTIONS | {"url", "error"}
_ON: Final = _set("active enabled aktiv true yes ja on 1")
_OFF: Final = _set("inactive disabled inaktiv false no nein off 0 draft")
_DEAD: Final = _OFF | _set("2 -2 trash trashed pending private")  # also states of rows, of Joomla and WordPress
_STATES: Final = _ON | _DEAD | {"publish"}
_STATUSES: Final = frozenset({200, *REDIRECTS, 404, 410})
# How Rank Math compares a path, as a regular expression.
_PARTS: Final = {"start": "^/{}", "starts with": "^/{}", "end": "{}$", "ends with": "{}$", "contains": "{}"}
_SEVERAL: Final = re.compile(r"[,;|]?\s+|[,;|](?=/|https?:)")  # between URLs that share a cell
_NO_PATH: Final = re.compile(r"[<>\\]")  # of the patterns of Ghost and AWS Amplify
_DRUPAL: Final = re.compile(r"\A(?:(?:internal|base):/?|entity:(?=\w+/))")  # before the path of a page
_FILE: Final = re.compile(r"[^/:?#][^:?#]*\.mdx?")  # of MkDocs and GitBook
_DELIMITED: Final = re.compile(r"([#~@!]|/(?=\^))(.+)\1(i?)", re.DOTALL)  # a regular expression as PHP has it
_WITHOUT_SLASH: Final = frozenset({"format"})  # of Yoast, whose patterns see a path without its first slash
_SEARCHED: Final = _WITHOUT_SLASH | {"matching"}  # of Yoast and Rank Math, which search for patterns
_PATTERNS: Final = {
    **dict.fromkeys(_ON, SEARCH),
    **dict.fromkeys(_OFF | {"plain"}, EXACT),
    **{how: how for how in (*HOW, *_PARTS)},
}
_FLAGS: Final = {"true": True, "false": False}


def _is_status(cell: str) -> bool:
    return status(cell) is not None


def _is_sure_status(cell: str) -> bool:
    found = status(cell)
    return found is not None and found[0] in _STATUSES


def _is_switch(cell: str) -> bool:
    return cell.lower() in _ON | _OFF


def _is_place(cell: str) -> bool:
    """Return whether a cell may be a path or a URL, also a path without its first slash."""
    return " " not in cell and cell.lower() not in _PATTERNS and not _is_status(cell)


_QUERIES: Final = frozenset({"query", "query string", "querystring", "fromquerystring", "source query", "old query"})
ROLES: Final = {
    "old": Role(_OLD, _is_place, _set("address adresse matchurl"), _NOT_URLS, weak=_FROM),
    "new": Role(_NEW, _is_place, frozenset({"target url", "result redirecturl"}), _NOT_URLS | _OLD, weak=_TO),
    # Flags of Cloudflare, TYPO3, Akamai and Rank Math.
    "keeps_query": Role(
        _set("useincomingquerystring"), _is_switch, frozenset({"preserve query string", "keep query parameters"})
    ),
    "has_subdomains": Role(frozenset(), _is_switch, frozenset({"include subdomains"})),
    "is_prefix": Role(frozenset(), _is_switch, frozenset({"subpath matching"})),
    "keeps_path": Role(frozenset(), _is_switch, frozenset({"preserve path suffix"})),
    "case": Role(frozenset(), lambda cell: _is_switch(cell) or cell == "case", frozenset({"ignore", "ignore case"})),
    "status": Role(_KINDS, _is_status, others=_NO_KINDS, sure=_is_sure_status),
    "how": Role(
        _set("how match matching regex regexp format muster"),
        lambda cell: cell.lower() in _PATTERNS,
        others=_set("group gruppe category entity"),
        sure=lambda cell: cell.lower() in HOW,
    ),
    "active": Role(_set("status enabled active aktiv state published"), lambda cell: cell.lower() in _STATES),
    "match": Role(_set("match matches"), lambda cell: cell.lower() in _MATCHES),
    "action": Role(_set("type"), lambda cell: cell.lower() in _ACTIONS),
    "disabled": Role(_set("disabled deaktiviert"), _is_switch),
    "deleted": Role(_set("deleted"), _is_switch),
    "permanent": Role(_set("permanent"), lambda cell: cell.lower() in _FLAGS),
    "query": Role(frozenset(), lambda cell: "=" in cell and "/" not in cell, _QUERIES),
    "starts": Role(frozenset(), str.isdigit, frozenset({"starttime"})),  # of TYPO3, 0 for always
    "ends": Role(frozenset(), str.isdigit, frozenset({"endtime"})),
    "host": Role(frozenset(), lambda cell: cell == "*" or host_and_path(cell), frozenset({"source host"})),
}
_EMPTY: Final = dict.fromkeys(ROLES, "")
# Cloudflare's lists of bulk redirects have no header: these follow the status, each TRUE or FALSE
# (developers.cloudflare.com/rules/url-forwarding/bulk-redirects/reference/csv-file-format).
_BULK: Final = ("keeps_query", "has_subdomains", "is_prefix", "keeps_path")


class Redirect(NamedTuple):
    """One row. `old` and `new` are URLs, `//host/path`, or paths; `status` is None where the table has none.

    `how`: exact, prefix, regex, search, wildcard, query, preset; None where the row has no word for it. `in_folder`: a
    pattern is for paths without their first slash. `keeps_query`, `keeps_rest`: whether the new URL has the query, and
    the rest of a path below a prefix.
    """

    line: int
    text: str
    problem: str | None = None
    old: str = ""
    new: str = ""
    status: int | None = None
    how: str | None = None
    is_forced: bool = False
    keeps_query: bool | None = None
    has_subdomains: bool = False
    keeps_rest: bool = True
    in_folder: bool = False
    ignores_case: bool = False


class Redirects(NamedTuple):
    """The rows that are redirects, and how they were found, in words; `columns` are the places of their parts.

    `hidden`: the numbers of rows that a spreadsheet does not show, so far; they are not in `rows`.
    """

    rows: Iterator[Redirect]
    words: str
    columns: Columns
    hidden: list[int]


def read(table: Table, hosts: Sequence[str] = (), *, new_first: bool = False) -> Redirects:
    """Return the redirects of a table. `hosts`: the hosts of the old and the new site, if both are known.

    `new_first`: of two columns that no word names, the first has the new URLs.

    >>> row = next(read(cells.table("map.csv", b"/a,www.example.com/b,301!,prefix")).rows)
    >>> row.old, row.new, row.status, row.how, row.is_forced
    ('/a', '//www.example.com/b', 301, 'prefix', True)
    """
    head, every = peek(table.rows)
    needed, hosts = (("new", "old"), hosts[::-1]) if new_first else (("old", "new"), hosts)
    columns = choose_columns(head, ROLES, needed, hosts)
    columns = columns._replace(places=_complete(columns.places))
    if table.are_pairs:
        columns = Columns({"old": 0, "new": 1}, None, "", frozenset(needed))
    hidden: list[int] = []
    found = chain(_left_out(table), _parse_rows(_shown(every, hidden), columns, table.delimiter))
    words = f"{table.words}; {columns.words}" if columns.words else table.words
    return Redirects(found, words, columns, hidden)


def _left_out(table: Table) -> Iterator[Redirect]:
    """Yield a row with a problem if other sheets or lists, too, have columns whose words mean redirects."""
    needed = ("old", "new")
    columns = {name: choose_columns(head, ROLES, needed) for name, head in table.others.items()}
    names = [name for name, found in columns.items() if found.by_words.issuperset(needed)]
    if names:
        problem = "only one sheet or list is read, and these have redirects, too: save each as a file"
        yield Redirect(1, ", ".join(names), problem)


def _shown(rows: Iterator[Row], hidden: list[int]) -> Iterator[Row]:
    for row in rows:
        if row.is_hidden:
            hidden.append(row.first)
        else:
            yield row


def _complete(places: Mapping[str, int]) -> dict[str, int]:
    """Return the places, and for a URL without a place the first free column."""
    free = [place for place in range(2) if place not in places.values()]
    missing = [name for name in ("old", "new") if name not in places]
    return {**places, **dict(zip(missing, free or [2], strict=False))}


def _parse_rows(rows: Iterator[Row], columns: Columns, delimiter: str) -> Iterator[Redirect]:
    start = columns.header.first if columns.header is not None else 0
    is_crawl = "status" in columns.places and columns.header is not None and not _names_old(columns)
    for row in rows:
        if row.problem is not None:
            yield Redirect(row.first, "", row.problem)
        elif not row.is_comment and row.first > start:
            found = line(row.first, delimiter.join(row.cells))
            is_read = found.problem == NOT_UTF8 and all(is_text(row.cell(place)) for place in columns.places.values())
            bare = Redirect(row.first, found.text, None if is_read else found.problem)
            redirect = _parse_row(bare, row, columns) if bare.problem is None else bare
            if redirect is not None and (redirect.new or not is_crawl or (redirect.status or 0) // 100 == 3):
                yield redirect


def _names_old(columns: Columns) -> bool:
    """Return whether a word of the header means the old URL; a crawl has "Address" for every URL."""
    title = columns.header.cell(columns.places["old"]) if columns.header is not None else ""
    return not (_OLD | _FROM).isdisjoint(split_words(title))


def _parse_row(redirect: Redirect, row: Row, columns: Columns) -> Redirect | None:
    """Return the redirect of a row; None if it is disabled, or the URL is answered without a redirect."""
    places = columns.places
    values = _EMPTY | {name: row.cell(place) for name, place in places.items()}
    # Redirection 6 writes a title too many, so that the state is in the column before.
    is_off = values["active"].lower() in _DEAD or ("active" in places and row.cells[-1] == "disabled")
    if is_off or not _ON.isdisjoint((values["disabled"].lower(), values["deleted"].lower())):
        return None
    if values["status"] == "0" and "redirect" in _title("status", columns):  # of Magento, which serves it
        return None
    if values["match"].lower() not in {"", "url"}:
        return redirect._replace(problem=f"it depends on more of a request than its URL: {values['match']}")
    if values["action"].lower() in _OTHER_ACTIONS:
        return redirect._replace(problem=f"it does something other than redirect: {values['action']}")
    if values["new"] == "/unknown" and "regex" in _title("how", columns):  # Redirection, of rows with two new URLs
        return redirect._replace(problem="it depends on more of a request than its URL")
    if not {values["starts"], values["ends"]} <= {"", "0"}:
        return redirect._replace(problem="it holds at some times only")
    if any(map(_FILE.fullmatch, (values["old"], values["new"]))):
        return redirect._replace(problem="it names a file of Markdown, not the URL of its page")
    code = {"true": 301, "false": 302}.get(values["permanent"].lower())
    query = values["query"].lstrip("?")  # of the old URL: Umbraco, Silverstripe
    old = f"{values['old']}?{query}" if query and "?" not in values["old"] else values["old"]
    redirect = redirect._replace(old=old, new=values["new"], status=code)
    redirect = _with_extras(redirect, _extras(row, values, places, columns))
    flags = {name: values[name].lower() in _ON for name in _BULK if name in places}
    redirect = _with_flags(redirect, flags) if flags else redirect
    if values["case"] and values["case"].lower() not in _OFF:
        redirect = redirect._replace(ignores_case=True)
    if redirect.how is None and redirect.old.startswith(("^", "/^")):  # no URL begins so
        redirect = redirect._replace(how=REGEX if "\\" in redirect.new else SEARCH)
    is_named = columns.by_words.__contains__
    if redirect.how not in _NO_PATHS:
        old, new = _placed(redirect.old, is_named("old")), _placed(redirect.new, is_named("new"))
        redirect = redirect._replace(old=old, new=new)
        redirect = _starred(_alone(redirect), values["how"].lower(), may_be_wild="active" not in places)
    elif redirect.how in {REGEX, SEARCH}:
        redirect = _searching(redirect, _title("how", columns))
        if redirect.how == SEARCH and not redirect.new.startswith("$"):
            redirect = redirect._replace(new=_placed(redirect.new, is_named("new")))
    if values["host"] not in {"", "*"} and redirect.old.startswith("/"):
        redirect = redirect._replace(old=f"//{values['host']}{redirect.old}")
    is_answer = redirect.status is not None and redirect.status // 100 == 2 and redirect.new in {"", redirect.old}
    return None if is_answer and redirect.problem is None else redirect


def _title(name: str, columns: Columns) -> Sequence[str]:
    """Return the words of the header of a role's column."""
    return split_words(columns.header.cell(columns.places.get(name))) if columns.header is not None else ()


def _extras(
    row: Row, values: dict[str, str], places: Mapping[str, int], columns: Columns
) -> list[tuple[str | None, str]]:
    """Return the status, the kind and the cells beyond the header of a row, each with its role, or None."""
    width = len(columns.header.cells) if columns.header is not None else max(places["old"], places["new"]) + 1
    taken = set(places.values())
    others = [cell for place, cell in enumerate(row.cells) if place >= width and place not in taken]
    return [("status", values["status"]), ("how", values["how"]), *((None, cell) for cell in others)]


def _placed(cell: str, is_named: bool) -> str:
    """Return a cell as a URL or a path: for example, `a/b` is the path `/a/b` if the header names its column."""
    cell = "/" if cell == "<front>" else _DRUPAL.sub("/", with_slashes(cell))
    if not is_named or not cell or is_left_open(cell) or re.match(r"[/#?^(]|[\w+.-]+:", cell):
        return cell
    return f"/{cell}" if _is_place(cell) or cell.isalpha() else cell


def _alone(redirect: Redirect) -> Redirect:
    """Return a row, with a problem if one of its cells has several URLs, for example `/a, /b`."""
    for name, cell in (("old", redirect.old), ("new", redirect.new)):
        parts = _SEVERAL.split(cell)
        if len(parts) > 1 and all(map(is_url, parts)):
            return redirect._replace(problem=f"it has more than one {name} URL: give each a row of its own")
    return redirect


def _starred(redirect: Redirect, word: str, *, may_be_wild: bool) -> Redirect:
    """Return a row as a wildcard if its old URL ends with `*`, for example `/a/*`; any other star is a problem."""
    if redirect.how in _PARTS:
        return redirect._replace(how=SEARCH, old=_PARTS[redirect.how].format(re.escape(redirect.old.strip("/"))))
    if is_url(redirect.old) and (odd := _NO_PATH.search(redirect.old)) is not None:
        problem = f"{odd[0]} is no character of a URL: a pattern is read as regex"
        return redirect._replace(problem=redirect.problem or problem)
    if "*" not in redirect.old or not is_url(redirect.old) or (redirect.how == EXACT and word not in {"plain", *_OFF}):
        return redirect
    bare = redirect.old.removesuffix("*")
    if not may_be_wild or word == "plain" or redirect.how == PREFIX:
        return redirect._replace(problem=redirect.problem or "its * is no wildcard, and no URL has it")
    if "*" in bare or "?" in bare:
        return redirect._replace(problem=redirect.problem or "* is read only at the end of a path")
    return redirect._replace(how=WILDCARD, old=bare)


def _with_extras(redirect: Redirect, cells: Sequence[tuple[str | None, str]]) -> Redirect:
    """Return a row with its status, its kind, and whether it is forced (`301!`); any other cell is a problem."""
    flags: list[bool] = []
    for name, cell in cells:
        word = cell.lower()
        if not cell:
            continue
        if name is None and word == "false" and re.match("/(?!/)", redirect.old):  # Cloudflare's rules have hosts
            return redirect._replace(problem=f"{cell!r} may switch it off: give its column a name in a header")
        if name is None and word in _FLAGS:
            flags.append(_FLAGS[word])
        elif word in HOW or (name == "how" and word in _PATTERNS):
            redirect = redirect._replace(how=_PATTERNS[word])
        elif (found := status(cell)) is not None:
            redirect = redirect._replace(status=found[0], is_forced=found[1])
        elif not (name == "status" and cell == "0"):
            return redirect._replace(problem=f"{cell[:40]!r} is neither a status nor one of exact, prefix, regex")
    return _with_flags(redirect, dict(zip(_BULK, flags, strict=False))) if flags else redirect


def _with_flags(redirect: Redirect, flags: Mapping[str, bool]) -> Redirect:
    query, has_subdomains = flags.get("keeps_query", redirect.keeps_query), flags.get("has_subdomains", False)
    redirect = redirect._replace(keeps_query=query, has_subdomains=has_subdomains or redirect.has_subdomains)
    if flags.get("is_prefix"):
        redirect = redirect._replace(how=PREFIX, keeps_rest=flags.get("keeps_path", True))
    return redirect


def _searching(redirect: Redirect, title: Sequence[str]) -> Redirect:
    """Return a row whose pattern is searched for, as in PHP, if its column or `$1` shows it: for example `#a#i`."""
    has_groups = re.search(r"\$\d", redirect.new) is not None and "\\" not in redirect.new
    if redirect.how == SEARCH or has_groups or not _SEARCHED.isdisjoint(title):
        found = _DELIMITED.fullmatch(redirect.old)
        old = redirect.old if found is None else f"(?{found[3]}:{found[2]})"
        return redirect._replace(how=SEARCH, old=old, in_folder=not _WITHOUT_SLASH.isdisjoint(title))
    return redirect


# --- rows as rules of a map -------------------------------------------------------------------------------------------

_GROUP: Final = re.compile(r"\$(\d)")


def read_map(name: str, data: bytes, hosts: Sequence[str] = (), *, new_first: bool = False) -> RuleSet:
    """Return the rules of a table. `hosts` and `new_first` choose between columns that no word names."""
    found = read(cells.table(name, data), hosts, new_first=new_first)
    rules = [row_rule(name, row) for row in found.rows]
    rules.sort(key=lambda one: one.how != "exact" or "?" not in one.source)
    return RuleSet(name, "csv", rules, words=found.words, columns=found.columns, hidden=len(found.hidden))


def row_rule(name: str, row: Redirect) -> Rule:
    """Return the rule for a row, perhaps with a problem."""
    rule = tried(Rule(name, row.line, row.text, row.problem), _with_target, row)
    if rule.problem is not None:
        return rule
    rule = tried(rule, _RULES_BY_KIND.get(row.how or "exact", _path_rule), row)
    rule = rule._replace(ignores_case=True) if row.ignores_case else rule
    return rule._replace(forced=True) if row.is_forced else rule


def _with_target(rule: Rule, row: Redirect) -> Rule:
    """Return a rule with its status, and the row's new URL as its target. Raise UsageError if it is not supported."""
    if row.how in {QUERY, PRESET} or has_functions(row.new):
        raise UsageError("it is for rewrites: no server applies it")
    status, is_pattern = row.status or 301, row.how in {REGEX, SEARCH}
    if status < 400 and not (is_pattern and row.new):
        check_target(row.new)
    is_regex = is_pattern or row.how == WILDCARD
    how: How = "regex" if is_regex else "prefix" if row.how == PREFIX else "exact"
    query: Query = "drop" if row.keeps_query is False else "keep"
    return rule._replace(how=how, status=status, target=None if status >= 400 else (row.new,), query=query)


def _path_rule(rule: Rule, row: Redirect) -> Rule:
    """Return the rule for a path or URL, exact or as a prefix."""
    rule = _on_host(rule, row)
    if rule.how == "prefix" and rule.target:
        if "?" in rule.source:
            raise UsageError("a prefix has no query")
        rule = rule._replace(target=with_rest(row.new, rule.source) if row.keeps_rest else (row.new,))
    if row.has_subdomains and rule.host is not None:  # no form but Cloudflare's has such rules
        host = Condition("host", rf"^(?:.*\.)?{re.escape(rule.host)}$")
        rule = rule._replace(conditions=(host, *rule.conditions))
    return rule


def _on_host(rule: Rule, row: Redirect) -> Rule:
    """Return a rule with the host and the path of its source; with a host, it applies also where a file exists."""
    found = source(row.old)
    only = to_https(row.old, row.new) if rule.target else ()
    return rule._replace(source=found.path, host=found.host, forced=found.host is not None, conditions=only)


def _regex_rule(rule: Rule, row: Redirect) -> Rule:
    r"""Return the rule for a whole URL, or path if it begins with /: for example, `/a/(.*)` with the target `/b/\1`."""
    whole = f"^(?:{row.old})$"
    check_pattern(whole)
    target = patterns.template(row.new, whole) if rule.target else rule.target
    is_path = row.old.removeprefix("^").startswith(("/", "\\/"))
    return rule._replace(source=whole, target=target, subject="path" if is_path else "url", forced=not is_path)


def _wildcard_rule(rule: Rule, row: Redirect) -> Rule:
    """Return the rule for all paths that begin with one: for example, `/a/` with the target `/b/:splat` or `/b/*`."""
    rule = _on_host(rule, row)
    target = target_parts(row.new, SPLAT, lambda _: 1) if rule.target else None
    return rule._replace(source=f"^{re.escape(rule.source)}(.*)$", target=target)


def _search_rule(rule: Rule, row: Redirect) -> Rule:
    """Return the rule for a pattern that is searched for in paths: for example, `^/a/` with the target `/b/$1`.

    With a letter behind `^`, it is for paths without their first slash.
    """
    subject = "folder" if row.in_folder or re.match(r"\^[\w-]", row.old) else "path"
    rule = with_pattern(rule._replace(forced=False), row.old, subject=subject)
    return tried(rule, with_target, row.new, _GROUP, lambda one: int(one[1])) if rule.target else rule


_RULES_BY_KIND: Final = {REGEX: _regex_rule, SEARCH: _search_rule, WILDCARD: _wildcard_rule}
