import { expect, test } from "vitest";
import { readRequestFilter } from "../../../../src/state/journal/filter/read.ts";
import { eventOf, now, requestOf } from "./subjects.ts";

const requests = {
  c: requestOf({ n: 1 }, [
    eventOf({ seq: 1, event: "signup" }, { plan: "pro", $lib: "web" }),
    eventOf({ seq: 2, event: "order", warnings: ["event_name_truncated"] }, { amount: 20 }),
  ]),
  d: requestOf(
    { n: 2, dropped: 1 },
    [eventOf({ seq: 3, event: "", outcome: "dropped", reason: "missing_event_name" })],
    '{"note":"say \\"hi\\""}',
  ),
  u: requestOf({
    n: 3,
    method: "GET",
    target: "/nope",
    status: 404,
    outcome: "rejected",
    reason: "not_found",
    detail: "Endpoint not found.",
    unmatched: true,
    project: null,
  }),
  f: requestOf(
    { n: 4, target: "/flags/?v=2", status: 0, fault: "hang", source: "fault", at: now - 3_600_000 },
    [],
    "distinct ANON\nfeatureFlags",
  ),
} as const;

function passing(text: string): string {
  const reading = readRequestFilter(text);
  if (!("filter" in reading)) throw new Error(JSON.stringify(reading.problems));
  const { filter } = reading;
  return Object.entries(requests)
    .flatMap(([letter, subject]) => (filter.test(subject, now) ? [letter] : []))
    .join("");
}

const rows: [filter: string, passing: string][] = [
  ["", "cduf"],
  ["route:/flags", "f"],
  ["route:flags", "f"],
  ["target:/nope", "u"],
  ["method:post", "cdf"],
  ["status:>=400", "u"],
  ["status:0", "f"],
  ["has:status", "cdu"],
  ["n:>2", "uf"],
  ["request:2", "d"],
  ["ms<5", "cduf"],
  ["fault:hang", "f"],
  ["source:fault", "f"],
  ["project:null", "u"],
  ["outcome:rejected", "u"],
  ["outcome:answered", "cdf"],
  ["since:5m", "cdu"],
  ["until:30m", "f"],
  ["events:>0", "cd"],
  ["events:2", "c"],
  ["has:events", "cd"],
  ["dropped:>0", "d"],
  ["reason:not_found", "u"],
  ["reason:missing_event_name", "d"],
  ["code:event_name_truncated", "c"],
  ["has:reason", "cdu"],
  ["event:order", "c"],
  ["event:order,signup", "c"],
  ['event:""', "d"],
  ["seq:3", "d"],
  ["id:user-1", "cd"],
  ["has:person", "cd"],
  ["lib:posthog-js", "c"],
  ["prop.plan:pro", "c"],
  ["prop.amount:>10", "c"],
  ["has:prop.amount", "c"],
  ["-has:prop.amount", "duf"],
  ["is:answered", "cdf"],
  ["is:rejected", "u"],
  ["is:unmatched", "u"],
  ["is:faulted", "f"],
  ["is:kept", "c"],
  ["is:dropped", "d"],
  ["is:warned", "c"],
  ["is:unmatched,dropped", "du"],
  ["nope", "u"],
  ["Endpoint", "u"],
  ["anon", "f"],
  ['"say \\"hi"', "d"],
  ["featureflags route:/flags", "f"],
];

test.each(rows)("%s → %s", (filter, expected) => {
  expect(passing(filter)).toBe(expected);
});
