import { isObject, type Json, own } from "../../kernel/json.ts";
import { type Ask, bodyValue, recordedAsk } from "./ask.ts";
import type { Rules } from "./canonical.ts";
import { eventsIn, nameOf, type TapeEvent } from "./events.ts";
import type { Library } from "./library.ts";
import { documentOf, sameLeaf } from "./near-miss.ts";
import { type Pair, type Pairing, pairTapes } from "./pairs.ts";
import { isCapture } from "./policies.ts";
import type { DeckSource } from "./source.ts";
import { differencesOf, genericPath } from "./walk.ts";

/** What a comparison of two tapes has found out. */
type Study = Pairing & { paths: Set<string> };

/**
 * The paths (`req.body.date_from`, `res.body.results[].last_seen`) that differ between two recordings of the same
 * session without being ids, sorted. Exchanges with equal keys are paired, the rest by method and path in order;
 * events by name in order. What is volatile by its nature, or noise in the header of `a` already, is left out.
 * @throws TapeError when a file cannot be read, is no tape, or of a newer format
 */
export async function learnNoise(a: DeckSource, b: DeckSource): Promise<string[]> {
  const study: Study = {
    ...(await pairTapes(a, b, { leavesOut: ({ res }) => res === null })),
    paths: new Set(),
  };
  const events = eventsByName(study.library);
  for await (const pair of study.pairs()) {
    if (pair.kind === "capture") {
      pairEvents(pair.ask, events, (recorded, { event, root }) =>
        compare(study, [recorded.event, event], root, study.rulesFor(pair.ask)),
      );
    } else if (pair.kind === "equal" || pair.kind === "place") comparePair(study, pair);
  }
  return [...study.paths].sort();
}

function comparePair(
  study: Study,
  { kind, recorded, live }: Extract<Pair, { kind: "equal" | "place" }>,
): void {
  if (isCapture(recorded.route)) return;
  const ask = recordedAsk(recorded);
  const rules = study.rulesFor(ask);
  if (kind === "place") compare(study, [content(ask), content(recordedAsk(live))], "req", rules);
  compare(study, [bodyValue(recorded.res?.body), bodyValue(live.res?.body)], "res.body", rules);
}

type Side = Json | undefined;

function compare(
  { aliases, paths }: Study,
  [recorded, live]: [Side, Side],
  root: string,
  rules: Rules,
): void {
  if (recorded === undefined || live === undefined) return;
  const same = sameLeaf(rules, aliases, aliases.bind);
  for (const it of differencesOf(recorded, live, { same, drops: rules.drops }, root)) {
    const isLonger = it.name === "" && (it.recorded === undefined || it.live === undefined);
    if (!isLonger) paths.add(genericPath(it.path));
  }
}

/** What of a request can hold noise; credentials and method are none. */
function content(ask: Ask): Json {
  const document = documentOf(ask);
  if (!isObject(document)) return document;
  return Object.fromEntries(["query", "body"].map((name) => [name, own(document, name) ?? {}]));
}

type Events = Map<string, TapeEvent[]>;

/** The events of the capture requests of a library, by name, in order. */
function eventsByName({ rows, shelf }: Library): Events {
  const byName: Events = new Map();
  for (const [row, { route }] of rows.entries()) {
    if (route !== "capture") continue;
    for (const event of eventsIn(bodyValue(shelf.get(row).req.body))) {
      const name = nameOf(event);
      const same = byName.get(name);
      if (same === undefined) byName.set(name, [event]);
      else same.push(event);
    }
  }
  return byName;
}

function pairEvents(
  ask: Ask,
  events: Events,
  compareTwo: (recorded: TapeEvent, live: TapeEvent) => void,
): void {
  if (ask.route !== "capture") return;
  for (const live of eventsIn(ask.body)) {
    const recorded = events.get(nameOf(live))?.shift();
    if (recorded !== undefined) compareTwo(recorded, live);
  }
}
