"""Starts a sim as a process of its own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import List, Optional, Sequence

from .client import Sim
from .control import NoSim

#: How long a sim has to end before it is killed, in seconds.
ENDING = 10.0


def start(scenario: Optional[str] = None, command: Optional[Sequence[str]] = None) -> Sim:
    """
    Starts a sim in memory, on a free port. Its command is `command`, else `phx-sim` of the PATH, else the one of the
    nearest `node_modules`. Raises NoSim if there is none, or if it does not start.
    """
    args = [*(command or _command()), "start", "--memory", "--port", "0", "--json"]
    if scenario is not None:
        args.append(scenario)
    try:
        process = subprocess.Popen(args, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    except OSError as error:
        raise NoSim(f"{args[0]} cannot be started: {error.strerror}") from None
    assert process.stdout is not None
    line = process.stdout.readline()
    try:
        ready = json.loads(line)
        return Sim(ready["local_url"], ready.get("control_token"), lambda: _end(process))
    except (ValueError, KeyError):
        _end(process)
        raise NoSim(f"`{' '.join(args)}` ended with {process.returncode} before it was ready") from None


def _command() -> List[str]:
    found = shutil.which("phx-sim")
    if found:
        return [found]
    here = Path.cwd()
    for folder in [here, *here.parents]:
        script = folder / "node_modules" / "phx-sim" / "bin" / "phx-sim.js"
        if script.is_file():
            return [os.environ.get("NODE", "node"), str(script)]
    raise NoSim("there is no phx-sim on the PATH or in node_modules; install it with `npm i -D phx-sim`")


def _end(process: subprocess.Popen[str]) -> None:
    with process:
        process.terminate()
        try:
            process.wait(ENDING)
        except subprocess.TimeoutExpired:
            process.kill()
