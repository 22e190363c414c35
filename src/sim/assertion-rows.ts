import { contactRows } from "../assert/contact-rows.ts";
import { reportEnded } from "../assert/ended-keys.ts";
import { assertPorts } from "../assert/ports.ts";
import { assertRows } from "../assert/rows.ts";
import { searchRows } from "../assert/search-rows.ts";
import { type GuardRules, guarded } from "../kernel/http/control-access.ts";
import type { Endpoint } from "../kernel/http/endpoint.ts";
import type { ProjectPorts } from "../projects/ports.ts";
import { projectRows } from "../projects/rows.ts";
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
