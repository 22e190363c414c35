import phx_sim
import posthog
from django.test import SimpleTestCase


class Signup(SimpleTestCase):
    def setUp(self):
        self.ph = self.enterContext(phx_sim.connect().project())
        # posthog creates its client on first use; this test needs one with its own key.
        posthog.default_client = None
        posthog.project_api_key = posthog.api_key = self.ph.api_key
        posthog.host = self.ph.host

    def test_a_signup_is_tracked(self):
        posthog.capture("signed_up", distinct_id="u1", properties={"plan": "pro"})
        posthog.flush()
        self.ph.assert_captured("signed_up", {"plan": "pro"}, distinct_id="u1")
