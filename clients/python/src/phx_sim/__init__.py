"""Assert what an application sends to PostHog, against a local phx-sim."""

from .client import CapturedEvent, Project, Sim, connect
from .control import CaptureError, ControlError, NoSim
from .process import start

__all__ = ["CaptureError", "CapturedEvent", "ControlError", "NoSim", "Project", "Sim", "connect", "start"]
