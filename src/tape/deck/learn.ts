import { isObject, type Json, own } from "../../kernel/json.ts";
import type { Exchange } from "../types.ts";
import { type Aliases, createAliases } from "./aliases.ts";
import { type Ask, bodyValue, recordedAsk } from "./ask.ts";
import { canonical, type Rules } from "./canonical.ts";
import type { Bookmarks } from "./catalog.ts";
import { eventsIn, nameOf, type TapeEvent } from "./events.ts";
import { keyOf, rulesOf } from "./keys.ts";
import { createLibrary, type Library } from "./library.ts";
import { documentOf, sameLeaf } from "./near-miss.ts";
import { isCapture, pathParts, policyOf } from "./policies.ts";
import { newProgress, type Progress, takeNext } from "./sequence.ts";
import { createShelf, type Shelf } from "./shelf.ts";
import { type DeckSource, exchangesOf, headerOf, sidesOf } from "./source.ts";
import { differencesOf, genericPath } from "./walk.ts";

/** Rows that no equal key pairs, in order, by what a pair has to share at least. */
type Waiting = Map<string, number[]>;

const queued = (waiting: Waiting, name: string, row: number): void => {
  const rows = waiting.get(name);
  if (rows === undefined) waiting.set(name, [row]);
  else rows.push(row);
};

/** Method and path without ids. */
const placeOf = (ask: Ask, rules: Rules): string => `${ask.route} ${canonical(pathParts(ask), rules).text}`;

/**
 * The paths (`req.body.date_from`, `res.body.results[].last_seen`) that differ between two recordings of the same
 * session without being ids, sorted. Exchanges with equal keys are paired, the rest by method and path in order;
 * events by name in order. What is volatile by its nature, or noise in the header of `a` already, is left out.
 * @throws TapeError when a file cannot be read, is no tape, or of a newer format
 */
export async function learnNoise(a: DeckSource, b: DeckSource): Promise<string[]> {
  const library = createLibrary({ header: await headerOf(a), sides: sidesOf(a) });
  for await (const { exchange, place, body } of exchangesOf(a)) library.add(exchange, place, body);
  const study = createStudy(library);
  await pairAll(study, b);
  return [...study.paths].sort();
}

/** What a comparison of two tapes has found out. */
interface Study {
  library: Library;
  aliases: Aliases;
  progress: Bookmarks & Progress;
  paths: Set<string>;
}

const rulesFor = ({ library }: Study, ask: Ask): Rules => rulesOf(library.lexicon, policyOf(ask));

function createStudy(library: Library): Study {
  library.lexicon.secrecy.seal();
  const progress = { spent: new Map<string, number>(), ...newProgress() };
  return { library, aliases: createAliases(library.isFree), progress, paths: new Set() };
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

const compareAnswers = (study: Study, recorded: Exchange, live: Exchange, rules: Rules): void =>
  compare(study, [bodyValue(recorded.res?.body), bodyValue(live.res?.body)], "res.body", rules);

/** The row with the same key that is not paired yet; undefined: none. */
function equalRow({ library, aliases, progress }: Study, ask: Ask): number | undefined {
  const [tier] = policyOf(ask).tiers;
  if (tier === undefined) return undefined;
  const key = keyOf(ask.signed === "any" ? { ...ask, signed: "yes" } : ask, tier, library.lexicon);
  const series = library.requests.find(key, aliases, progress);
  const row = series && takeNext(series, progress, "miss");
  if (series !== undefined && row !== undefined) aliases.bind(series.ids, key.ids);
  return row;
}

async function pairAll(study: Study, source: DeckSource): Promise<void> {
  const { shelf } = study.library;
  const waiting: Waiting = new Map();
  const others = createShelf(sidesOf(source));
  const events = eventsByName(study.library);
  let count = 0;
  for await (const { exchange, place, body } of exchangesOf(source)) {
    if (exchange.res === null) continue;
    const ask: Ask = { ...recordedAsk(exchange), body: bodyValue(body) };
    const rules = rulesFor(study, ask);
    const row = isCapture(ask.route) ? undefined : equalRow(study, ask);
    if (isCapture(ask.route)) {
      pairEvents(ask, events, (recorded, { event, root }) =>
        compare(study, [recorded.event, event], root, rules),
      );
    } else if (row !== undefined) compareAnswers(study, shelf.get(row), exchange, rules);
    else {
      others.put(exchange, place);
      queued(waiting, placeOf(ask, rules), count++);
    }
  }
  pairRest(study, waiting, others);
}

/** What has no equal is paired by its place. */
function pairRest(study: Study, waiting: Waiting, others: Shelf): void {
  const { rows, shelf } = study.library;
  for (const row of rows.keys()) {
    if (study.progress.used.has(row)) continue;
    const recorded = shelf.get(row);
    const ask = recordedAsk(recorded);
    const rules = rulesFor(study, ask);
    const other = waiting.get(placeOf(ask, rules))?.shift();
    if (other === undefined) continue;
    const live = others.get(other);
    compare(study, [content(ask), content(recordedAsk(live))], "req", rules);
    compareAnswers(study, recorded, live, rules);
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
