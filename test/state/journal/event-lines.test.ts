import { expect, test } from "vitest";
import type { StoredEvent } from "../../../src/index.ts";
import { plain } from "../../../src/kernel/command/style.ts";
import { eventLine } from "../../../src/state/journal/commands/event-lines.ts";

const event = (over: Partial<StoredEvent> = {}): StoredEvent => ({
  seq: 7,
  request: 3,
  project: 1,
  uuid: null,
  event: "order paid",
  distinct_id: "u1",
  timestamp: "2026-01-02T03:04:05.678Z",
  received_at: "2026-01-02T03:04:05.678Z",
  properties: {},
  outcome: "kept",
  reason: null,
  detail: null,
  warnings: [],
  person_id: null,
  person_mode: "none",
  ...over,
});

const head = "03:04:05.678  #7  order paid  u1";

test.each<[string, Partial<StoredEvent>, string]>([
  ["kept", {}, head],
  [
    "of posthog-js: only what the app passed",
    { properties: { $os: "Linux", token: "phc_x", distinct_id: "u1", gclid: null, bfcid: null, plan: "pro" } },
    `${head}  {"plan":"pro"}`,
  ],
  [
    "warned",
    { warnings: ["event_name_truncated", "distinct_id_truncated"] },
    `${head}  △ warned event_name_truncated, distinct_id_truncated`,
  ],
  [
    "dropped, with its detail",
    { outcome: "dropped", reason: "invalid_item", detail: "a number" },
    `${head}  ✕ dropped invalid_item (a number)`,
  ],
])("%s", (_, over, line) => {
  expect(eventLine(event(over), false, plain)).toBe(line);
});
