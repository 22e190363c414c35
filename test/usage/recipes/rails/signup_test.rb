require "test_helper"

class SignupTest < ActionDispatch::IntegrationTest
  test "a signup is tracked" do
    post "/signup", params: { email: "ada@example.test", plan: "pro" }
    Rails.application.config.posthog.flush

    match = { event: "signed_up", properties: { plan: "pro" } }
    events = sim(:Post, "/__sim/events/wait", { match: match })["events"]
    assert_equal 1, events.size
  end
end
