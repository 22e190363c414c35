import posthog
from django.apps import AppConfig
from django.conf import settings


class ShopConfig(AppConfig):
    name = "shop"

    def ready(self):
        posthog.api_key = settings.POSTHOG_API_KEY
        posthog.host = settings.POSTHOG_HOST
