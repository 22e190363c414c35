import pytest
import shop


def test_a_signup_is_tracked(ph):
    shop.sign_up("u1", plan="pro")
    event = ph.assert_captured("signed_up", {"plan": "pro", "amount": {"@gte": 10}})
    assert event["distinct_id"] == "u1"


def test_nothing_else_is_tracked(ph):
    shop.sign_up("u1", plan="pro")
    ph.assert_captured_only("signup_started", "signed_up")


@pytest.mark.phx_sim(flags={"trial": True})
def test_a_trial_is_offered(ph):
    assert shop.flag("trial", "u1")
