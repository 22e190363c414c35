import { type GuardRules, guarded } from "../kernel/http/control-access.ts";
import type { Endpoint } from "../kernel/http/endpoint.ts";
import { contactRows } from "../lab/assert/contact-rows.ts";
import { reportEnded } from "../lab/assert/ended-keys.ts";
import { assertPorts } from "../lab/assert/ports.ts";
import { assertRows } from "../lab/assert/rows.ts";
import { searchRows } from "../lab/assert/search-rows.ts";
import type { ProjectPorts } from "../lab/test-projects/ports.ts";
import { projectRows } from "../lab/test-projects/rows.ts";
import { type EventPorts, eventRows } from "../state/journal/event-rows.ts";
import { type FeedRowPorts, feedRows } from "../state/journal/feed/rows.ts";
import { type RequestPorts, requestRows } from "../state/journal/request-rows.ts";

export type AssertionPorts = Parameters<typeof assertPorts>[0] &
  EventPorts &
  RequestPorts &
  ProjectPorts &
  FeedRowPorts;

/** The rows of the control API that test suites use: a file of tests loads these, and rarely the others. */
export function assertionEndpoints(ports: AssertionPorts, rules: GuardRules): Endpoint[] {
  const asserting = assertPorts(ports);
  reportEnded(ports);
  const rows = [
    ...searchRows(asserting),
    ...eventRows(ports),
    ...assertRows(asserting),
    ...contactRows(asserting),
    ...projectRows(ports),
    ...requestRows(ports),
    ...feedRows(ports),
  ];
  return guarded(rows, rules);
}
