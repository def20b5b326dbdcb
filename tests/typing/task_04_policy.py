"""Write links by a policy of one's own, and by rules for old URLs."""

import absolve


def images_by_proxy(link: absolve.Resolved) -> str | None:
    return f"https://proxy.example/?{link.target}" if link.target and link.kind == "image" else None


policy: absolve.Policy = absolve.only(absolve.remap({"//old.example": "https://new.example"}), kind="navigation")
page = "<a href=http://old.example/x><img src=http://old.example/y>"
assert absolve.rewrite(page, policy=images_by_proxy).endswith("<img src=https://proxy.example/?http://old.example/y>")
assert absolve.rewrite(page, policy=policy) == "<a href=https://new.example/x><img src=http://old.example/y>"
