"""Rewrite pages by the plan of a mirror, and write them where this program wants them."""

import absolve

page = absolve.Document(b"<a href=b.html>b</a>", url="http://h/a.html")
other = absolve.Document(b"<a href=a.html>a</a>", url="http://h/b.html")
plan: absolve.MirrorPlan = absolve.mirror_plan([page, other])
made: dict[str, bytes] = {}
for document in (page, other):
    url = str(document.url)
    made[plan[url]] = absolve.rewrite(document, policy=plan.policy(url), base="empty", profile="whatwg")
assert sorted(made) == ["h/a.html", "h/b.html"]
