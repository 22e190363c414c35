import type { QueryContext } from "../../../../src/service/query/kind.ts";
import { type TableEvent, tableOf } from "../table-of.ts";

const noon = "2026-01-03T12:00:00Z";

/** Two users, a visitor; a purchase, views, a sign-up. */
const events: readonly TableEvent[] = [
  {
    event: "paid",
    at: "2026-01-01T10:00:00Z",
    id: "ann",
    properties: { amount: 10, plan: "pro", vip: true, at: "2026-01-01", tags: ["a", "b"], $session_id: "s1" },
    groups: { 0: "acme" },
  },
  {
    event: "paid",
    at: "2026-01-01T23:30:00.500Z",
    id: "bob",
    properties: { amount: 2.5, plan: "free", vip: false, nested: { deep: [1, 2] } },
  },
  {
    event: "$pageview",
    at: "2026-01-02T09:00:00Z",
    id: "ann",
    properties: { plan: "pro", $session_id: "s1", $current_url: "https://shop.test/a?utm=1" },
    groups: { 0: "acme" },
  },
  {
    event: "$pageview",
    at: "2026-01-02T09:01:30Z",
    id: "ann",
    properties: { $session_id: "s1", $current_url: "https://shop.test/b" },
  },
  { event: "signed up", at: "2026-01-02T12:00:00Z", id: "cid", properties: { amount: 4, plan: null } },
];

/** The table that most tests query. Its project is in Berlin: one hour before UTC. */
export function stage(more: Partial<QueryContext> = {}): QueryContext {
  return {
    now: Date.parse(noon),
    timeZone: "Europe/Berlin",
    weekStart: 1,
    table: tableOf(events, {
      persons: { ann: "11111111-1111-4111-8111-111111111111", bob: "22222222-2222-4222-8222-222222222222" },
      personProperties: {
        "11111111-1111-4111-8111-111111111111": { email: "ann@shop.test", age: 31 },
        "22222222-2222-4222-8222-222222222222": { email: "bob@shop.test" },
      },
      groupProperties: { 0: { acme: { name: "Acme", size: 12 } } },
    }),
    ...more,
  };
}
