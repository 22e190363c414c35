Rails.application.config.posthog = PostHog::Client.new(
  api_key: ENV.fetch("POSTHOG_API_KEY"),
  host: ENV.fetch("POSTHOG_HOST", "https://us.i.posthog.com"),
  on_error: proc { |status, message| Rails.logger.error("posthog: #{status} #{message}") }
)
