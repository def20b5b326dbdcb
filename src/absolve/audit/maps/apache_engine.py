"""Apply the rules of mod_rewrite to a request, as Apache does.

In: steps in order. Out: a redirect, a status, or other content; None where nothing changes. The patterns that match a
path are found in one pass over it. httpd.apache.org/docs/2.4/rewrite/tech.html has the order: the pattern first, then
the conditions, then the substitution, whose result is the path for the steps that follow.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from absolve.audit.maps.model import APPEND, DROP, KEEP, Found
from absolve.audit.maps.ordered import with_query
from absolve.audit.maps.request import decoded, encoded
from absolve.core.patterns import PatternSet

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from absolve.audit.maps.apache_rewrite import Condition, Part, Step
    from absolve.audit.maps.index import Groups
    from absolve.audit.maps.request import Request

_MOST_ROUNDS: Final = 10  # LimitInternalRecursion
_ABSOLUTE: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_ESCAPED: Final = re.compile(r"[%#]")
_FILES: Final = frozenset({"REQUEST_FILENAME", "SCRIPT_FILENAME", "REQUEST_URI", "DOCUMENT_ROOT", "CONTEXT_PREFIX"})
_ROOTS: Final = frozenset({"DOCUMENT_ROOT", "CONTEXT_DOCUMENT_ROOT", "CONTEXT_PREFIX"})

Tables = "Mapping[str, Mapping[str, str]]"


class _State(NamedTuple):
    """The request as the steps so far left it: decoded path, query; the round of internal redirects."""

    path: str
    query: str | None
    round: int


class Rewriting:
    """The steps of one server or folder. `in_folder`: paths are without the slash at their beginning (.htaccess)."""

    def __init__(
        self, steps: Sequence[Step], tables: Mapping[str, Mapping[str, str]], base: str, *, in_folder: bool
    ) -> None:
        self._steps = steps
        self._tables = tables
        self._in_folder = in_folder
        self._base = base if base.endswith("/") else f"{base}/"
        self._set = PatternSet((step.pattern, step.ignores_case) for step in steps)
        self._negated = [number for number, step in enumerate(steps) if step.is_negated]

    def __call__(self, request: Request, exists: Callable[[str], bool]) -> Found | None:
        """Return what the steps make of a request; None if they change nothing."""
        state = _State(request.decoded, request.query, 0)
        changed: Step | None = None
        for _ in range(_MOST_ROUNDS):
            ended, after, step = self._round(request, state, exists)
            if ended is not None:
                return ended
            if step is None or after == state:
                break
            changed, state = step, after._replace(round=state.round + 1)
            if not self._in_folder or "end" in step.flags:
                break
        if changed is None or (state.path, state.query) == (request.decoded, request.query):
            return None
        return Found(changed.rule, _url(state), 200)

    def _round(
        self, request: Request, state: _State, exists: Callable[[str], bool]
    ) -> tuple[Found | None, _State, Step | None]:
        """Apply each step once: return a redirect or status, else the new state and the last step that changed it."""
        changed: Step | None = None
        number = 0
        waiting = self._waiting(state)
        while number < len(self._steps):
            if number not in waiting and "c" not in self._steps[number].flags and "s" not in self._steps[number].flags:
                number = min((one for one in waiting if one > number), default=len(self._steps))
                continue
            step = self._steps[number]
            groups = self._matched(step, state)
            if groups is not None:
                result = self._applied(step, groups, request, state, exists)
            if groups is None or result is None:
                number = self._behind_chain(number)
                continue
            if isinstance(result, Found):
                return result, state, step
            if result != state:
                changed = step
                state = result
                waiting = self._waiting(state)
            if step.substitution is None and ("l" in step.flags or "end" in step.flags):
                return None, state, changed
            if "l" in step.flags or "end" in step.flags:
                return None, state, changed
            number += 1 + int(step.flags.get("s", "0") or 0)
        return None, state, changed

    def _waiting(self, state: _State) -> list[int]:
        return sorted({*self._set.candidates(self._text(state)), *self._negated})

    def _text(self, state: _State) -> str:
        return state.path.removeprefix("/") if self._in_folder else state.path

    def _behind_chain(self, number: int) -> int:
        """Return the step after one that did not apply: those that are chained to it do not apply either."""
        while number < len(self._steps) and "c" in self._steps[number].flags:
            number += 1
        return number + 1

    def _matched(self, step: Step, state: _State) -> Groups | None:
        groups = step.match(self._text(state))
        if step.is_negated:
            return ("",) if groups is None else None
        return groups

    def _applied(
        self, step: Step, groups: Groups, request: Request, state: _State, exists: Callable[[str], bool]
    ) -> Found | _State | None:
        """Return a redirect or status, the new state, or None if a condition does not hold."""
        values = _Values(self._tables, request, state, groups, exists)
        if not values.hold(step.conditions):
            return None
        if "f" in step.flags or "g" in step.flags:
            return Found(step.rule, None, step.rule.status)
        if step.substitution is None:
            is_error = "r" in step.flags and not 300 <= step.rule.status < 400
            return Found(step.rule, None, step.rule.status) if is_error else state
        text = values.target(step.substitution, escapes="ne" not in step.flags and step.rule.status != 200)
        if "r" in step.flags and not 300 <= step.rule.status < 400:
            return Found(step.rule, None, step.rule.status)
        return self._substituted(step, text, state)

    def _substituted(self, step: Step, text: str, state: _State) -> Found | _State:
        is_redirect = "r" in step.flags or (_ABSOLUTE.match(text) is not None and "p" not in step.flags)
        if not _ABSOLUTE.match(text) and not text.startswith("/"):
            text = self._base + text
        how = DROP if "qsd" in step.flags else APPEND if "qsa" in step.flags else KEEP
        if "qsa" in step.flags and "qsd" in step.flags:
            how = KEEP
        if is_redirect or _ABSOLUTE.match(text):
            text = with_query(text, state.query, how)
            return Found(step.rule, text.removesuffix("?"), step.rule.status if is_redirect else 200)
        path, mark, query = with_query(text, state.query, how).partition("?")
        return _State(decoded(path), query if mark and query else None, state.round)


class _Values:
    """What the parts of a text mean for one request: variables, and groups of the rule and of the last condition."""

    def __init__(
        self,
        tables: Mapping[str, Mapping[str, str]],
        request: Request,
        state: _State,
        groups: Groups,
        exists: Callable[[str], bool],
    ) -> None:
        self._tables = tables
        self._request = request
        self._state = state
        self._groups = groups
        self._last: Groups = ()
        self._is_path = False  # what its groups are of
        self._exists = exists

    def hold(self, conditions: Sequence[Condition]) -> bool:
        """Return whether all conditions hold; of alternatives (OR) one must."""
        place = 0
        while place < len(conditions):
            holds = self._holds(conditions[place])
            if conditions[place].is_alternative:
                if holds:
                    while place < len(conditions) and conditions[place].is_alternative:
                        place += 1
            elif not holds:
                return False
            place += 1
        return True

    def _holds(self, condition: Condition) -> bool:
        if condition.test and condition.test != "=":
            return self._is_file(condition) != condition.is_negated
        value = self.expanded(condition.value)
        if condition.match is None:
            return (value == condition.text) != condition.is_negated
        groups = condition.match(value)
        if groups is not None and not condition.is_negated:
            self._last = groups
            self._is_path = any(part.text == "REQUEST_URI" for part in condition.value)
        return (groups is not None) != condition.is_negated

    def _is_file(self, condition: Condition) -> bool:
        """Return the result of a file test: a folder is what has a page with a slash at its end."""
        if condition.test in {"-l", "-h", "-L", "-x"}:
            return False
        path = self.expanded(tuple(part for part in condition.value if part.text not in _ROOTS))
        slash = "" if path.startswith("/") else "/"
        url = f"{self._request.scheme}://{self._request.host}{slash}{encoded(path)}"
        if condition.test == "-d":
            return self._exists(url if url.endswith("/") else f"{url}/")
        return not url.endswith("/") and self._exists(url)

    def target(self, parts: Sequence[Part], *, escapes: bool) -> str:
        """Return the URL of a substitution: decoded groups are escaped; with `escapes`, so is its text before `?`."""
        found: list[str] = []
        for part in parts:
            text = self.expanded((part,))
            if part.kind == "text":
                path, mark, query = text.partition("?")
                found.append((_ESCAPED.sub(_percent, path) if escapes else path) + mark + query)
                escapes = escapes and not mark
            else:
                is_path = part.kind == "group" or (part.kind == "condition" and self._is_path)
                found.append(encoded(text) if is_path else text)
        return "".join(found)

    def expanded(self, parts: Sequence[Part]) -> str:
        """Return the text of these parts."""
        found = []
        for part in parts:
            if part.kind == "text":
                found.append(part.text)
            elif part.kind in {"group", "condition"}:
                groups = self._groups if part.kind == "group" else self._last
                found.append((groups[part.number] if part.number < len(groups) else None) or "")
            elif part.kind == "variable":
                found.append(self._variable(part.text))
            else:
                table = self._tables.get(part.text, {})
                value = table.get(self.expanded(part.key))
                found.append(value if value is not None else self.expanded(part.default))
        return "".join(found)

    def _variable(self, name: str) -> str:
        request, state = self._request, self._state
        host, _, port = request.host.partition(":")
        query = state.query or ""
        target = f"{request.path}{'' if request.query is None else '?' + request.query}"
        values = {
            "REQUEST_URI": state.path,
            "REQUEST_FILENAME": state.path,
            "SCRIPT_FILENAME": state.path,
            "QUERY_STRING": query,
            "HTTP_HOST": request.host,
            "HTTP:Host": request.host,
            "SERVER_NAME": host,
            "HTTPS": "on" if request.scheme == "https" else "off",
            "REQUEST_SCHEME": request.scheme,
            "HTTP:X-Forwarded-Proto": request.scheme,
            "SERVER_PORT": port or ("443" if request.scheme == "https" else "80"),
            "REQUEST_METHOD": "GET",
            "SERVER_PROTOCOL": "HTTP/1.1",
            "IS_SUBREQ": "false",
            "ENV:REDIRECT_STATUS": "200" if state.round else "",
            "THE_REQUEST": f"GET {target} HTTP/1.1",
        }
        return values.get(name, "")


def _url(state: _State) -> str:
    return encoded(state.path) + ("" if state.query is None else f"?{state.query}")


def _percent(found: re.Match[str]) -> str:
    return f"%{ord(found[0]):02X}"
