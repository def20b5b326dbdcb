"""Rules in the form of each server, and rules that a form cannot express."""

import pytest

from absolve.rules import rule_lines
from absolve.rules.model import Rule

BASE = Rule("m", 1, "", source="/a", target=("/b",))


def rule(**changes: object) -> Rule:
    return BASE._replace(**changes)  # type: ignore[arg-type]  # the fields of a rule


LINES = {
    "apache": rule_lines.apache_lines, "cloudflare": rule_lines.cloudflare_lines, "csv": rule_lines.csv_lines, "netlify": rule_lines.netlify_lines,
    "nginx": rule_lines.nginx_lines,
}


@pytest.mark.parametrize(("form", "given", "expected"), [
    ("csv", rule(), ["/a,/b,301!"]),
    ("csv", rule(target=None, status=410), ["/a,,410!"]),
    ("csv", rule(host="old.example"), ["//old.example/a,/b,301"]),
    ("csv", rule(source="/a*"), ["/a%2A,/b,301!"]),
    ("csv", rule(source='/a,"'), ['"/a,%22",/b,301!']),
    ("csv", rule(how="regex", source="^https?://x/(.*)$", subject="url", target=("/", 1)), [r"^https?://x/(.*)$,/\g<1>,301!,regex"]),
    ("netlify", rule(target=None, status=410), ["/a /404.html 410!"]),
    ("netlify", rule(forced=False, status=302), ["/a /b 302"]),
    ("netlify", rule(host="old.example"), ["https://old.example/a /b 301!"]),
    ("netlify", rule(how="prefix", target=("/b", 1)), ["/a /b 301!", "/a/* /b/:splat 301!"]),
    ("netlify", rule(how="prefix", source="/", target=("/b/", 1)), ["/* /b/:splat 301!"]),
    ("cloudflare", rule(status=308), ["/a /b 308"]),
    ("apache", rule(target=None, status=404), ['RewriteRule "^/?a$" "-" [R=404]']),
    ("apache", rule(ignores_case=True, how="regex", source="^/a"), ['RewriteRule "^/?a" "/b" [R=301,L,NC]']),
    ("apache", rule(query="append"), ['RewriteRule "^/?a$" "/b" [R=301,L,QSA]']),
    ("apache", rule(query="drop", status=307), ['RewriteRule "^/?a$" "/b" [R=307,L,QSD]']),
    ("apache", rule(how="regex", source="^/(a|b)$", ignores_case=True), ['RewriteCond %{REQUEST_URI} "^/(a|b)$" [NC]', 'RewriteRule "^" "/b" [R=301,L,NC]']),
    ("apache", rule(target=("/b%20$1",)), ['RewriteRule "^/?a$" "/b\\%20\\$1" [R=301,L,NE]']),
    ("nginx", rule(), ['location = "/a" { return 301 "/b$is_args$args"; }']),
    ("nginx", rule(target=("/b?c",)), ['location = "/a" { return 301 "/b?c"; }']),
    ("nginx", rule(target=("/b?c",), query="append"), ['location = "/a" { return 301 "/b?c&$args"; }']),
    ("nginx", rule(query="drop"), ['location = "/a" { return 301 "/b"; }']),
    ("nginx", rule(how="regex", source="^/(a)", target=("/b?c=", 1)), ['location ~ "^/(a)" { rewrite "^/(a)" "/b?c=$1?" permanent; }']),
    ("nginx", rule(how="regex", source="^/a", ignores_case=True, status=302), ['location ~* "^/a" { rewrite "(?i)^/a" "/b" redirect; }']),
    ("nginx", rule(forced=False), ['location = "/a" { if (!-e $request_filename) { return 301 "/b$is_args$args"; } }']),
])
def test_a_rule_is_written_in_a_form(form: str, given: Rule, expected: list[str]) -> None:
    assert LINES[form](given) == expected


@pytest.mark.parametrize(("form", "given"), [
    ("csv", rule(parameters=(("id", "1"),))),
    ("csv", rule(query="append")),
    ("csv", rule(host="old.example", forced=False)),
    ("csv", rule(how="prefix", host="old.example", target=("/b", 2))),
    ("csv", rule(how="regex", source="a$")),
    ("csv", rule(how="regex", source="^/a", ignores_case=True)),
    ("netlify", rule(how="regex", source="^/a")),
    ("netlify", rule(source="/a*b")),
    ("netlify", rule(target=("/b/:c",))),
    ("netlify", rule(source="/a?b")),
    ("netlify", rule(target=None, status=403)),
    ("netlify", rule(query="append")),
    ("netlify", rule(how="prefix", target=("/b",))),
    ("cloudflare", rule(status=410)),
    ("cloudflare", rule(forced=False)),
    ("cloudflare", rule(host="old.example")),
    ("cloudflare", rule(source="/a?b=1")),
    ("apache", rule(subject="url", how="regex", source="^https://x/$")),
    ("apache", rule(status=200)),
    ("apache", rule(parameters=(("id", "1"),))),
    ("nginx", rule(host="old.example")),
    ("nginx", rule(target=("/$b",))),
    ("nginx", rule(source='/a"')),
    ("nginx", rule(source="/%250a")),  # servers compare decoded paths: it would never apply
    ("nginx", rule(how="prefix", source="/a%2Fb", target=("/b", 2))),
    ("apache", rule(source="/%250a")),
    ("nginx", rule(status=200)),
    ("nginx", rule(status=300)),
    ("nginx", rule(target=("/b#c",))),
    ("nginx", rule(how="regex", source="^/a", status=308)),
    ("nginx", rule(source="/a?b", forced=False)),
])
def test_a_form_that_cannot_express_a_rule_has_no_lines(form: str, given: Rule) -> None:
    assert LINES[form](given) is None
