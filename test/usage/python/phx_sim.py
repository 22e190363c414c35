"""A client for phx-sim in the standard library: the control API is plain JSON over HTTP."""

import json
import os
import urllib.error
import urllib.request

URL = os.environ.get("PHX_SIM_URL", "http://127.0.0.1:7490")


def call(method, path, body=None):
    """Makes a control call; raises AssertionError with the sim's own report when it says 409."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(URL + path, data, {"content-type": "application/json"}, method=method)
    try:
        with urllib.request.urlopen(request) as response:
            return json.load(response)
    except urllib.error.HTTPError as error:
        answer = json.load(error)
        if "report" in answer:
            raise AssertionError(answer["report"]["text"]) from None
        raise


class Project:
    """A project of its own for one test."""

    def __enter__(self):
        self.__dict__.update(call("POST", "/__sim/projects", {}))
        return self

    def __exit__(self, *_):
        call("DELETE", f"/__sim/projects/{self.id}")

    def wait(self, event, timeout_ms=4000, **properties):
        match = {"event": event, "properties": properties}
        body = {"project": self.id, "match": match, "timeout_ms": timeout_ms}
        return call("POST", "/__sim/events/wait", body)["events"][0]

    def verify(self, *expect, **terms):
        return call("POST", "/__sim/events/verify", {"project": self.id, "expect": expect, **terms})
