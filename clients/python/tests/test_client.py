"""Tests of the package against a real sim (PHX_SIM_URL), and of a sim that it starts itself."""

import json
import os
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

import phx_sim
from phx_sim import CaptureError, ControlError, NoSim, Project, Sim

pytest_plugins = ["pytester"]


def capture(ph: Project, event: str, distinct_id: str = "u1", **properties: object) -> None:
    batch = [{"event": event, "distinct_id": distinct_id, "properties": properties}]
    data = json.dumps({"api_key": ph.api_key, "batch": batch}).encode()
    request = urllib.request.Request(ph.host + "/batch/", data, {"content-type": "application/json"})
    urllib.request.urlopen(request).close()


def test_an_event_is_captured(ph: Project) -> None:
    capture(ph, "signed_up", plan="pro", amount=49)
    event = ph.assert_captured("signed_up", {"amount": {"@gte": 10}}, distinct_id="u1")
    assert event["properties"]["plan"] == "pro"
    assert [it["event"] for it in ph.events()] == ["signed_up"]


def test_a_failure_carries_the_report(ph: Project) -> None:
    capture(ph, "signed_up", plan="free")
    with pytest.raises(CaptureError, match='properties.plan  - "pro"') as failure:
        ph.assert_captured("signed_up", {"plan": "pro"}, timeout=0.05)
    assert failure.value.report["near_misses"][0]["event"] == "signed_up"
    assert str(failure.value).startswith("assert_captured('signed_up', {'plan': 'pro'})")


@pytest.mark.parametrize("wait, shown", [("1500", "1.5"), ("", "4.0"), ("soon", "expected milliseconds")])
def test_the_default_wait_is_the_suites(wait: str, shown: str) -> None:
    script = "from phx_sim.client import DEFAULT_TIMEOUT; print(DEFAULT_TIMEOUT)"
    env = {**os.environ, "PHX_SIM_WAIT": wait}
    done = subprocess.run([sys.executable, "-c", script], env=env, capture_output=True, text=True)
    assert shown in done.stdout + done.stderr


def test_what_cannot_fail_is_refused(ph: Project) -> None:
    with pytest.raises(ControlError, match="properties are given flat"):
        ph.assert_not_captured("a", {"properties": {"plan": "pro"}})
    with pytest.raises(ControlError, match="an empty distinct_id"):
        ph.assert_not_captured("a", distinct_id="")
    with pytest.raises(ControlError, match='"outcome" is "kept"'):
        ph.assert_not_captured({"event": "a", "outcome": "dropped"})
    with pytest.raises(ControlError, match="always holds"):
        ph.verify([{"match": "a", "count": {"min": 0}}])
    with pytest.raises(ValueError, match="fits every event"):
        ph.assert_captured({})
    with pytest.raises(ValueError, match="fits every event"):
        ph.assert_captured_in_order("a", {})


def record(ph: Project, *items: object) -> None:
    """Sends a part of a recording, as the recorder of posthog-js does."""
    properties = {
        "$snapshot_bytes": 100,
        "$snapshot_data": list(items),
        "$session_id": "0195b3a2-8592-7000-8000-00000000ec48",
        "$window_id": "w1",
        "distinct_id": "u1",
    }
    data = json.dumps([{"event": "$snapshot", "properties": properties, "token": ph.api_key}]).encode()
    request = urllib.request.Request(ph.host + "/s/", data, {"content-type": "application/json"})
    urllib.request.urlopen(request).close()


def record_page(ph: Project) -> None:
    """The first part of a recording: where the page is, and all that is on it."""
    page = {"node": {"type": 0, "id": 1, "childNodes": []}, "initialOffset": {"left": 0, "top": 0}}
    record(
        ph,
        {"type": 4, "timestamp": 1, "data": {"href": "http://app.test/", "width": 800, "height": 600}},
        {"type": 2, "timestamp": 1, "data": page},
    )


def test_nothing_is_recorded(ph: Project) -> None:
    def check(**options: object) -> None:
        ph.assert_recorded_none_of(["nobody@acme.test", "jane@acme.test"], quiet=0, **options)

    with pytest.raises(AssertionError, match="there is no recording"):
        check()
    record_page(ph)
    check()
    record(ph, {"type": 2, "timestamp": 2, "data": {"wireframes": [{"type": "screenshot", "base64": "AAAA"}]}})
    with pytest.raises(AssertionError, match="screenshot: a screenshot of a mobile app cannot be read as text"):
        check()
    check(allow_unread=["screenshot"])
    record(ph, {"type": 4, "timestamp": 3, "data": {"href": "http://app.test/?mail=jane@acme.test"}})
    with pytest.raises(AssertionError, match="value 2 of 2: page"):
        check(allow_unread=["screenshot"])


def test_nothing_is_recorded_once_the_recorder_is_quiet(ph: Project) -> None:
    record_page(ph)
    ph.assert_recorded_none_of(["jane@acme.test"], quiet=0.05)


def test_times(ph: Project) -> None:
    capture(ph, "click")
    capture(ph, "click")
    ph.assert_captured("click", times=2)
    with pytest.raises(CaptureError):
        ph.assert_captured("click", times=3, timeout=0.05)
    with pytest.raises(ValueError, match="assert_not_captured"):
        ph.assert_captured("click", times=0)


def test_not_captured(ph: Project) -> None:
    ph.assert_not_captured("click")
    capture(ph, "click")
    with pytest.raises(CaptureError):
        ph.assert_not_captured("click")


def test_order_and_nothing_else(ph: Project) -> None:
    for name in ["a", "b", "a"]:
        capture(ph, name)
    assert [it["seq"] for it in ph.assert_captured_in_order("a", "b")] == sorted(
        it["seq"] for it in ph.events()[:2]
    )
    ph.assert_captured_only("a", "a", "b")
    with pytest.raises(CaptureError):
        ph.assert_captured_in_order("b", "b", timeout=0.05)
    with pytest.raises(CaptureError):
        ph.assert_captured_only("a", "a", timeout=0.05)


def test_dropped_events(ph: Project) -> None:
    ph.assert_no_dropped_events()
    capture(ph, "click", distinct_id="")
    with pytest.raises(AssertionError, match="1 event was dropped"):
        ph.assert_no_dropped_events()


def test_the_variables_are_set(ph: Project) -> None:
    assert os.environ["POSTHOG_HOST"] == ph.host
    assert os.environ["POSTHOG_API_KEY"] == ph.api_key


def flag(ph: Project, key: str, distinct_id: str) -> object:
    data = json.dumps({"token": ph.api_key, "distinct_id": distinct_id}).encode()
    request = urllib.request.Request(ph.host + "/flags/?v=2", data, {"content-type": "application/json"})
    with urllib.request.urlopen(request) as response:
        found = json.load(response)["flags"].get(key)
    return found and (found["variant"] or found["enabled"])


@pytest.mark.phx_sim(flags={"beta": True})
def test_flags_of_a_mark(ph: Project) -> None:
    assert flag(ph, "beta", "u1") is True
    ph.set_flag("beta", "blue", distinct_id="u2")
    assert (flag(ph, "beta", "u1"), flag(ph, "beta", "u2")) == (True, "blue")
    ph.unset_flags()
    assert flag(ph, "beta", "u1") is None


def test_a_flag_that_does_not_exist(ph: Project) -> None:
    with pytest.raises(ControlError, match="bta") as refused:
        ph.set_flag("bta", True)
    assert refused.value.status == 404


def test_the_clock(phx_sim: Sim) -> None:
    assert phx_sim.advance_clock("1s") == []
    with pytest.raises(ControlError, match="a week ago"):
        phx_sim.advance_clock("a week ago")


def test_no_sim() -> None:
    with pytest.raises(NoSim, match="npx phx-sim start"):
        phx_sim.connect("http://127.0.0.1:9")
    with pytest.raises(NoSim, match="cannot be started"):
        phx_sim.start(command=["./missing"])
    with pytest.raises(NoSim, match="before it was ready"):
        phx_sim.start(command=[sys.executable, "-c", ""])


def test_a_failed_test_shows_what_arrived(pytester: pytest.Pytester, phx_sim: Sim) -> None:
    pytester.makepyfile(
        """
        def test_silent(ph):
            assert False
        """
    )
    result = pytester.runpytest_inprocess("-p", "phx_sim.pytest_plugin", "--phx-sim-url", phx_sim.url)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*phx-sim: project *", "no event arrived: *"])


def test_a_sim_of_its_own() -> None:
    script = Path(__file__).parents[3] / "bin" / "phx-sim.js"
    code = "import phx_sim, sys; s = phx_sim.start(command=sys.argv[1:]); print(s.info['version']); s.close()"
    source = str(Path(phx_sim.__file__).parents[1])
    env = {**os.environ, "PYTHONPATH": source}
    done = subprocess.run(
        [sys.executable, "-c", code, "node", str(script)], env=env, capture_output=True, text=True, check=True
    )
    assert done.stdout == "0.1.0\n"
