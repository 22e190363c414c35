import type { Scope, SimRequest } from "../client/api.ts";
import type { StoredEvent } from "../index.ts";
import { nameText, printable, quoted } from "../match/printable.ts";
import { explain } from "../model/outcome.ts";
import { type Asked, type Judged, told } from "./asked.ts";

/** How many of them a failure shows. */
const shown = 10;

/** Paths that carry events: what is rejected there is lost. */
const capturePath = /^\/+(?:e|s|capture|track|engage|batch|i\/v\d+(?:\/[\w-]+)+)\/*(?:\?|$)/;

const capped = (lines: readonly string[], what: string): string[] =>
  lines.length > shown
    ? [...lines.slice(0, shown), `  … and ${lines.length - shown} more ${what}`]
    : [...lines];

function droppedLine({ seq, event, distinct_id, reason }: StoredEvent): string {
  const why = reason === null ? "" : `: ${reason}: ${explain(reason).sentence}; ${explain(reason).fix}`;
  return `  #${seq} ${nameText(event)} of ${quoted(distinct_id)}${why}`;
}

const requestLine = ({ n, method, target, status, rejected }: SimRequest): string =>
  `  request #${n} ${method} ${printable(target)} (HTTP ${status})${rejected ? `: ${rejected.reason}: ${printable(rejected.detail)}` : ""}${rejected?.hint ? `\n    ${printable(rejected.hint, 400)}` : ""}`;

/** Events that were dropped, and requests with events that were rejected whole: both are lost. */
export async function noDroppedEvents(asked: Asked, { since }: Pick<Scope, "since"> = {}): Promise<Judged> {
  const { events, settle } = asked.tenant;
  await settle();
  const dropped = await events.dropped(since === undefined ? {} : { since });
  const rejected = (await events.rejected()).filter(({ target }) => capturePath.test(target));
  const pass = dropped.length + rejected.length === 0;
  const lines = [
    ...(dropped.length > 0 ? [`dropped events: ${dropped.length}`] : []),
    ...capped(dropped.map(droppedLine), "events"),
    ...(rejected.length > 0 ? [`requests that were rejected with all their events: ${rejected.length}`] : []),
    ...capped(rejected.map(requestLine), "requests"),
  ];
  return { pass, text: told(asked, ...(pass ? ["every event was kept"] : lines)) };
}

const sharedLine = (count: number): string =>
  `${count} of them ${count === 1 ? "carries" : "carry"} no project's key: such requests count for every project that exists when they arrive`;

/** Requests to paths that the service does not have. For a project they include those without a project's key. */
export async function noUnmatchedRequests(asked: Asked): Promise<Judged> {
  await asked.tenant.settle();
  const unmatched = await asked.tenant.requests.unmatched();
  const pass = unmatched.length === 0;
  const unattributed = unmatched.filter(({ project }) => project === null).length;
  const lines = [
    `requests to paths that do not exist: ${unmatched.length}`,
    ...capped(unmatched.map(requestLine), "requests"),
    ...(unattributed > 0 ? [sharedLine(unattributed)] : []),
  ];
  return { pass, text: told(asked, ...(pass ? ["every request went to a path that exists"] : lines)) };
}
