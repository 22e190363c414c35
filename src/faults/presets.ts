import type { PresetName, ShownPreset } from "../model/fault.ts";

type Preset = Omit<ShownPreset, "name">;

/** States of the service that happen in real life. */
export const presets: Readonly<Record<PresetName, Preset>> = {
  "flags-partial": {
    describe: "Every second flag cannot be computed; the answer says errorsWhileComputingFlags",
    match: { route: "flags" },
    effect: { flags: "partial" },
  },
  "flags-down": {
    describe: "The flags service is not available",
    match: { route: "flags" },
    effect: { status: 503 },
  },
  "flags-slow": {
    describe: "The flags service takes two seconds to answer",
    match: { route: "flags" },
    effect: { latency: 2_000 },
  },
  "capture-503": {
    describe: "Capture asks for a retry, and keeps nothing",
    match: { route: "capture" },
    effect: { status: 503 },
  },
  "rate-limited": {
    describe: "Too many requests: come back in a second, as Retry-After says",
    match: {},
    effect: { status: 429, headers: { "retry-after": "1" } },
  },
  "quota-exhausted": {
    describe: "The project has used up its events, recordings and flag requests",
    match: { route: "sdk" },
    effect: { quota: ["events", "recordings", "feature_flags"] },
  },
  "connection-reset": {
    describe: "The connection is reset before the request is handled",
    match: {},
    effect: { socket: "reset" },
  },
  "garbage-json": {
    describe: "Requests are handled, but their answers are not JSON",
    match: {},
    effect: { body: "garbage" },
  },
};

/** The presets as they are shown. */
export const shownPresets = (): ShownPreset[] =>
  Object.entries(presets).map(([name, preset]) => ({ name: name as PresetName, ...preset }));
