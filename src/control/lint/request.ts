import { pathOf } from "../../http/call.ts";
import { headerIn } from "../../ingest/client-address.ts";
import { sentAtOf } from "../../ingest/envelope.ts";
import { isEngage, type Opened, openLegacy, openV1 } from "../../ingest/open.ts";
import { decodedLimits } from "../../ingest/packet.ts";
import { keysOf } from "../../ingest/show.ts";
import { isObject, type Json, type JsonObject } from "../../kernel/json.ts";
import type { LintEvent, LintRequest } from "../../lint/types.ts";
import type { EventFacts } from "../../model/event.ts";
import type { EventKey, TrafficLine } from "../../model/traffic.ts";
import { servingOf } from "./serving.ts";

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
  // A recording is no event that somebody named, and its content is not properties.
  if (!line.events || line.shape === "recording") return [];
  const keys = keysOf(line);
  return line.events.flatMap((facts, i) => {
    const [key, item] = [keys[i], items[i]];
    return key && isObject(item) ? [eventOf((line.seq ?? 0) + i, key, facts, item)] : [];
  });
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
 * A line of the journal as the linter sees it; undefined when it belongs to no project.
 * @param bytes Size of the line; a body is about as large
 * @param isClockReal Does the sim's clock show the machine's time?
 */
export function lintRequestOf(
  line: TrafficLine,
  bytes: number,
  isClockReal: boolean,
): LintRequest | undefined {
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
  };
}
