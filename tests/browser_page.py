"""A page in a Chromium, for tests of what absolve writes for browsers: its requests, its reports, and expressions."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from absolve.verifying.browser.devtools import DevTools


class Page:
    """A loaded page: what it requests and what it reports, and the values of expressions."""

    def __init__(
        self, devtools: DevTools, url: str, *, width: int = 1280, scheme: str = "light", scripts: bool = True
    ) -> None:
        self.devtools = devtools
        devtools.deadline = time.monotonic() + 120
        devtools.session = None
        context = devtools.call("Target.createBrowserContext")["browserContextId"]
        target = devtools.call("Target.createTarget", url="about:blank", browserContextId=context)["targetId"]
        devtools.session = devtools.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.requests: list[str] = []
        self.reports: list[str] = []
        self.loaded = False
        devtools.listener = self.heard
        for domain in ("Page", "Runtime", "Log", "Network"):
            devtools.call(f"{domain}.enable")
        devtools.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
        devtools.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        devtools.call("Emulation.setScriptExecutionDisabled", value=not scripts)
        devtools.call("Page.navigate", url=url)
        devtools.until(lambda: self.loaded)

    def heard(self, method: str, parameters: dict[str, Any]) -> None:
        if method == "Page.loadEventFired":
            self.loaded = True
        elif method == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])
        elif method in {"Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded"}:
            self.reports.append(str(parameters))

    def value(self, expression: str) -> Any:
        done = self.devtools.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in done, done["exceptionDetails"]
        return done["result"].get("value")
