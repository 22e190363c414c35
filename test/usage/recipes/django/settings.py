import os

INSTALLED_APPS = ["shop"]

POSTHOG_API_KEY = os.environ["POSTHOG_API_KEY"]
POSTHOG_HOST = os.environ.get("POSTHOG_HOST", "https://us.i.posthog.com")
