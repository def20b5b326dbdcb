"""Maps in the files of hosts and servers: JSON, TOML, XML, a Caddyfile, the mappings of Squarespace."""

import pytest
from moving import OLD, lead, problems, rules

from absolve.core.errors import UsageError

VERCEL = r"""{"redirects": [{"source": "/a", "destination": "/b"}, {"source": "/o/:path*", "destination": "/n/:path*", "permanent": false},
{"source": "/p/:id(\\d+)", "destination": "/q?id=:id"}, {"source": "/x/(.*)", "destination": "/y/$1", "statusCode": 301},
{"source": "/h", "destination": "/i", "has": [{"type": "host", "value": "sub.example"}]},
{"source": "/:path((?!uk/).*)", "destination": "/uk/:path*"}, {"source": "/j", "destination": "/k", "has": [{"type": "header", "key": "x"}]}],
"rewrites": [{"source": "/r/(.*)", "destination": "/s/$1"}]}"""
FIREBASE = r"""{ // a comment
"hosting": {"redirects": [{"source": "/foo{,/**}", "destination": "/bar", "type": 301}, {"source": "/blog/:post*", "destination": "https://b.example/:post"},
{"source": "**/x.html", "destination": "/x"}, {"regex": "^/r/(?P<n>\\d+)$", "destination": "/s/:n"}, {"source": "/!(a)", "destination": "/b"},]}}"""
AZURE = """{"routes": [{"route": "/posts/*", "redirect": "/blog", "statusCode": 301}, {"route": "/gone", "statusCode": 410},
{"route": "/img/*.{png,gif}", "redirect": "/i"}, {"route": "/admin", "allowedRoles": ["admin"], "redirect": "/login"}, {"route": "/h", "headers": {}}]}"""
S3 = """[{"Condition": {"KeyPrefixEquals": "docs/"}, "Redirect": {"ReplaceKeyPrefixWith": "d/"}},
{"Condition": {"KeyPrefixEquals": "a.html"}, "Redirect": {"HostName": "x.example", "ReplaceKeyWith": "b", "HttpRedirectCode": "302"}}]"""
TOML = """[build]
publish = "x"
[[redirects]]
  from = "/a/*"
  to = "/b/:splat"
  force = true
[[redirects]]
  from = "/c"
  to = "/d"
  conditions = {Country = ["us"]}
"""
REDIRECTION = """{"redirects": [{"url": "/a", "action_code": 301, "action_type": "url", "action_data": {"url": "/b"}, "match_type": "url", "enabled": true},
{"url": "^/o/(.*)", "regex": true, "action_code": 302, "action_type": "url", "action_data": {"url": "/n/$1"}, "match_type": "url", "enabled": true},
{"url": "/off", "action_data": {"url": "/x"}, "enabled": false}, {"url": "/l", "action_data": {"url_from": "/x"}, "match_type": "login", "enabled": true}]}"""
IIS = r"""<?xml version="1.0"?><configuration>
<location path="legacy.html"><system.webServer><httpRedirect enabled="true" destination="https://new.example/l" exactDestination="true"/></system.webServer></location>
<system.webServer><rewrite><rewriteMaps><rewriteMap name="R"><add key="/a.html" value="/a/"/><add key="/p.php?id=1" value="/one"/></rewriteMap></rewriteMaps><rules>
<rule name="map"><match url=".*"/><conditions><add input="{R:{REQUEST_URI}}" pattern="(.+)"/></conditions><action type="Redirect" url="{C:1}"/></rule>
<rule name="exact"><match url="^old\.html$"/><action type="Redirect" url="new.html" redirectType="Found"/></rule>
<rule name="groups"><match url="^blog/(\d+)/(.*)"/><action type="Redirect" url="/news/{R:1}-{R:2}" appendQueryString="false"/></rule>
<rule name="wild" patternSyntax="Wildcard"><match url="x/*"/><action type="Redirect" url="y/{R:1}"/></rule>
<rule name="host"><match url="(.*)"/><conditions><add input="{HTTP_HOST}" pattern="^www\.new\.example$"/></conditions><action type="Redirect" url="https://new.example/{R:1}"/></rule>
<rule name="gone"><match url="^gone$"/><action type="CustomResponse" statusCode="410"/></rule>
<rule name="query"><match url="^q$"/><conditions><add input="{QUERY_STRING}" pattern="^id=(\d+)$"/></conditions><action type="Redirect" url="/q/{C:1}" appendQueryString="false"/></rule>
<rule name="off" enabled="false"><match url="^z$"/><action type="Redirect" url="/zz"/></rule>
<rule name="unread"><match url="^(?!api).*$"/><action type="Rewrite" url="/index.html"/></rule>
</rules></rewrite></system.webServer></configuration>"""
CADDY = r"""{
	http_port 8080
}
www.new.example {
	redir https://new.example{uri} permanent
}
old.example, new.example {
	root * /srv # a comment
	redir /blog/* /news/ 301
	redir /blog/x /y "301"
	redir /about-us /about/
	@old path /p /q*
	redir @old /r
	@re path_regexp post ^/post/(\d+)$
	redir @re /n/{re.post.1} 308
	@h header X y
	redir @h /never
	respond /gone 410
}
"""
READ: dict[str, tuple[str, dict[str, str | int | None], int]] = {
    "vercel.json": (VERCEL, {"/a": "/b", "/a?q": "/b?q", "/o/1/2": "/n/1/2", "/o": "/n/", "/p/12": "/q?id=12", "/p/x": None, "/x/1": "/y/1", "http://sub.example/h": "/i", "/r/1": "=/s/1"}, 2),
    "old/vercel.json": (r'{"redirects": [{"source": "/(.*)/?", "destination": "/x/$1"}, {"source": "/a\\.b", "destination": "/c"}, {"source": "bar", "destination": "/d"}]}', {"/a.b": "/c", "/q": None}, 2),
    "next.json": ('[{"source": "/a/:id", "destination": "/b/:id", "permanent": true}]', {"/a/1": "/b/1"}, 0),
    "of_urls.json": ('{"/a": {"url": "/b", "permanent": true}, "/c": {"url": "/d"}}', {"/a": "/b", "/c": "/d"}, 0),
    "to.json": ('[{"from": "/a", "destination": "/b", "permanent": false}]', {"/a": "/b"}, 0),
    "left-open/maps.config": ('<rewriteMaps>\n<rewriteMap name="R">\n<add key="/a" value="TBD"/></rewriteMap></rewriteMaps>', {"/a": None}, 1),
    "firebase.json": (FIREBASE, {"/foo": "/bar", "/foo/a/b": "/bar", "/foot": None, "/blog/1/2": "https://b.example/1/2", "/p/q/x.html": "/x", "/r/12": "/s/12"}, 1),
    "staticwebapp.config.json": (AZURE, {"/posts/1": "/blog", "/gone": 410, "/img/a.png": "/i", "/img/a.jpg": None, "/h": None}, 1),
    "s3.json": (S3, {"/docs/a/b": "/d/a/b", "/a.html": "https://x.example/b", "/q": None}, 0),
    "s3.xml": ("<RoutingRules><RoutingRule><Condition><KeyPrefixEquals>docs/</KeyPrefixEquals></Condition><Redirect><ReplaceKeyPrefixWith>d/</ReplaceKeyPrefixWith></Redirect></RoutingRule></RoutingRules>", {"/docs/a": "/d/a"}, 0),
    "netlify.toml": (TOML, {"/a/x": "/b/x", "/c": None}, 1),
    "redirection.json": (REDIRECTION, {"/a": "/b", "/o/1": "/n/1", "/off": None}, 1),
    "web.config": (IIS, {"/legacy.html": "/l", "/A.html": "/a/", "/a.html?x=1": "/a/?x=1", "/p.php?id=1": "/one", "/OLD.html": "/new.html", "/blog/1/x?y": "/news/1-x", "/x/1/2": "/y/1/2", "http://www.new.example/t": "/t", "/gone": 410, "/q?id=3": "/q/3", "/z": None}, 1),
    "query/web.config": ('<configuration><rewrite><rewriteMaps><rewriteMap name="M">\n<add key="/a?b=1" value="/c"/></rewriteMap></rewriteMaps><rules>\n<rule name="r"><match url=".*"/><conditions><add input="{M:{REQUEST_URI}?{QUERY_STRING}}" pattern="(.+)"/></conditions><action type="Redirect" url="{C:1}" appendQueryString="false"/></rule></rules></rewrite></configuration>', {"/a?b=1": "/c", "/a": None}, 0),
    "maps.config": ('<rewriteMaps>\n<rewriteMap name="R">\n<add key="/a" value="/b"/></rewriteMap></rewriteMaps>', {"/a": "/b"}, 0),
    "Caddyfile": (CADDY, {"/about-us": "/about/", "/About-us?x": "/about/", "/blog/1": "/news/", "/blog/x": "/y", "/p": "/r", "/qq": "/r", "/post/12": "/n/12", "/gone": 410, "http://www.new.example/t?x": "/t?x"}, 1),
    "mappings.txt": ("/a -> /b 301\n/blog/[name] -> /news/[name] 302\n/x > /y\n", {"/a": "/b", "/blog/t": "/news/t", "/blog/t/u": None}, 1),
}  # fmt: skip


@pytest.mark.parametrize("name", READ)
def test_the_file_of_a_host_is_read_as_the_host_reads_it(name: str) -> None:
    text, urls, unread = READ[name]
    given = rules(text, name)
    assert {url: lead(given, url) for url in urls} == urls
    assert len(problems(given)) == unread
    lines = [rule.line for one in given.sets for rule in one.rules]
    assert name == "Caddyfile" or len(set(lines)) == len(lines), "findings about rules are told apart by their line"


@pytest.mark.parametrize(("name", "text"), [("vercel.json", '{"redirects": [' + "[" * 100_000), ("vercel.json", "{" + r'\"' * 100_000), ("netlify.toml", "a = " + "[" * 5000), ("web.config", '<!DOCTYPE c [<!ENTITY e SYSTEM "/etc/passwd">]><configuration>&e;'), ("firebase.json", '{"hosting": /*')])
def test_a_file_that_its_program_could_not_read_is_an_error(name: str, text: str) -> None:
    with pytest.raises(UsageError, match="a map is"):
        rules(text, name)


def test_no_entity_of_a_configuration_is_read() -> None:
    text = '<!DOCTYPE c [<!ENTITY e "/b">]><rewriteMaps><rewriteMap name="m"><add key="/a" value="&e;"/></rewriteMap></rewriteMaps>'
    assert lead(rules(text, "web.config"), "/a") in {None, "/b"}


@pytest.mark.parametrize(("name", "text"), [
    ("Caddyfile", "old.example {\n redir /p?x=1 /b 301\n}\n"),
    ("Caddyfile", "old.example {\n @p path_regexp ^/p\\?x\n redir @p /b 301\n}\n"),
    ("web.config", '<rewrite><rules><rule name="a"><match url="^/p"/><action type="Redirect" url="/b"/></rule></rules></rewrite>'),
    ("web.config", '<rewrite><rules><rule name="a"><match url="^p\\?x"/><action type="Redirect" url="/b"/></rule></rules></rewrite>'),
    ("web.config", '<rewrite><rules><rule name="a" patternSyntax="ExactMatch"><match url="/p"/><action type="Redirect" url="/b"/></rule></rules></rewrite>'),
    (".htaccess", "RewriteRule ^/p /b [R]\n"),
    (".htaccess", "RewriteRule ^p\\?x=1$ /b [R]\n"),
    ("site.conf", "RedirectMatch ^/p\\?x /b\n"),
])
def test_a_rule_that_no_request_meets_is_named_and_nothing_depends_on_it(name: str, text: str) -> None:
    given = rules(text, name)
    assert [problem.partition(":")[0] for _, problem in problems(given) if problem] == ["it never applies"]
    assert lead(given, "/p?x=1") is None
    assert given.chain(OLD + "p?x=1").is_sure


@pytest.mark.parametrize("rule", ["^/?p", "^(/p|p)", "^/p|^p", "^p(\\?x)?$", "^p\\??$", "^(.*/)?p$", "^p[?]?"])
def test_a_rule_that_may_apply_does(rule: str) -> None:
    given = rules(f"RewriteRule {rule} /b [R]\n", ".htaccess")
    assert (problems(given), lead(given, "/p")) == ([], "/b")
