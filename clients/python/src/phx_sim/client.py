"""A sim and its projects, as tests use them."""

from __future__ import annotations

import os
import time
import urllib.parse
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple, TypedDict, Union

from .control import Control, Json, query

DEFAULT_URL = "http://127.0.0.1:7490"



def _suite_wait() -> float:
    """PHX_SIM_WAIT in seconds, else 4.0."""
    text = os.environ.get("PHX_SIM_WAIT", "").strip()
    if not text:
        return 4.0
    if not (text.isascii() and text.isdigit()):
        raise ValueError(f'PHX_SIM_WAIT="{text}": expected milliseconds, a whole number from 0')
    return int(text) / 1000


#: How long an assertion waits for events by default, in seconds.
DEFAULT_TIMEOUT = _suite_wait()

#: An event's name, or a pattern of the whole event (docs/assertions.md).
EventPattern = Union[str, Mapping[str, Json]]
FlagValue = Union[bool, str]


class CapturedEvent(TypedDict):
    """An event as the sim stored it."""

    seq: int
    outcome: str
    reason: Optional[str]
    detail: Optional[str]
    warnings: List[str]
    project: Optional[int]
    uuid: Optional[str]
    event: str
    distinct_id: str
    timestamp: str
    received_at: str
    person_id: Optional[str]
    person_mode: str
    properties: Dict[str, Any]
    request: int


def connect(url: Optional[str] = None, token: Optional[str] = None) -> Sim:
    """
    The running sim at `url` (default: PHX_SIM_URL, else http://127.0.0.1:7490).
    Raises NoSim if none answers, ControlError if it requires a token (default: PHX_SIM_TOKEN).
    """
    return Sim(url or os.environ.get("PHX_SIM_URL") or DEFAULT_URL, token or os.environ.get("PHX_SIM_TOKEN"))


class Sim:
    """A running sim."""

    def __init__(self, url: str, token: Optional[str] = None, close: Callable[[], None] = lambda: None) -> None:
        self.control = Control(url, token)
        self.url = self.control.url
        self.info: Dict[str, Json] = self.control.call("GET", "info")
        self._close = close

    def project(
        self,
        name: Optional[str] = None,
        flags: Optional[Mapping[str, FlagValue]] = None,
    ) -> Project:
        """Makes a project for one test, with keys of its own. `flags` are overrides for all users."""
        order = {"name": name, "flags": None if flags is None else dict(flags)}
        return Project(self, self.control.call("POST", "projects", order))

    def reset(self) -> None:
        """Resets documents, persons, events and flags to the scenario."""
        self.control.call("POST", "reset", {})

    def advance_clock(self, by: str) -> List[Dict[str, Json]]:
        """Advances the sim's clock, for example by `1h`; returns the work that became due."""
        happened: List[Dict[str, Json]] = self.control.call("POST", "clock/advance", {"by": by})["happened"]
        return happened

    def close(self) -> None:
        """Ends a sim that `start()` started; a sim that was found keeps running."""
        self._close()

    def __enter__(self) -> Sim:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Project:
    """A project of its own: its keys, its events, its flag overrides."""

    def __init__(self, sim: Sim, made: Mapping[str, Json]) -> None:
        self.sim = sim
        self.id: int = made["id"]
        self.name: str = made["name"]
        self.host: str = made["host"]
        self.api_key: str = made["api_key"]
        self.secret_api_key: str = made["secret_api_key"]
        self.personal_api_key: str = made["personal_api_key"]
        #: Variables that point an application at this project.
        self.env: Dict[str, str] = made["env"]

    # Assertions. Each raises CaptureError with the sim's report.

    def assert_captured(
        self,
        event: EventPattern,
        properties: Optional[Mapping[str, Json]] = None,
        *,
        distinct_id: Optional[str] = None,
        times: Optional[int] = None,
        timeout: float = DEFAULT_TIMEOUT,
    ) -> CapturedEvent:
        """
        Waits until such an event arrives and returns the first; with `times`, until exactly that many have arrived and it
        is quiet.
        """
        match = _not_every(_pattern(event, properties, distinct_id))
        title = f"assert_captured({event!r}{'' if properties is None else f', {properties!r}'})"
        if times is None:
            return self._wait({"match": match, "count": 1}, title, timeout)[0]
        if times < 1:
            raise ValueError("times must be at least 1; use assert_not_captured")
        expect = [{"match": match, "count": times}]
        return self.verify(expect, title=title, timeout=timeout)[0]

    def assert_not_captured(
        self,
        event: EventPattern,
        properties: Optional[Mapping[str, Json]] = None,
        *,
        distinct_id: Optional[str] = None,
    ) -> None:
        """Waits until it is quiet and checks that no such event has arrived."""
        expect = [{"match": _pattern(event, properties, distinct_id), "count": 0}]
        self.verify(expect, title=f"assert_not_captured({event!r})")

    def assert_captured_in_order(
        self, *events: EventPattern, timeout: float = DEFAULT_TIMEOUT
    ) -> List[CapturedEvent]:
        """Waits until one of each has arrived, in this order; others may come in between."""
        sequence = [_not_every(_pattern(event)) for event in events]
        return self._wait({"sequence": sequence}, f"assert_captured_in_order{events!r}", timeout)

    def assert_captured_only(self, *events: EventPattern, timeout: float = DEFAULT_TIMEOUT) -> None:
        """Waits until each of these has arrived and checks that no others have; `$…` events of the SDKs are ignored."""
        expect = [{"match": _pattern(event), "count": count} for event, count in _counted(events)]
        self.verify(expect, nothing_else=True, title=f"assert_captured_only{events!r}", timeout=timeout)

    def assert_no_dropped_events(self) -> None:
        """Waits until it is quiet and checks that no event of this project was dropped."""
        self.settle()
        dropped = self.events(outcome="dropped")
        if dropped:
            were = "1 event was" if len(dropped) == 1 else f"{len(dropped)} events were"
            raise AssertionError("\n".join([f"{were} dropped:", *map(event_line, dropped)]))

    def assert_recorded_none_of(
        self,
        values: Sequence[str],
        *,
        session: Optional[str] = None,
        allow_unread: Sequence[str] = (),
        quiet: float = 2.5,
    ) -> None:
        """
        Waits until no part of a recording has arrived for `quiet` seconds (4 s longer at most) and checks that the
        recordings have none of the values. It fails as well if there is no recording, or something of it cannot be read.
        """
        end = time.monotonic() + quiet + 4
        while quiet > 0 and time.monotonic() < end and self._recording_grows(quiet):
            pass
        self.settle()
        body = {"values": list(values), "project": self.id, "session": session, "allow_unread": list(allow_unread)}
        findings: Dict[str, Json] = self.sim.control.call("POST", "recordings/search", body)
        if findings["verdict"] == "none":
            return
        lines = [
            f"  value {it['value']} of {len(values)}: {it['place']} {it['path'] or ''}".rstrip()
            for it in findings["finds"]
        ] or [f"  {it}" for it in findings["undecided"]]
        title = "a recording holds what it must not:" if findings["finds"] else "nothing is known about the recordings:"
        raise AssertionError("\n".join([f"assert_recorded_none_of({len(values)} values): {title}", *lines]))

    def verify(
        self,
        expect: Sequence[Mapping[str, Json]],
        *,
        ordered: bool = False,
        nothing_else: bool = False,
        title: Optional[str] = None,
        timeout: float = DEFAULT_TIMEOUT,
    ) -> List[CapturedEvent]:
        """`POST /__sim/events/verify` of this project: counts, order, nothing else. Returns the events that fit."""
        body = {
            "project": self.id,
            "expect": list(expect),
            "ordered": ordered,
            "nothing_else": nothing_else,
            "title": title,
            "timeout_ms": round(timeout * 1000),
        }
        events: List[CapturedEvent] = self.sim.control.call("POST", "events/verify", body, timeout)["events"]
        return events

    # What arrived.

    def events(self, event: Optional[str] = None, outcome: Optional[str] = None) -> List[CapturedEvent]:
        """The events of this project in order of arrival, kept and dropped ones, 1,000 at most."""
        path = "events" + query(project=self.id, event=event, outcome=outcome, limit=1000)
        events: List[CapturedEvent] = self.sim.control.call("GET", path)["events"]
        return events

    def settle(self, timeout: float = DEFAULT_TIMEOUT) -> None:
        """Returns once no request of this project is in flight and it has been quiet for a moment."""
        body = {"project": self.id, "timeout_ms": round(timeout * 1000)}
        self.sim.control.call("POST", "settle", body, timeout)

    # Flags.

    def set_flag(
        self,
        key: str,
        value: FlagValue,
        *,
        payload: Json = None,
        distinct_id: Optional[str] = None,
    ) -> None:
        """Overrides a flag, for all users or for one. Raises ControlError for a flag that does not exist."""
        body: Dict[str, Json] = {"project": self.id, "value": value}
        if payload is not None:
            body["payload"] = payload
        if distinct_id is not None:
            body["distinct_id"] = distinct_id
        self.sim.control.call("PUT", f"flags/{urllib.parse.quote(key, safe='')}", body)

    def unset_flags(self) -> None:
        """Removes the overrides of this project."""
        self.sim.control.call("DELETE", "flags" + query(project=self.id))

    def close(self) -> None:
        """Removes the project with its data."""
        self.sim.control.call("DELETE", f"projects/{self.id}")

    def _recording_grows(self, within: float) -> bool:
        """True once a part of a recording arrives; False if none does in time."""
        cursor = self.sim.control.call("GET", "events" + query(project=self.id, order="desc", limit=1))["cursor"]
        wanted = query(
            project=self.id, event="$snapshot_items", since=cursor, limit=1, wait_ms=min(round(within * 1000), 60_000)
        )
        return bool(self.sim.control.call("GET", "events" + wanted, wait=within)["events"])

    def _wait(self, wanted: Mapping[str, Json], title: str, timeout: float) -> List[CapturedEvent]:
        body = {"project": self.id, "title": title, "timeout_ms": round(timeout * 1000), **wanted}
        events: List[CapturedEvent] = self.sim.control.call("POST", "events/wait", body, timeout)["events"]
        return events

    def __enter__(self) -> Project:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def event_line(event: CapturedEvent) -> str:
    """One event on one line, with the reason why it was dropped."""
    line = f"  #{event['seq']} {event['event']} of {event['distinct_id']}"
    return line + (f": {event['detail'] or event['reason']}" if event["outcome"] == "dropped" else "")


def _pattern(
    event: EventPattern,
    properties: Optional[Mapping[str, Json]] = None,
    distinct_id: Optional[str] = None,
) -> Dict[str, Json]:
    match: Dict[str, Json] = {"event": event} if isinstance(event, str) else dict(event)
    if properties is not None:
        match["properties"] = dict(properties)
    if distinct_id is not None:
        match["distinct_id"] = distinct_id
    return match


def _not_every(match: Dict[str, Json]) -> Dict[str, Json]:
    """The pattern, unless every event fits it: then the assertion would hold whatever the application does."""
    if all(it == {} for it in match.values()):
        raise ValueError(f"{match!r} fits every event; give a name, or a pattern with a key")
    return match


def _counted(events: Sequence[EventPattern]) -> List[Tuple[EventPattern, int]]:
    """Each event once, with the number of times it is listed."""
    return [(event, events.count(event)) for i, event in enumerate(events) if event not in events[:i]]
