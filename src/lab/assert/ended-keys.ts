import { isObject, type Json, type JsonObject, objectsIn, textOf } from "../../kernel/base/json.ts";
import { counted, times } from "../../kernel/base/text.ts";
import { headerIn } from "../../kernel/http/client-address.ts";
import type { StoredEvent } from "../../state/journal/event.ts";
import { projectHeader, projectParameter, type TrafficLine } from "../../state/journal/traffic.ts";
import { countOf, fitsEvent } from "./match/evaluate.ts";
import { nameText, printable } from "./match/printable.ts";
import type { Complaint, Surroundings } from "./match/report-shapes.ts";
import type { Terms } from "./match/types.ts";
import type { AssertPorts, SimPorts } from "./ports.ts";

export interface KeyUse {
  readonly n: number;
  /** Empty: the request has none. */
  readonly key: string;
  /** Of the ended project that had the key; undefined: none had it. */
  readonly name: string | undefined;
  /** True if it has nothing to do with the running test: its events are older, or its SDK is another process's. */
  readonly isLate: boolean;
  /** True if it is certain whose request it is. */
  readonly isCertain: boolean;
  readonly events: readonly SentEvent[];
}

/** An event as it was sent: the request was rejected, or its events were dropped. */
type SentEvent = Pick<StoredEvent, "event" | "distinct_id" | "properties">;

const keyPattern = /\bphc_\w+/g;

const itemsIn = (body: Json | undefined): JsonObject[] =>
  objectsIn(
    (isObject(body) && Array.isArray(body.batch) ? body.batch : Array.isArray(body) ? body : [body ?? null]) as Json,
  );

const propertiesOf = ({ properties }: JsonObject): JsonObject => (isObject(properties) ? properties : {});

const eventsIn = (body: Json | undefined): { sent: SentEvent; time: number }[] =>
  itemsIn(body).flatMap((item) => {
    if (typeof item.event !== "string") return [];
    const properties = propertiesOf(item);
    const distinct_id = textOf(item.distinct_id) || textOf(item.$distinct_id) || textOf(properties.distinct_id);
    return [{ sent: { event: item.event, distinct_id, properties }, time: Date.parse(textOf(item.timestamp)) }];
  });

/** The number or key by which the header or the query names the project. */
const namedIn = ({ headers, target }: TrafficLine): string | undefined =>
  headerIn(headers, projectHeader) ?? queryOf(target).get(projectParameter) ?? undefined;

const queryOf = (target: string): URLSearchParams => new URLSearchParams(target.split("?")[1]);

function keyIn(line: TrafficLine): string {
  const body = isObject(line.body) ? line.body : {};
  const query = queryOf(line.target);
  const ofItem = (item: JsonObject): string =>
    textOf(item.token) || textOf(item.$token) || textOf(item.api_key) || textOf(propertiesOf(item).token);
  return (
    namedIn(line) ||
    textOf(body.api_key) ||
    textOf(body.token) ||
    itemsIn(line.body).map(ofItem).find(Boolean) ||
    query.get("token") ||
    query.get("api_key") ||
    /^bearer +(\S+)/i.exec(headerIn(line.headers, "authorization") ?? "")?.[1] ||
    /\bphc_\w+/.exec(line.target)?.[0] ||
    ""
  );
}

const keyReasons: ReadonlySet<string> = new Set(["invalid_api_key", "invalid_api_token", "unknown_project"]);

/** The same where the key is missing or cannot be one: other calls than captures have these reasons, too. */
const captureReasons: ReadonlySet<string> = new Set([
  "missing_api_key",
  "missing_token",
  "missing_batch_token",
  "missing_authorization",
  "malformed_token",
]);

const isOfNoProject = ({ rejected, events = [] }: TrafficLine, sent: readonly { time: number }[]): boolean =>
  rejected === undefined
    ? events.some(({ dropped }) => dropped === "unknown_project_key")
    : keyReasons.has(rejected.reason) || (sent.length > 0 && captureReasons.has(rejected.reason));

function endedIn({ ended }: Pick<AssertPorts, "ended">, line: TrafficLine) {
  if (ended.isEmpty) return undefined;
  const text = `${line.target} ${headerIn(line.headers, "authorization") ?? ""} ${JSON.stringify(line.body ?? line.raw ?? null)}`;
  const keys = [namedIn(line) ?? "", ...[...text.matchAll(keyPattern)].map(([key]) => key)];
  for (const key of keys) {
    const project = ended.find(key);
    if (project) return { key, ...project };
  }
  return undefined;
}

export function keyUse(ports: AssertPorts, line: TrafficLine, project: number | undefined): KeyUse | undefined {
  if (line.project !== null) return undefined;
  const own = project === undefined ? undefined : ports.ended.running(project);
  const sent = eventsIn(line.body);
  const events = sent.map((it) => it.sent);
  const isBefore = (moment: number) => sent.length > 0 && sent.every(({ time }) => time < moment);
  const ended = endedIn(ports, line);
  if (ended) {
    const { key, name, owner, endedAt } = ended;
    const isKnown = own?.owner !== undefined && owner !== undefined;
    const isLate = isBefore(endedAt) || (isKnown && owner !== own.owner);
    return { n: line.n, key, name, isLate, isCertain: isKnown && !isLate, events };
  }
  if (!isOfNoProject(line, sent)) return undefined;
  const key = keyIn(line);
  if (key === "" && sent.length === 0) return undefined;
  const isLate = own !== undefined && isBefore(own.begunAt);
  const isCertain = !isLate && (project === undefined || ports.ended.wasAlone(line.n, project));
  return { n: line.n, key, name: undefined, isLate, isCertain, events };
}

export async function keyUses(
  ports: AssertPorts,
  project: number | undefined,
  lines: AsyncIterable<TrafficLine>,
): Promise<KeyUse[]> {
  const uses: KeyUse[] = [];
  for await (const line of lines) {
    const use = keyUse(ports, line, project);
    if (use) uses.push(use);
  }
  return uses;
}

const mostListed = 10;

function shownUses(uses: readonly KeyUse[]) {
  const shown = new Map<string, { use: KeyUse; requests: number[]; events: Set<string> }>();
  for (const use of uses) {
    const id = `${use.key} ${use.isLate} ${use.isCertain}`;
    const one = shown.get(id) ?? { use, requests: [], events: new Set() };
    shown.set(id, one);
    one.requests.push(use.n);
    for (const { event } of use.events) one.events.add(event);
  }
  return [...shown.values()].map(({ use: { key, name, isLate, isCertain: certain }, requests, events }) => ({
    ...{ name, isLate },
    facts: { api_key: key, events: [...events].slice(0, mostListed), requests, certain },
  }));
}

export function keysInReport(uses: readonly KeyUse[]): Pick<Surroundings, "ended" | "wrong_keys"> {
  const shown = shownUses(uses);
  return {
    ended: shown.flatMap(({ name, isLate, facts }) => (name === undefined ? [] : [{ name, ...facts, late: isLate }])),
    wrong_keys: shown.flatMap(({ name, isLate, facts }) => (name === undefined && !isLate ? [facts] : [])),
  };
}

/** True if the terms forbid events: then it must be certain that none was lost. */
const isForbidden = ({ expect, nothingElse, noEndedKeys }: Terms, event: SentEvent): boolean =>
  noEndedKeys === true ||
  (nothingElse === true && !event.event.startsWith("$")) ||
  expect.some((it) => {
    const { max } = countOf(it);
    // what patterns ask of other fields cannot be known of an event that was not kept
    return max !== undefined && fitsEvent(it.match, { ...event, outcome: "kept" } as StoredEvent);
  });

export const keyComplaints = (terms: Terms, uses: readonly KeyUse[], expected: string | null): Complaint[] =>
  shownUses(
    uses.flatMap((use) => {
      const events = use.events.filter((it) => isForbidden(terms, it));
      return !use.isCertain || events.length === 0 ? [] : [{ ...use, events }];
    }),
  ).map(({ name, facts: { api_key, events: sent } }) =>
    name === undefined ? { kind: "wrong_key", api_key, expected, sent } : { kind: "ended_key", name, api_key, sent },
  );

const mostNamed = 5;

/** Counts the events that come with keys of ended projects; when the sim closes, one line names them. */
export function reportEnded({ log, ended, closing, notice }: SimPorts): void {
  const late = new Map<string, Map<string, number>>();
  let total = 0;
  log.subscribe(({ n, entry }) => {
    if (entry.project !== null || ended.isEmpty) return;
    const line = log.line(n);
    const project = line && endedIn({ ended }, line);
    if (!project) return;
    const names = late.get(project.name) ?? new Map<string, number>();
    late.set(project.name, names);
    for (const { sent } of eventsIn(line.body)) {
      total++;
      names.set(sent.event, (names.get(sent.event) ?? 0) + 1);
    }
  });
  closing.addEventListener("abort", () => {
    if (total > 0) notice(endedLine(late, total));
  });
}

function endedLine(late: ReadonlyMap<string, ReadonlyMap<string, number>>, total: number): string {
  const shown = [...late].filter(([, names]) => names.size > 0);
  const named = shown.slice(0, mostNamed).map(([test, names]) => {
    const events = [...names].slice(0, mostNamed).map(([name, count]) => `${nameText(name)}${times(count)}`);
    const more = names.size > mostNamed ? ", …" : "";
    return `${printable(JSON.stringify(test), 80)} (${events.join(", ")}${more})`;
  });
  const rest = shown.length > mostNamed ? `, and ${shown.length - mostNamed} more` : "";
  return `${counted(total, "event")} came for tests that had ended: ${named.join(", ")}${rest}: shut their SDKs down before the test ends`;
}
