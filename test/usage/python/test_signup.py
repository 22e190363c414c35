import pytest
import shop
from phx_sim import Project


@pytest.fixture
def ph(monkeypatch):
    with Project() as project:
        monkeypatch.setenv("POSTHOG_HOST", project.host)
        monkeypatch.setenv("POSTHOG_API_KEY", project.api_key)
        yield project


def test_a_signup_is_tracked(ph):
    shop.sign_up("u1", plan="pro")
    event = ph.wait("signed_up", plan="pro", amount={"@gte": 10})
    assert event["distinct_id"] == "u1"


def test_nothing_else_is_tracked(ph):
    shop.sign_up("u1", plan="pro")
    ph.verify({"match": {"event": "signup_started"}}, {"match": {"event": "signed_up"}}, nothing_else=True)
