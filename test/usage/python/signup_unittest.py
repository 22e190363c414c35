import os
import unittest

import shop
from phx_sim import Project


class Signup(unittest.TestCase):
    def setUp(self):
        self.ph = self.enterContext(Project())
        os.environ.update(POSTHOG_HOST=self.ph.host, POSTHOG_API_KEY=self.ph.api_key)

    def test_a_signup_is_tracked(self):
        shop.sign_up("u1", plan="pro")
        event = self.ph.wait("signed_up", plan="pro", amount={"@gte": 10})
        self.assertEqual(event["distinct_id"], "u1")

    def test_projects_see_their_own_events_only(self):
        self.ph.verify({"match": {"event": "signed_up"}, "count": 0}, settle_ms=0)

    @unittest.skipUnless(os.environ.get("FAIL"), "shows the report of a failure")
    def test_the_amount_is_a_text(self):
        shop.capture("signed_up", "u1", plan="pro", amount="49")
        self.ph.wait("signed_up", timeout_ms=50, plan="pro", amount=49)


if __name__ == "__main__":
    unittest.main()
