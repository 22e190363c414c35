import os
import unittest

import phx_sim
import shop


class Signup(unittest.TestCase):
    def setUp(self):
        self.ph = self.enterContext(phx_sim.connect().project())
        os.environ.update(self.ph.env)

    def test_a_signup_is_tracked(self):
        shop.sign_up("u1", plan="pro")
        event = self.ph.assert_captured("signed_up", {"plan": "pro", "amount": {"@gte": 10}})
        self.assertEqual(event["distinct_id"], "u1")

    @unittest.skipUnless(os.environ.get("FAIL"), "shows the report of a failure")
    def test_the_amount_is_a_string(self):
        shop.capture("signed_up", "u1", plan="pro", amount="49")
        self.ph.assert_captured("signed_up", {"plan": "pro", "amount": 49}, timeout=0.05)


if __name__ == "__main__":
    unittest.main()
