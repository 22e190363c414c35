require "json"
require "minitest/autorun"
require "net/http"

SIM = URI(ENV.fetch("PHX_SIM_URL", "http://127.0.0.1:7490"))

def sim(method, path, body = nil)
  request = Net::HTTP.const_get(method).new(path, "content-type" => "application/json")
  response = Net::HTTP.start(SIM.host, SIM.port) { |http| http.request(request, body&.to_json) }
  answer = JSON.parse(response.body)
  answer["report"] ? raise(Minitest::Assertion, answer["report"]["text"]) : answer
end

class SignupTest < Minitest::Test
  def setup
    @ph = sim(:Post, "/__sim/projects", {})
  end

  def teardown
    sim(:Delete, "/__sim/projects/#{@ph["id"]}")
  end

  def test_a_signup_is_tracked
    event = { event: "signed_up", distinct_id: "u1", properties: { plan: "pro" } }
    batch = { api_key: @ph["api_key"], batch: [event] }.to_json
    # Without it Net::HTTP calls the body a form, which the service refuses with 400.
    Net::HTTP.post(URI("#{@ph["host"]}/batch/"), batch, "content-type" => "application/json")

    match = { event: "signed_up", properties: { plan: "pro" } }
    events = sim(:Post, "/__sim/events/wait", { project: @ph["id"], match: match })["events"]
    assert_equal "u1", events.first["distinct_id"]
  end
end
