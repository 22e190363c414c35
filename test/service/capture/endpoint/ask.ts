import { fixedClock } from "../../../../src/kernel/base/clock.ts";
import { randomIds } from "../../../../src/kernel/base/ids.ts";
import type { CallRecord } from "../../../../src/kernel/http/call.ts";
import { type Call, callFrom } from "../../../../src/kernel/http/call.ts";
import type { Endpoint } from "../../../../src/kernel/http/endpoint.ts";
import { asSimError, errorReply } from "../../../../src/kernel/http/error-body.ts";
import { headerOf, type Reply } from "../../../../src/kernel/http/reply.ts";
import { Router } from "../../../../src/kernel/http/router.ts";
import type { Desk } from "../../../../src/service/capture/desk.ts";
import { createVisitors } from "../../../../src/service/capture/visitors.ts";
import type { Dialect } from "../../../../src/state/documents/dialect.ts";
import { createKeyring } from "../../../../src/state/documents/keyring.ts";
import type { World } from "../../../../src/state/documents/world.ts";
import { openWorld, type WorldStore } from "../../../../src/state/documents/world-store.ts";
import { noPlaces, type Places } from "../../../../src/state/journal/places.ts";
import type { PersonData } from "../../../../src/state/persons/person-data.ts";

export const now = Date.UTC(2026, 0, 2, 3, 4, 5);

/** A desk over a world in memory; the store lets it be replaced. */
export async function deskOf(
  world: World,
  people: PersonData,
  dialect: Dialect = "documented",
  geoip: Places = noPlaces,
): Promise<Desk & { worlds: WorldStore }> {
  const clock = fixedClock(now);
  const worlds = await openWorld({ seedWorld: () => world });
  return {
    worlds,
    people,
    clock,
    ids: randomIds(clock),
    dialect,
    geoip,
    projectFor: worlds.projectByKey,
    keys: createKeyring(worlds, undefined),
    seen: () => false,
    visitors: createVisitors(),
    underway: new Map(),
  };
}

export interface Asked {
  method?: string;
  headers?: Record<string, string>;
  body?: string | Buffer | object;
}

const bytesOf = (body: Asked["body"]): Buffer => {
  if (Buffer.isBuffer(body)) return body;
  return Buffer.from(typeof body === "string" ? body : body === undefined ? "" : JSON.stringify(body));
};

export const aCall = (target: string, { method = "GET", headers = {}, body }: Asked): Call =>
  callFrom({
    method,
    target,
    headers,
    rawHeaders: Object.entries(headers).flat(),
    body: bytesOf(body),
    peer: "127.0.0.1",
    transport: "fetch",
    at: now,
    started: 0,
    signal: () => new AbortController().signal,
  });

export interface Answer extends Reply {
  /** What became known of the call. */
  note: CallRecord;
  text: string;
  header(name: string): string | undefined;
  /** The body parsed as JSON. */
  json(): unknown;
}

const shown = (reply: Reply, note: CallRecord): Answer => {
  const text = reply.body?.toString() ?? "";
  return { ...reply, note, text, header: (name) => headerOf(reply, name), json: () => JSON.parse(text) };
};

/** Answers one call as the app does: route, handle, errors in the family's shape. 405 without a row. */
export function asker(endpoints: readonly Endpoint[]) {
  const router = new Router(endpoints);
  return async (target: string, asked: Asked = {}): Promise<Answer> => {
    const call = aCall(target, asked);
    const match = router.exact(call.path) ?? (await router.search(call.path));
    if (!match) throw new Error(`no row for ${call.path}`);
    const endpoint = match.byMethod.get(call.method);
    if (!endpoint) return shown({ status: 405, headers: [], body: null }, call.record);
    call.params = match.params;
    try {
      const reply = await endpoint.handle(call);
      return shown(reply, call.record);
    } catch (thrown) {
      return shown(errorReply(endpoint.family, asSimError(thrown)), call.record);
    }
  };
}
