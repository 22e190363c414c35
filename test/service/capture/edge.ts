import { fixedClock } from "../../../src/kernel/base/clock.ts";
import { randomIds } from "../../../src/kernel/base/ids.ts";
import type { Json } from "../../../src/kernel/base/json.ts";
import { createApp } from "../../../src/kernel/http/app.ts";
import type { CallRecord } from "../../../src/kernel/http/call.ts";
import { type CallParts, callFrom } from "../../../src/kernel/http/call.ts";
import type { Endpoint } from "../../../src/kernel/http/endpoint.ts";
import { Router } from "../../../src/kernel/http/router.ts";
import type { Desk } from "../../../src/service/capture/desk.ts";
import { captureSlice } from "../../../src/service/capture/endpoint/capture.ts";
import { furtherCaptureSlice } from "../../../src/service/capture/slice.ts";
import { createVisitors } from "../../../src/service/capture/visitors.ts";
import type { Dialect } from "../../../src/state/documents/dialect.ts";
import { createKeyring } from "../../../src/state/documents/keyring.ts";
import { openWorld } from "../../../src/state/documents/world-store.ts";
import type { StoredEvent } from "../../../src/state/journal/event.ts";
import { noPlaces, type Places } from "../../../src/state/journal/places.ts";
import { showEvent } from "../../../src/state/journal/show.ts";
import type { TrafficLine } from "../../../src/state/journal/traffic.ts";
import type { PersonData } from "../../../src/state/persons/person-data.ts";
import { openPersonStore } from "../../../src/state/persons/person-store.ts";
import { aProject, aWorld } from "../../support/documents.ts";

export const now = Date.parse("2026-07-01T12:00:00.000Z");

export const key = "phc_test_key_of_project_one";
export const otherKey = "phc_test_key_of_project_two";

/** Nothing here changes it, so that all edges share it. */
const worlds = await openWorld({
  seedWorld: () => aWorld({ projects: [aProject({ api_key: key }), aProject({ id: 2, api_key: otherKey })] }),
});

/** The store's own people, in memory, with a count of what is written about persons. */
function countedPersons(): { people: PersonData; writes: () => number } {
  const stored = openPersonStore();
  let writes = 0;
  const counted =
    <A extends unknown[]>(write: (...args: A) => void) =>
    (...args: A): void => {
      writes++;
      write(...args);
    };
  const people: PersonData = {
    ...stored,
    create: counted(stored.create),
    update: counted(stored.update),
    attach: counted(stored.attach),
    merge: counted(stored.merge),
  };
  return { people, writes: () => writes };
}

/** What came of one request. */
export interface Outcome {
  status: number;
  headers: Record<string, string>;
  text: string;
  json: Json;
  note: CallRecord;
  line: TrafficLine;
  /** The reason of a rejected request. */
  rejected: string | undefined;
  events: StoredEvent[];
}

export interface Sent {
  method?: string;
  target?: string;
  headers?: Record<string, string>;
  body?: unknown;
  peer?: string;
}

const bytesOf = (body: unknown): Buffer => {
  if (Buffer.isBuffer(body)) return body;
  if (body === undefined) return Buffer.alloc(0);
  return Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
};

/** The capture endpoints with a desk of their own and a journal in memory; no socket. */
export function openEdge(dialect: Dialect = "documented", geoip: Places = noPlaces) {
  const clock = fixedClock(now);
  const seen = new Set<string>();
  const lines: TrafficLine[] = [];
  const { people, writes } = countedPersons();
  const desk: Desk = {
    worlds,
    people,
    clock,
    ids: randomIds(clock),
    dialect,
    geoip,
    projectFor: worlds.projectByKey,
    keys: createKeyring(worlds, undefined),
    seen: (project, uuid) => seen.has(`${project} ${uuid}`),
    visitors: createVisitors(),
    underway: new Map(),
  };
  const endpoints: Endpoint[] = [
    ...captureSlice.rows({ desk, mayVisit: () => false }),
    ...furtherCaptureSlice.rows({ desk }),
  ];
  const crashes: unknown[] = [];
  let seq = 1;
  const app = createApp({
    router: new Router(endpoints),
    unknownPath: () => {
      throw new Error("no such path in this test");
    },
    onCrash: (error) => crashes.push(error),
    onRefusal: (error) => crashes.push(error),
    identify: () => {},
    async journal(call, reply) {
      const note = call.record;
      const events = note.events ?? [];
      for (const { uuid, dropped } of events) {
        if (dropped === undefined) seen.add(`${note.project} ${uuid}`);
      }
      lines.push({
        n: lines.length + 1,
        at: call.at,
        method: call.method,
        target: call.target,
        peer: call.peer,
        status: reply.status,
        us: 0,
        project: note.project ?? null,
        ...(note.rejected && { rejected: note.rejected }),
        seq,
        events,
        ...(note.shape ? { shape: note.shape } : {}),
        ...(note.steps ? { steps: note.steps } : {}),
        headers: [...call.rawHeaders],
        ...(note.text === undefined ? {} : { body: JSON.parse(note.text) }),
      });
      seq += events.length;
      last = note;
    },
  });
  let last: CallRecord = {};

  async function send({ method = "POST", target = "/capture/", headers = {}, body, peer }: Sent): Promise<Outcome> {
    last = {};
    const parts: CallParts = {
      method,
      target,
      headers: { host: "sim", ...headers },
      rawHeaders: Object.entries(headers).flat(),
      body: bytesOf(body),
      peer: peer ?? "127.0.0.1",
      at: clock.now(),
      started: 0,
      signal: () => new AbortController().signal,
    };
    const before = lines.length;
    const reply = await app.handle(callFrom(parts));
    const line = lines[before];
    const text = reply.body === null ? "" : reply.body.toString();
    return {
      status: reply.status,
      headers: Object.fromEntries(
        Array.from({ length: reply.headers.length / 2 }, (_, i) => [reply.headers[2 * i], reply.headers[2 * i + 1]]),
      ),
      text,
      json: text.startsWith("{") ? JSON.parse(text) : null,
      note: last,
      line: line ?? ({ events: [] } as unknown as TrafficLine),
      rejected: line?.rejected?.reason,
      events: line ? (line.events ?? []).map((_, index) => showEvent(line, index)) : [],
    };
  }

  /** Sends one event of project one and shows it. */
  async function capture(event: string, distinct_id: string, properties: object = {}, more: object = {}) {
    const outcome = await send({ body: { api_key: key, event, distinct_id, properties, ...more } });
    const [stored] = outcome.events;
    if (stored === undefined) throw new Error(`not taken: ${outcome.status} ${outcome.text}`);
    return stored;
  }

  return { desk, clock, endpoints, lines, crashes, send, capture, people, writes };
}

export type Edge = ReturnType<typeof openEdge>;
