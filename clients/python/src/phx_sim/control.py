"""Calls of phx-sim's control API: JSON over HTTP, with the standard library."""

from __future__ import annotations

import json
import urllib.error
import urllib.parse
import urllib.request
from typing import Any, Mapping, Optional

Json = Any

#: A wait of the sim ends by itself; the connection has this many seconds more.
MARGIN = 30.0


class ControlError(Exception):
    """The sim refused a call: `code`, `detail`, `hint` and `pointer` of its response."""

    def __init__(self, status: int, body: Mapping[str, Json]) -> None:
        self.status = status
        self.code: Optional[str] = body.get("code")
        self.detail: str = body.get("detail") or f"the sim answered {status}"
        self.hint: Optional[str] = body.get("hint")
        self.pointer: Optional[str] = body.get("pointer")
        place = f" (at {self.pointer})" if self.pointer else ""
        super().__init__(f"{self.detail}{place}" + (f"; {self.hint}" if self.hint else ""))


class NoSim(ConnectionError):
    """No phx-sim answers at the address."""


class CaptureError(AssertionError):
    """Events are not as expected. `report` is the sim's report as data; the message is its text."""

    def __init__(self, report: Mapping[str, Json]) -> None:
        self.report = report
        super().__init__(report.get("text") or "the events are not as expected")


class Control:
    """The control API of one sim."""

    def __init__(self, url: str, token: Optional[str] = None) -> None:
        self.url = url.rstrip("/")
        self._headers = {"content-type": "application/json"}
        if token:
            self._headers["authorization"] = f"Bearer {token}"
        # A proxy of the environment (`phx-sim exec --reroute` sets one) must not see control calls.
        self._opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    def call(self, method: str, path: str, body: Optional[Mapping[str, Json]] = None, wait: float = 0.0) -> Json:
        """
        Makes a call below /__sim. `wait` is how long the sim itself may wait, in seconds.
        Raises CaptureError for a failed assertion, ControlError for a refused call, NoSim if there is no answer.
        """
        data = None if body is None else json.dumps(body).encode()
        target = f"{self.url}/__sim/{path}"
        request = urllib.request.Request(target, data, self._headers, method=method)
        try:
            with self._opener.open(request, timeout=wait + MARGIN) as response:
                return json.load(response)
        except urllib.error.HTTPError as error:
            raise _refusal(error) from None
        except (urllib.error.URLError, ConnectionError, TimeoutError) as error:
            reason = getattr(error, "reason", error)
            raise NoSim(
                f"no phx-sim answers at {self.url}: {reason}; start one with `npx phx-sim start`, "
                "or run the tests below `npx phx-sim exec --`"
            ) from None


def _refusal(error: urllib.error.HTTPError) -> Exception:
    with error:
        try:
            body = json.load(error)
        except ValueError:
            body = {"detail": f"{error.url} answered {error.code} without JSON; is it a phx-sim?"}
    report = body.get("report")
    return CaptureError(report) if error.code == 409 and report else ControlError(error.code, body)


def query(**parameters: Json) -> str:
    """A query string with its question mark; parameters that are None are left out."""
    given = {name: value for name, value in parameters.items() if value is not None}
    return "?" + urllib.parse.urlencode(given) if given else ""
