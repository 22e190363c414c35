import { expect, test } from "vitest";
import { queueHint } from "../../../../src/lab/assert/match/causes.ts";

test.each<[lib: string, waited: number | null, hint: RegExp | undefined]>([
  ["posthog-node", 4_000, /posthog-node 1\.0 sends only every 5 s .* the wait took 4 s; `await client\.flush\(\)`/],
  ["posthog-node", 5_001, undefined],
  ["posthog-node", null, /every 5 s by default; /],
  ["posthog-js", 4_000, undefined],
  ["web", 1_500, /every 3 s .* took 1\.5 s/],
  ["posthog-go", 4_000, /Close/],
  ["posthog-python", 60_000, /keeps events in a queue; `posthog\.flush\(\)`/],
  ["posthog-php", 4_000, /PostHog::flush/],
  ["curl", 4_000, undefined],
])("%s after %s ms", (lib, waited, hint) => {
  const said = queueHint({ lib, version: "1.0" }, waited);
  if (hint) expect(said).toMatch(hint);
  else expect(said).toBeUndefined();
});
