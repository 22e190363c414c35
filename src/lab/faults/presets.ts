import type { FaultPreset, PresetName } from "./shapes.ts";

type Preset = Omit<FaultPreset, "name">;

export const presets: Readonly<Record<PresetName, Preset>> = {
  "flags-partial": {
    describe: "Every second flag cannot be computed; the response has errorsWhileComputingFlags",
    match: { route: "flags" },
    effect: { flags: "partial" },
  },
  "flags-down": { describe: "The flags service is not available", match: { route: "flags" }, effect: { status: 503 } },
  "flags-slow": {
    describe: "The flags service takes two seconds to respond",
    match: { route: "flags" },
    effect: { latency: 2_000 },
  },
  "capture-503": {
    describe: "Capture asks for a retry, and keeps nothing",
    match: { route: "capture" },
    effect: { status: 503 },
  },
  "rate-limited": {
    describe: "Too many requests; Retry-After is one second",
    match: {},
    effect: { status: 429, headers: { "retry-after": "1" } },
  },
  "quota-exhausted": {
    describe: "The project has used up its events, recordings and flag requests",
    match: { route: "sdk" },
    effect: { quota: ["events", "recordings", "feature_flags"] },
  },
  "events-dropped": {
    describe: "Capture v1 answers 200, and drops each event: the project has used up its events",
    match: { route: "capture" },
    effect: { results: { result: "drop", details: "billing_limit_exceeded" } },
  },
  "events-invalid": {
    describe: "Capture v1 answers 200, and drops each event as invalid",
    match: { route: "capture" },
    effect: { results: { result: "drop", details: "invalid_event" } },
  },
  "events-retried": {
    describe: "Capture v1 answers 200, and asks for each event again",
    match: { route: "capture" },
    effect: { results: { result: "retry", details: "not_persisted" } },
  },
  "connection-reset": {
    describe: "The connection is reset before the request is handled",
    match: {},
    effect: { socket: "reset" },
  },
  "garbage-json": {
    describe: "Requests are handled, but their responses are not JSON",
    match: {},
    effect: { body: "garbage" },
  },
};

export const shownPresets = (): FaultPreset[] =>
  Object.entries(presets).map(([name, preset]) => ({ name: name as PresetName, ...preset }));
