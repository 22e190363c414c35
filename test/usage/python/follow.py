"""Prints who signs up, as it happens; the standard library is enough."""

import json
import os
import urllib.request

url = os.environ.get("PHX_SIM_URL", "http://127.0.0.1:7490")

with urllib.request.urlopen(f"{url}/__sim/events/stream?filter=event:signed_up") as stream:
    kind = None
    for line in stream:
        name, _, value = line.decode().rstrip("\n").partition(": ")
        if name == "event":
            kind = value
        elif name == "data" and kind == "event":
            print(json.loads(value)["distinct_id"], flush=True)
