import { isObject, type Json, type JsonObject, own } from "../../kernel/base/json.ts";
import { pathOf } from "../../kernel/http/call.ts";
import { headerIn } from "../../kernel/http/client-address.ts";
import { sentAtOf } from "../../service/capture/open.ts";
import { decodedLimits } from "../../service/capture/packet.ts";
import { answered } from "../../service/flags/decision-lines.ts";
import type { DropReason, Warning } from "../../state/journal/drop-reasons.ts";
import type { EventFacts } from "../../state/journal/event.ts";
import { isEngage, type Opened, openLegacy, openV1 } from "../../state/journal/items.ts";
import { keysOf, showEvent } from "../../state/journal/show.ts";
import type { EventKey, TrafficLine } from "../../state/journal/traffic.ts";

export interface LintEvent {
  seq: number;
  event: string;
  distinct_id: string;
  /** null if the sender set none. */
  uuid: string | null;
  /** When it happened, ms since the epoch, as the sim understood it. */
  time: number;
  /** As it was sent, if it was a string. */
  timestamp: string | undefined;
  dropped: DropReason | undefined;
  warnings: readonly Warning[];
  properties: JsonObject;
  /** `$set` and `$set_once` next to the properties. */
  set: JsonObject | undefined;
  setOnce: JsonObject | undefined;
}

export interface Serving {
  distinctId: string;
  anonymousId: string | undefined;
  requested: readonly string[];
  /** undefined: they cannot be read from the journal. */
  values: ReadonlyMap<string, boolean | string> | undefined;
}

/** A request as the rules see it. Requests without a project are not examined. */
export interface LintRequest {
  n: number;
  /** Times of arrival and of the answer, ms since the epoch. */
  at: number;
  answeredAt: number;
  project: number;
  /** Approximate size of the decoded body. */
  bytes: number;
  /** Largest accepted size; undefined if the endpoint takes no events. */
  mostBytes: number | undefined;
  isHistorical: boolean;
  /** True if times of events can be compared with its arrival: not with a set clock and no `sent_at`. */
  isTimed: boolean;
  /** `posthog-node`, from the User-Agent; undefined for browsers and unknown clients. */
  sender: string | undefined;
  serving: Serving | undefined;
  /** True if the sender fetched flag definitions, for local evaluation. */
  fetchesDefinitions: boolean;
  events: readonly LintEvent[];
  /** Parts of recordings: what the recorder sent, still compressed. */
  recorded: readonly { readonly seq: number; readonly items: readonly Json[] }[];
}

const none: JsonObject = Object.freeze({});
const objectOf = (value: Json | undefined): JsonObject | undefined => (isObject(value) ? value : undefined);

const nothing: Opened = { items: [], envelope: undefined };

function openedOf({ body, shape, target }: TrafficLine): Opened {
  if (body === undefined) return nothing;
  return shape === "v1" ? openV1(body) : openLegacy(body, isEngage(pathOf(target)));
}

function eventOf(seq: number, key: EventKey, facts: EventFacts, item: JsonObject): LintEvent {
  const { timestamp, uuid } = item;
  return {
    seq,
    event: key.event,
    distinct_id: key.distinct_id,
    uuid: typeof uuid === "string" && uuid !== "" ? facts.uuid : null,
    time: facts.time,
    timestamp: typeof timestamp === "string" ? timestamp : undefined,
    dropped: facts.dropped,
    warnings: facts.warnings ?? [],
    properties: objectOf(item.properties) ?? none,
    set: objectOf(item.$set),
    setOnce: objectOf(item.$set_once),
  };
}

function eventsOf(line: TrafficLine, items: readonly Json[]): LintEvent[] {
  // the content of a recording is not properties
  if (!line.events || line.shape === "recording") return [];
  const keys = keysOf(line);
  return line.events.flatMap((facts, i) => {
    const [key, item] = [keys[i], items[i]];
    return key && isObject(item) ? [eventOf((line.seq ?? 0) + i, key, facts, item)] : [];
  });
}

function recordedIn(line: TrafficLine): LintRequest["recorded"] {
  if (line.shape !== "recording" || !line.events) return [];
  return line.events.flatMap((_, i) => {
    const items = own(showEvent(line, i).properties, "$snapshot_items");
    return Array.isArray(items) ? [{ seq: (line.seq ?? 0) + i, items }] : [];
  });
}

/** The flags that a request was answered with; undefined for other and failed requests. */
function servingOf(line: TrafficLine): Serving | undefined {
  const { status, distinct_id: distinctId, asked, flags } = answered(line) ?? {};
  if (status !== 200 || line.rejected || typeof distinctId !== "string") return undefined;
  const { reply } = line;
  const isRead = isObject(reply) && (isObject(reply.flags) || isObject(reply.featureFlags));
  const values = flags?.flatMap(({ key, value, failed }) => (failed || value === null ? [] : [[key, value] as const]));
  return {
    distinctId,
    anonymousId: asked?.anon_distinct_id ?? undefined,
    requested: asked?.keys ?? [],
    values: isRead ? new Map(values) : undefined,
  };
}

const agent = /^(posthog-[a-z]+(?:-[a-z]+)*)/i;

const senderOf = ({ headers }: TrafficLine): string | undefined =>
  agent.exec(headerIn(headers, "user-agent") ?? "")?.[1]?.toLowerCase();

const definitionPaths = /\/(?:local_evaluation|flags\/definitions)\/?$/;

const queryOf = (target: string): URLSearchParams => {
  const mark = target.indexOf("?");
  return new URLSearchParams(mark === -1 ? "" : target.slice(mark + 1));
};

/**
 * A line of the journal as the rules see it; undefined without a project.
 * @param bytes Size of the line, about that of the body
 * @param isClockReal True if the sim's clock shows the machine's time
 */
export function lintRequestOf(line: TrafficLine, bytes: number, isClockReal: boolean): LintRequest | undefined {
  const { n, at, us, project, target, shape } = line;
  if (project === null) return undefined;
  const opened = line.events ? openedOf(line) : nothing;
  const hasSentAt = shape === "v1" || sentAtOf(opened, queryOf(target)) !== undefined;
  return {
    n,
    at,
    answeredAt: at + us / 1000,
    project,
    bytes,
    mostBytes: line.events ? decodedLimits[shape ?? "legacy"] : undefined,
    isHistorical: opened.envelope?.historical_migration === true,
    isTimed: hasSentAt || isClockReal,
    sender: senderOf(line),
    serving: servingOf(line),
    fetchesDefinitions: definitionPaths.test(pathOf(target)),
    events: eventsOf(line, opened.items),
    recorded: recordedIn(line),
  };
}
