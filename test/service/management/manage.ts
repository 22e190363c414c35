import { fixedClock } from "../../../src/kernel/base/clock.ts";
import { SimError } from "../../../src/kernel/base/errors.ts";
import { randomIds } from "../../../src/kernel/base/ids.ts";
import { createApp } from "../../../src/kernel/http/app.ts";
import { callFrom } from "../../../src/kernel/http/call.ts";
import { headerOf } from "../../../src/kernel/http/reply.ts";
import { Router } from "../../../src/kernel/http/router.ts";
import { MemoryBytes } from "../../../src/kernel/store/bytes.ts";
import { noThrottle, type Throttle } from "../../../src/service/api-frame/desk.ts";
import { ExportEngine } from "../../../src/service/batch-exports/engine.ts";
import { createVisitors } from "../../../src/service/capture/visitors.ts";
import { createRulesets } from "../../../src/service/flags/rulesets.ts";
import type { ManagementDesk } from "../../../src/service/management/desk.ts";
import { managementSlice } from "../../../src/service/management/rows.ts";
import { openQueries } from "../../../src/service/query/open-queries.ts";
import type { Dialect } from "../../../src/state/documents/dialect.ts";
import { createKeyring } from "../../../src/state/documents/keyring.ts";
import type { World } from "../../../src/state/documents/world.ts";
import { memoryWorld } from "../../../src/state/documents/world-store.ts";
import type { StoredEvent } from "../../../src/state/journal/event.ts";
import type { EventSelection, TimedQuery } from "../../../src/state/journal/event-reader.ts";
import { TrafficLog } from "../../../src/state/journal/log/traffic-log.ts";
import { noPlaces } from "../../../src/state/journal/places.ts";
import { keysOf } from "../../../src/state/journal/show.ts";
import { openPersonStore } from "../../../src/state/persons/person-store.ts";
import { twoOrganizations } from "./world.ts";

export const now = Date.UTC(2026, 2, 4, 5, 6, 7, 89);

export interface ManageOptions {
  world?: World;
  dialect?: Dialect;
  throttle?: Throttle;
  /** Kept events in order of arrival. */
  events?: readonly StoredEvent[];
}

export interface Asked {
  /** Personal key; `phx_ada` (default; an owner who may do everything); null sends none. */
  key?: string | null;
  headers?: Record<string, string>;
  /** Sent as JSON unless it is text. */
  body?: unknown;
}

export interface Answer {
  status: number;
  text: string;
  /** The body parsed as JSON; tests narrow it by what they expect. */
  // biome-ignore lint/suspicious/noExplicitAny: answers are looked into by hand
  json: any;
  header(name: string): string | undefined;
}

const newestOf = (events: readonly StoredEvent[], query: EventSelection): StoredEvent[] =>
  events
    .filter((it) => it.project === query.project)
    .filter((it) => query.event === undefined || it.event === query.event)
    .filter((it) => query.distinct_id === undefined || it.distinct_id === query.distinct_id)
    .filter((it) => query.uuid === undefined || it.uuid === query.uuid)
    .reverse();

function inTime(events: readonly StoredEvent[], query: TimedQuery): StoredEvent[] {
  const sign = query.order === "asc" ? 1 : -1;
  const timeOf = (it: StoredEvent) => Date.parse(it.timestamp);
  return newestOf(events, query)
    .filter((it) => timeOf(it) > query.after && timeOf(it) < query.before)
    .sort((a, b) => sign * (timeOf(a) - timeOf(b) || a.seq - b.seq));
}

/** The management API over a world in memory, without a socket: routes, errors and headers as the app makes them. */
export function manage(options: ManageOptions = {}) {
  const clock = fixedClock(now);
  const worlds = memoryWorld(options.world ?? twoOrganizations());
  const people = openPersonStore({ onNotice: () => {} });
  const ids = randomIds(clock);
  const desk: ManagementDesk = {
    worlds,
    people,
    clock,
    ids,
    dialect: options.dialect ?? "documented",
    geoip: noPlaces,
    projectFor: worlds.projectByKey,
    keys: createKeyring(worlds, undefined),
    seen: () => false,
    visitors: createVisitors(),
    underway: new Map(),
    events: {
      newest: (query) => newestOf(options.events ?? [], query),
      byTime: (query) => inTime(options.events ?? [], query),
      after: (project, seq) =>
        newestOf(options.events ?? [], { project })
          .filter((it) => it.seq > seq)
          .reverse(),
      revision: 0,
    },
    ...openQueries({
      log: new TrafficLog({ bytes: new MemoryBytes(), keysOf }),
      people,
      worlds,
      clock,
      closing: new AbortController().signal,
    }),
    exports: new ExportEngine({ worlds, clock, ids }),
    throttle: options.throttle ?? noThrottle,
  };
  const crashes: unknown[] = [];
  const app = createApp({
    router: new Router(managementSlice.rows({ resources: desk, rulesets: createRulesets(desk) })),
    journal: async () => {},
    identify: () => {},
    unknownPath: () => new SimError("not_found", "Endpoint not found."),
    onCrash: (error) => {
      crashes.push(error);
    },
    onRefusal: (error) => {
      crashes.push(error);
    },
  });

  async function ask(method: string, target: string, asked: Asked = {}): Promise<Answer> {
    const { key = "phx_ada", body } = asked;
    const headers: Record<string, string> = {
      host: "sim.test",
      ...(body !== undefined && { "content-type": "application/json" }),
      ...(key !== null && { authorization: `Bearer ${key}` }),
      ...asked.headers,
    };
    const text = body === undefined ? "" : typeof body === "string" ? body : JSON.stringify(body);
    const reply = await app.handle(
      callFrom({
        method,
        target,
        headers,
        rawHeaders: Object.entries(headers).flat(),
        body: Buffer.from(text),
        peer: "127.0.0.1",
        transport: "fetch",
        at: clock.now(),
        started: 0,
        signal: () => new AbortController().signal,
      }),
    );
    if (crashes.length > 0) throw crashes[0];
    const answer = reply.body?.toString() ?? "";
    const isJson = headerOf(reply, "content-type")?.startsWith("application/json") && answer !== "";
    return {
      status: reply.status,
      text: answer,
      json: isJson ? JSON.parse(answer) : undefined,
      header: (name) => headerOf(reply, name),
    };
  }

  const by =
    (method: string) =>
    (target: string, body?: unknown, asked: Asked = {}) =>
      ask(method, target, { ...asked, ...(body !== undefined && { body }) });
  return {
    ask,
    get: (target: string, asked?: Asked) => ask("GET", target, asked),
    post: by("POST"),
    patch: by("PATCH"),
    put: by("PUT"),
    delete: (target: string, asked?: Asked) => ask("DELETE", target, asked),
    desk,
    clock,
    worlds,
    people,
  };
}
