import { firstOf, isObject, type Json, type JsonObject, own, textOrNumber } from "../../kernel/base/json.ts";
import { pathOf } from "../../kernel/http/call.ts";
import { headerIn } from "../../kernel/http/client-address.ts";
import { sentAtOf } from "../../service/capture/open.ts";
import { decodedLimits } from "../../service/capture/packet.ts";
import { servedValueOf } from "../../state/documents/flag-config.ts";
import type { EventFacts } from "../../state/journal/event.ts";
import { isEngage, type Opened, openLegacy, openV1 } from "../../state/journal/items.ts";
import { keysOf, showEvent } from "../../state/journal/show.ts";
import type { EventKey, TrafficLine } from "../../state/journal/traffic.ts";
import type { LintEvent, LintRequest, RecordedPart, Serving } from "./rule.ts";

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

function recordedIn(line: TrafficLine): RecordedPart[] {
  if (line.shape !== "recording" || !line.events) return [];
  return line.events.flatMap((_, i) => {
    const items = own(showEvent(line, i).properties, "$snapshot_items");
    return Array.isArray(items) ? [{ seq: (line.seq ?? 0) + i, items }] : [];
  });
}

const flagPaths: ReadonlySet<string> = new Set(["/flags", "/decide"]);

/** The value in an entry of `/flags?v=2` or later, or of a plain map of values; undefined: the flag failed. */
function valueIn(entry: Json | undefined): boolean | string | undefined {
  if (typeof entry === "boolean" || typeof entry === "string") return entry;
  if (!isObject(entry) || entry.failed === true) return undefined;
  return servedValueOf(entry);
}

/** The flags of an answer of any version with values; undefined if they cannot be read. */
function valuesIn(reply: Json | undefined): Map<string, boolean | string> | undefined {
  if (!isObject(reply)) return undefined;
  const entries = isObject(reply.flags) ? reply.flags : reply.featureFlags;
  if (!isObject(entries)) return undefined;
  const values = new Map<string, boolean | string>();
  for (const [flag, entry] of Object.entries(entries)) {
    const value = valueIn(entry);
    if (value !== undefined) values.set(flag, value);
  }
  return values;
}

/** The flags that a request was answered with; undefined for other and failed requests. */
function servingOf({ method, target, status, rejected, body, reply }: TrafficLine): Serving | undefined {
  if (method !== "POST" || status !== 200 || rejected || !flagPaths.has(pathOf(target))) return undefined;
  if (!isObject(body)) return undefined;
  const distinctId = textOrNumber(firstOf(body, "distinct_id", "$distinct_id"));
  if (distinctId === undefined) return undefined;
  const requested = firstOf(body, "flag_keys_to_evaluate", "flag_keys");
  return {
    distinctId,
    anonymousId: textOrNumber(firstOf(body, "$anon_distinct_id", "anon_distinct_id")),
    requested: Array.isArray(requested) ? requested.filter((it) => typeof it === "string") : [],
    values: valuesIn(reply),
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
