import type { Endpoint } from "../http/endpoint.ts";
import { json } from "../http/reply.ts";
import { showEvent } from "../ingest/show.ts";
import { SimError } from "../kernel/errors.ts";
import { isObject, type JsonObject } from "../kernel/json.ts";
import { fits } from "../match/subset.ts";
import type { StoredEvent } from "../model/event.ts";
import { explain } from "../model/outcome.ts";
import type { EventFilter, Written } from "../store/traffic-log.ts";
import { allowKeys, bodyOf, wholeNumber } from "./body.ts";
import type { ControlDesk } from "./desk.ts";
import { checkPattern, searchEvents } from "./search.ts";

/** A wait never holds a connection longer than this. */
const longestWait = 60_000;
const defaultWait = 4_000;
const most = Number.MAX_SAFE_INTEGER;

interface Wish {
  match: JsonObject;
  count: number;
  filter: EventFilter;
  timeout: number;
}

function wishOf(body: JsonObject): Wish {
  allowKeys(body, ["match", "count", "since", "project", "outcome", "timeout_ms"]);
  const { match = {}, project, outcome = "kept" } = body;
  if (!isObject(match))
    throw new SimError("invalid_input", '"match" must be an object', { pointer: "/match" });
  checkPattern(match, "/match");
  if (outcome !== "kept" && outcome !== "dropped") {
    throw new SimError("invalid_input", '"outcome" must be kept or dropped', { pointer: "/outcome" });
  }
  const filter: EventFilter = { outcome, since: wholeNumber(body, "since", 0, { min: 0, max: most }) };
  if (project !== undefined) filter.project = wholeNumber(body, "project", 0, { min: 0, max: most });
  return {
    match,
    count: wholeNumber(body, "count", 1, { min: 1, max: 100_000 }),
    filter,
    timeout: wholeNumber(body, "timeout_ms", defaultWait, { min: 0, max: longestWait }),
  };
}

/** Does an event that has just arrived belong to the wish? */
const belongs = (event: StoredEvent, { filter, match }: Wish): boolean =>
  event.outcome === filter.outcome &&
  (filter.project === undefined || event.project === filter.project) &&
  fits(match, event as unknown as JsonObject);

/**
 * Collects what is there, then listens. Listening starts before the look back, so that nothing that
 * arrives in between is missed; `seq` keeps it from counting twice.
 */
async function collect(desk: ControlDesk, wish: Wish, signal: AbortSignal): Promise<StoredEvent[]> {
  const found = new Map<number, StoredEvent>();
  const ended = new AbortController();
  const end = () => ended.abort();
  const add = (event: StoredEvent) => {
    found.set(event.seq, event);
    if (found.size >= wish.count) end();
  };
  const until = desk.log.lastSeq;
  const stop = desk.log.subscribe((written) => {
    for (const event of candidates(desk, written, wish)) if (belongs(event, wish)) add(event);
  });
  const timer = setTimeout(end, wish.timeout);
  signal.addEventListener("abort", end);
  try {
    for await (const event of searchEvents(desk.log, { ...wish.filter, until }, wish.match)) {
      add(event);
      if (ended.signal.aborted) break;
    }
    if (!ended.signal.aborted) {
      await new Promise<void>((resolve) => {
        ended.signal.addEventListener("abort", () => resolve());
      });
    }
  } finally {
    stop();
    clearTimeout(timer);
    signal.removeEventListener("abort", end);
  }
  return [...found.values()].sort((a, b) => a.seq - b.seq).slice(0, wish.count);
}

/** The events of a request that may belong to the wish; its literals spare reading the others. */
function candidates(desk: ControlDesk, { n, count, entry }: Written, { match, filter }: Wish): StoredEvent[] {
  const { keys = [], events = [] } = entry.note;
  const fitting = Array.from({ length: count }, (_, i) => i).filter(
    (i) =>
      (typeof match.event !== "string" || keys[i]?.event === match.event) &&
      (typeof match.distinct_id !== "string" || keys[i]?.distinct_id === match.distinct_id) &&
      (events[i]?.dropped !== undefined) === (filter.outcome === "dropped"),
  );
  const line = fitting.length > 0 ? desk.log.line(n) : undefined;
  return line ? fitting.map((i) => showEvent(line, i)) : [];
}

/** How many events a report looks back over. */
const reportReach = 1_000;

/** What did come, for whoever waited in vain: names with counts, and what was dropped and why. */
async function report(desk: ControlDesk, wish: Wish, got: readonly StoredEvent[], waited: number) {
  const seen: Record<string, number> = Object.create(null);
  const dropped: { seq: number; event: string; reason: string; sentence: string; fix: string }[] = [];
  const { outcome: _, ...scope } = wish.filter;
  let looked = 0;
  for await (const event of searchEvents(desk.log, { ...scope, order: "desc" })) {
    if (event.outcome === "kept") seen[event.event] = (seen[event.event] ?? 0) + 1;
    else if (event.reason)
      dropped.push({ seq: event.seq, event: event.event, reason: event.reason, ...explain(event.reason) });
    if (++looked >= reportReach) break;
  }
  const names = Object.entries(seen).map(([name, count]) => (count > 1 ? `${name} ×${count}` : name));
  const text = [
    `waited ${waited} ms for ${wish.count} event(s) like ${JSON.stringify(wish.match)}: got ${got.length}`,
    `captured in scope: ${names.join(", ") || "nothing"}`,
    ...dropped.map(
      (it) => `dropped: #${it.seq} ${it.event || "(no name)"} — ${it.reason}: ${it.sentence}; ${it.fix}`,
    ),
    `requests in flight: ${desk.gauge.inFlight}`,
  ].join("\n");
  return { text, seen, dropped, got: got.length, in_flight: desk.gauge.inFlight };
}

export const waitEndpoints = (desk: ControlDesk): Endpoint[] => [
  {
    methods: ["POST"],
    path: "/__sim/events/wait",
    family: "control",
    summary: "Waits until `count` events match: 200 {events, cursor}, or 409 {report} after timeout_ms",
    async handle(call) {
      const wish = wishOf(bodyOf(call));
      const started = performance.now();
      const events = await collect(desk, wish, call.signal);
      if (events.length >= wish.count)
        return json({ events, cursor: events.at(-1)?.seq ?? desk.log.lastSeq });
      const waited = Math.round(performance.now() - started);
      const told = await report(desk, wish, events, waited);
      throw new SimError("wait_timeout", `no match within ${waited} ms`, {
        data: { waited_ms: waited, cursor: desk.log.lastSeq, report: told },
      });
    },
  },
  {
    methods: ["POST"],
    path: "/__sim/settle",
    family: "control",
    summary: "Returns once no request is in flight and it has been quiet for idle_ms",
    async handle(call) {
      const body = bodyOf(call);
      allowKeys(body, ["idle_ms", "timeout_ms"]);
      const idle = wholeNumber(body, "idle_ms", 250, { min: 0, max: longestWait });
      const timeout = wholeNumber(body, "timeout_ms", defaultWait, { min: 0, max: longestWait });
      const limit = AbortSignal.any([AbortSignal.timeout(timeout), call.signal]);
      try {
        await desk.gauge.quiet(idle, limit);
      } catch {
        const data = { in_flight: desk.gauge.inFlight, cursor: desk.log.lastSeq };
        throw new SimError("wait_timeout", `not quiet for ${idle} ms within ${timeout} ms`, { data });
      }
      return json({ quiet: true, cursor: desk.log.lastSeq });
    },
  },
];
