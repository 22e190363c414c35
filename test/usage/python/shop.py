"""The app under test: it captures as the SDKs do, with nothing but the standard library."""

import json
import os
import urllib.request


def capture(event, distinct_id, **properties):
    body = {
        "api_key": os.environ["POSTHOG_API_KEY"],
        "batch": [{"event": event, "distinct_id": distinct_id, "properties": properties}],
    }
    url = os.environ["POSTHOG_HOST"] + "/batch/"
    request = urllib.request.Request(url, json.dumps(body).encode(), {"content-type": "application/json"})
    urllib.request.urlopen(request).close()


def flag(key, distinct_id):
    body = {"token": os.environ["POSTHOG_API_KEY"], "distinct_id": distinct_id}
    url = os.environ["POSTHOG_HOST"] + "/flags/?v=2"
    request = urllib.request.Request(url, json.dumps(body).encode(), {"content-type": "application/json"})
    with urllib.request.urlopen(request) as response:
        return json.load(response)["flags"].get(key, {}).get("enabled", False)


def sign_up(user, plan):
    capture("signup_started", user)
    capture("signed_up", user, plan=plan, amount=49)
