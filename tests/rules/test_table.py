"""Tables that people have: which columns are which, in the exports of programs as they write them."""

import io
import json
import tracemalloc

import openpyxl
import pytest

from absolve.core.errors import UsageError
from absolve.rules import cells, columns, table

HOSTS = ("old.example", "new.example")
A, B = "http://old.example/a", "https://new.example/b"


def found(data: str | bytes, hosts: tuple[str, ...] = HOSTS) -> list[tuple[object, ...]]:
    made = table.read(cells.table("m", data if isinstance(data, bytes) else data.encode()), hosts)
    return [(row.line, row.old, row.new, row.status, row.how) for row in made.rows if not row.problem]


def test_a_pattern_of_another_program_is_no_path() -> None:
    """Ghost and AWS Amplify write regular expressions where others have a path."""
    data = json.dumps([{"from": "/a\\.html", "to": "/b"}, {"from": "</^[^.]+$/>", "to": "/"}, {"from": "/c", "to": "/d"}]).encode()
    read = table.read(cells.table("m", data))
    assert [(row.old, row.problem is None) for row in read.rows] == [("/a\\.html", False), ("/</^[^.]+$/>", False), ("/c", True)]


def test_objects_with_many_keys_take_linear_memory() -> None:
    data = json.dumps([{"from": A, "to": B, **{f"k{number}": 1 for number in range(2000)}}, *[{}] * 2000]).encode()
    tracemalloc.start()
    table = cells.table("m", data)
    assert max(len(row.cells) for row in table.rows) == 64
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 4_000_000


def book(*sheets: tuple[str, list[list[object]]]) -> bytes:
    made = openpyxl.Workbook()
    made.remove(made.active)
    for title, rows in sheets:
        sheet = made.create_sheet(title)
        for row in rows:
            sheet.append(row)
    file = io.BytesIO()
    made.save(file)
    return file.getvalue()


SCREAMING_FROG = (
    '"Address","Content","Status Code","Status","Indexability","Indexability Status","Inlinks","Redirect URL","Redirect Type"\n'
    f'"{A}","text/html; charset=utf-8","301","Moved Permanently","Non-Indexable","Redirected","5","{B}","HTTP Redirect"\n'
    '"http://old.example/","text/html","200","OK","Indexable","","9","",""\n"http://old.example/x","","404","Not Found","","","9","",""\n'
)
REDIRECTION = (
    'source,target,regex,code,type,match,hits,title,status\n/a,/b,0,301,url,url,0,"",active\n/c,/d,0,301,url,url,0,,disabled\n'
    '"^/o/(.*)","/n/$1",1,302,url,url,0,,active\n/gone,,0,410,error,url,0,,active\n/l,/m,0,301,url,login,0,,active\n/r,*,0,301,random,url,0,,active\n'
)


@pytest.mark.parametrize(("data", "expected"), [
    pytest.param("old,new\n/a,/b\n", [(2, "/a", "/b", None, None)], id="words in their order"),
    pytest.param("New URL,Old URL\n/b,/a\n", [(2, "/a", "/b", None, None)], id="words in another order"),
    pytest.param("Nr;Neue URL;Alte URL;Notiz\n1;/b;/a;see http://x.example/\n", [(2, "/a", "/b", None, None)], id="German"),
    pytest.param("URL de origen,URL de destino\n/a,/b\n", [(2, "/a", "/b", None, None)], id="Spanish"),
    pytest.param("Umzug 2024\n\nid;old_path;new_path\n1;/a;/b\n", [(4, "/a", "/b", None, None)], id="a title above"),
    pytest.param("URL,Target\n/a,/b\n", [(2, "/a", "/b", None, None)], id="one word is enough"),
    pytest.param(f"Page,Link\n{B},{A}\n", [(2, A, B, None, None)], id="no word: the hosts decide"),
    pytest.param(f"{B},{A}\n", [(1, A, B, None, None)], id="no header: the hosts decide"),
    pytest.param("1,/a,/b\n2,/c,/d\n", [(1, "/a", "/b", None, None), (2, "/c", "/d", None, None)], id="a number before them"),
    pytest.param("from,to\nwww.old.example/a,new.example/b\n", [(2, "//www.old.example/a", "//new.example/b", None, None)], id="host and path"),
    pytest.param("old,new\na.html,b/\n", [(2, "/a.html", "/b/", None, None)], id="paths without their slash"),
    pytest.param("old,new,type\n/a,/b,Moved Permanently\n/c,/d,302 - Found\n", [(2, "/a", "/b", 301, None), (3, "/c", "/d", 302, None)], id="statuses in words"),
    pytest.param("\ufeffSource URL;Target URL;Regex;HTTP code\n/test;/dest;1;301\n", [(2, "/test", "/dest", 301, "search")], id="a spreadsheet for Redirection"),
    pytest.param("sep=;\nold;new\n/a,1;/b\n", [(3, "/a,1", "/b", None, None)], id="the separator is named"),
    pytest.param("# a plan\n#,New URL,HTTP,Old URL,Owner\n1,/b,301,/a,me\n#,/c,301,/d,me\n", [(3, "/a", "/b", 301, None)], id="# is a title of numbers"),
    pytest.param("old\tnew\n/a,1,2\t/b,3,4\n/c,1,2,3\t/d\n", [(2, "/a,1,2", "/b,3,4", None, None), (3, "/c,1,2,3", "/d", None, None)], id="commas in tabs"),
    pytest.param("Quelle;Ziel\n/ä;/ü\n".encode("cp1252"), [(2, "/ä", "/ü", None, None)], id="windows-1252"),
    pytest.param("/a;/café".encode("cp1252"), [(1, "/a", "/café", None, None)], id="windows-1252 at the end"),
    pytest.param(f"URL\tHTTP status code\tRedirect URL\n{A}\t301\t{B}\n".encode("utf-16"), [(2, A, B, 301, None)], id="UTF-16"),
    pytest.param(f'"URL"\t"Status"\t"Redirect URL"\n"{A}"\t"301"\t"{B}"\n'.encode("utf-16"), [(2, A, B, 301, None)], id="tabs between quotes"),
    pytest.param(SCREAMING_FROG, [(2, A, B, 301, None)], id="Screaming Frog"),
    pytest.param(REDIRECTION, [(2, "/a", "/b", 301, "exact"), (4, "^/o/(.*)", "/n/$1", 302, "search"), (5, "/gone", "", 410, "exact")], id="Redirection"),
    pytest.param("Origin,Target,Type,Format\nold/,new/,301,plain\n^b/(.*),/n/$1,302,regex\n", [(2, "/old/", "/new/", 301, "exact"), (3, "^b/(.*)", "/n/$1", 302, "search")], id="Yoast"),
    pytest.param("entity_type,source,target,group\n301,/a,/b,exact\n", [(2, "/a", "/b", None, None)], id="groups are no kinds"),
    pytest.param("Domain,Old Path,Manual Path/URL,Dynamic Target Type\nold.example,/a,/b,\n", [(2, "/a", "/b", None, None)], id="BigCommerce"),
    pytest.param("entity_type,request_path,target_path,redirect_type\ncustom,a,b,301\n", [(2, "/a", "/b", 301, None)], id="Magento"),
    pytest.param("Redirect from,Redirect to\n/a,/b\n", [(2, "/a", "/b", None, None)], id="Shopify"),
    pytest.param(f"Original URL,Redirect to URL,Redirect style,Priority\n{A},{B},301,1\n", [(2, A, B, 301, None)], id="HubSpot"),
    pytest.param("old.example/a,https://new.example/b,302,TRUE,FALSE,TRUE,TRUE\n", [(1, "//old.example/a", B, 302, "prefix")], id="Cloudflare"),
    pytest.param(book(("Notes", [["read me"]]), ("Map", [["New", "Old", "Code"], ["/b", "/a", 301.0]])), [(2, "/a", "/b", 301, None)], id="a workbook"),
])  # fmt: skip
def test_the_header_and_the_cells_choose_the_columns(data: str | bytes, expected: list[tuple[object, ...]]) -> None:
    assert found(data) == expected


@pytest.mark.parametrize("header", [
    *"Новый адрес;Старый адрес|Куда;Откуда|Нова адреса;Стара адреса|Nová URL;Původní URL|Yeni URL;Eski URL".split("|"),
    *"新网址;旧网址|目标URL;源URL|새 URL;기존URL|Új cím;Régi cím|Νέος σύνδεσμος;Παλιός σύνδεσμος|URL nou;URL vechi".split("|"),
    *"Uusi osoite;Vanha osoite|כתובת חדשה;כתובת ישנה|الرابط الجديد;الرابط القديم|Til;Fra|Nuova pagina;Vecchia pagina".split("|"),
    *"URL de destino;URL de origen|URL de destino;Página|リダイレクト先;リダイレクト元|新しいURL;旧ページURL|Para;De|Na;Z".split("|"),
    *"No\u0301vy\u0301, nova\u0301;Stara\u0301|URL de destination;URL de la source".split("|"),
])  # fmt: skip
def test_words_of_many_languages_choose_in_any_order(header: str) -> None:
    assert found(f"{header}\n/b;/a\n".encode()) == [(2, "/a", "/b", None, None)]


def test_the_choice_is_named() -> None:
    made = table.read(cells.table("m", book(("M", [["Ziel", "Quelle"], ["/b", "/a"]]), ("X", [["/c", "/d"]]))))
    assert made.words == 'the sheet "M" of a workbook (not read: "X"); old: "Quelle" (column 2), new: "Ziel" (column 1)'


def test_hidden_rows_and_other_sheets_are_no_redirects_and_are_named() -> None:
    rows: list[list[object]] = [["Old URL", "New URL"], ["/a", "/x"], ["/a", "/b"]]
    made = openpyxl.load_workbook(io.BytesIO(book(("DE", rows), ("FR", rows), ("Links", [["http://h/"]]))))
    made["DE"].row_dimensions[2].hidden = True
    made["FR"].auto_filter.ref = "A1:B3"
    file = io.BytesIO()
    made.save(file)
    assert found(file.getvalue()) == [(3, "/a", "/b", None, None)]
    read = table.read(cells.table("m", file.getvalue()))
    assert [(row.text, row.problem) for row in read.rows if row.problem] == [
        ('"FR"', "only one sheet or list is read, and these have redirects, too: save each as a file")
    ]
    assert read.hidden == [2]
    lists = table.read(cells.table("m", b'{"redirects": [{"from": "/a", "to": "/b"}], "more": [{"from": "/c", "to": "/d"}], "x": [], "y": [1]}'))
    assert [row.text for row in lists.rows if row.problem] == ['"more"']


@pytest.mark.parametrize(("cell", "is_host"), [("old.example/a", True), ("www.a.de", True), ("a.html", False), ("text/html", False), ("index.php/x", False), ("1.5", False)])
def test_a_host_with_a_path_is_no_name_of_a_file(cell: str, is_host: bool) -> None:
    assert columns.host_and_path(cell) is is_host


@pytest.mark.parametrize(("cell", "number"), [("1,234", 1234), ("1.234", 1234), ("1\u202f234", 1234), ("12.0", 12), ("1,234.50", 1234), ("3.5%", None), ("-", None)])
def test_a_count_is_read_in_any_language(cell: str, number: int | None) -> None:
    assert columns.count(cell) == number


def test_a_workbook_is_never_decompressed_beyond_its_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cells, "MOST", 1000)
    with pytest.raises(UsageError, match="more than"):
        cells.table("m.xlsx", book(("M", [["old", "new"]])))


def test_a_cell_far_away_makes_no_large_table() -> None:
    data = book(("M", [["old", "new"], ["/a", "/b"]]))
    made = openpyxl.load_workbook(io.BytesIO(data))
    made["M"]["XFD1048576"] = "/far"
    file = io.BytesIO()
    made.save(file)
    assert found(file.getvalue())[:1] == [(2, "/a", "/b", None, None)]


def test_an_object_with_objects_in_its_objects_is_no_table_of_rules() -> None:
    assert found('{"redirects": {"/a": {"to": "/b"}, "/c": null}}') == []
    assert cells.table("m", b'{"/a": {"to": ["/b"]}}').words != "rows of JSON"
    assert found('{"/a": {"target": "/b", "code": 301}}') == [(2, "/a", "/b", 301, None)]


@pytest.mark.parametrize(("cell", "text"), [
    ("'=a.html", "=a.html"), ("'-x", "-x"), ("'-1", "'-1"), ("'a", "'a"), ("''=a", "'=a"), ("/a;'=b", "/a;=b"), ("/it's;b", "/it's;b"),
])
def test_an_apostrophe_before_a_formula_is_a_guard_whoever_wrote_the_table(cell: str, text: str) -> None:
    assert next(cells.table("m.csv", f"{cell},x\n".encode()).rows).cells == [text, "x"]
