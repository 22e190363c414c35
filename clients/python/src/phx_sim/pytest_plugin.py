"""The fixtures of pytest: `phx_sim` (the sim of the run) and `ph` (a project for each test)."""

from __future__ import annotations

import os
from typing import Any, Dict, Generator, List

import pytest

from .client import CapturedEvent, Project, Sim, connect, event_line
from .control import ControlError, NoSim
from .process import start

MARK = "phx_sim"

#: Reports list this many events.
MOST = 50


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("phx-sim")
    group.addoption("--phx-sim-url", help="the sim to use (default: PHX_SIM_URL, else one is started)")
    parser.addini("phx_sim_scenario", "the scenario of a sim that is started")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", f"{MARK}(flags={{...}}): values of feature flags in the project of `ph`")


@pytest.fixture(scope="session")
def phx_sim(pytestconfig: pytest.Config) -> Generator[Sim, None, None]:
    """The sim of `--phx-sim-url`, of `phx-sim exec`, or one that is started for the run."""
    url = pytestconfig.getoption("--phx-sim-url") or os.environ.get("PHX_SIM_URL")
    scenario = pytestconfig.getini("phx_sim_scenario")
    try:
        sim = connect(url) if url else start(scenario=str(pytestconfig.rootpath / scenario) if scenario else None)
    except (NoSim, ControlError) as error:
        pytest.fail(str(error), pytrace=False)
    with sim:
        yield sim


@pytest.fixture
def ph(
    phx_sim: Sim, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Generator[Project, None, None]:
    """
    A project of its own for the test. Its variables (POSTHOG_HOST, POSTHOG_API_KEY …) are set for the test; a client
    that exists already needs `host=ph.host` and `ph.api_key`.
    """
    flags: Dict[str, Any] = {}
    for mark in reversed(list(request.node.iter_markers(MARK))):
        flags.update(mark.kwargs.get("flags", {}))
    with phx_sim.project(name=request.node.nodeid, flags=flags or None) as project:
        for name, value in project.env.items():
            monkeypatch.setenv(name, value)
        request.node.stash[_project] = project
        yield project


_project = pytest.StashKey[Project]()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, Any, None]:
    """Adds what the project captured to the report of a failed test."""
    outcome = yield
    report = outcome.get_result()
    project = item.stash.get(_project, None)
    if report.when != "call" or not report.failed or project is None:
        return
    try:
        report.sections.append((f"phx-sim: project {project.id}", "\n".join(_lines(project.events()))))
    except (NoSim, ControlError) as error:
        report.sections.append(("phx-sim", str(error)))


def _lines(events: List[CapturedEvent]) -> List[str]:
    if not events:
        return ["no event arrived: is the client flushed (`client.flush()`), and does it use POSTHOG_HOST?"]
    lines = [event_line(it) for it in events[:MOST]]
    return lines + ([f"  and {len(events) - MOST} more"] if len(events) > MOST else [])
