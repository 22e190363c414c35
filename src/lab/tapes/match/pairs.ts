import { isObject, type Json, own } from "../../../kernel/base/json.ts";
import { differences } from "../../../kernel/base/json-differences.ts";
import { getOrMake } from "../../../kernel/base/recent-map.ts";
import type { Exchange } from "../format/exchange.ts";
import type { ReadOptions } from "../format/read.ts";
import { isCapture } from "../format/routes.ts";
import { withSides } from "../format/side-files.ts";
import { canonical, type Rules } from "./canonical.ts";
import { type Aliases, type Bookmarks, createAliases, newProgress, type ReplayProgress, takeNext } from "./catalog.ts";
import { keyOf, pathParts, policyOf, rulesOf } from "./keys.ts";
import { comparisonBy, documentOf, genericPath, nameAt } from "./near-miss.ts";
import { type Ask, bodyValue, eventsIn, nameOf, recordedAsk, type TapeEvent } from "./requests.ts";
import {
  createExchangeStore,
  type ExchangeStore,
  exchangesOf,
  headerOf,
  sidesOf,
  TapeIndex,
  type TapeSource,
} from "./tape-index.ts";

type Pair =
  /** `equal`: all of the request that counts is the same; `place`: only its method and path, without ids. */
  | { kind: "equal" | "place"; recorded: Exchange; live: Exchange }
  /** A request of the capture family of the second tape, before it is paired. */
  | { kind: "capture"; ask: Ask }
  | { kind: "only_recorded"; recorded: Exchange }
  | { kind: "only_live"; live: Exchange };

/** Two tapes that are compared: `recorded` is the first one, `live` the second. */
interface Pairing {
  index: TapeIndex;
  aliases: Aliases;
  rulesFor(ask: Ask): Rules;
  /** Each exchange in one pair, in the order of the second tape. Captures are paired by their place only. */
  pairs(): AsyncGenerator<Pair>;
}

/** Rows that no equal key pairs, in order, by what a pair has to share at least. */
type Waiting = Map<string, number[]>;

const placeOf = (ask: Ask, rules: Rules): string => `${ask.route} ${canonical(pathParts(ask), rules).text}`;

interface PairOptions extends Pick<ReadOptions, "onProblem"> {
  /** Exchanges that are passed over; those without an answer are on the first tape in any case. */
  leavesOut?: (exchange: Exchange, tape: "first" | "second") => boolean;
}

/** @throws TapeError when the file cannot be read, is no tape, or of a newer format */
async function tapeIndexOf(source: TapeSource, options: PairOptions): Promise<TapeIndex> {
  const index = new TapeIndex({ header: await headerOf(source), sides: sidesOf(source) });
  // An end of a connection has no answer to compare.
  for await (const { exchange, place, body } of exchangesOf(source, options))
    if (!options.leavesOut?.(exchange, "first") && exchange.aborted === undefined) index.add(exchange, place, body);
  index.lexicon.secrecy.seal();
  return index;
}

/** Equal keys, then method and path in order. @throws TapeError: a file is no tape, of a newer format, unreadable */
export async function pairTapes(a: TapeSource, b: TapeSource, options: PairOptions = {}): Promise<Pairing> {
  const index = await tapeIndexOf(a, options);
  const progress: Bookmarks & ReplayProgress = { spent: new Map(), ...newProgress() };
  const aliases = createAliases(index.isFree);
  const rulesFor = (ask: Ask): Rules => rulesOf(index.lexicon, policyOf(ask));

  /** The row with the same key that is not paired yet; undefined: none. */
  function equalRow(ask: Ask): number | undefined {
    const [tier] = policyOf(ask).tiers;
    if (tier === undefined || isCapture(ask.route)) return undefined;
    const key = keyOf(ask.signed === "any" ? { ...ask, signed: "yes" } : ask, tier, index.lexicon);
    const series = index.requests.find(key, aliases, progress);
    const row = series && takeNext(series, progress, "miss");
    if (series !== undefined && row !== undefined) aliases.bind(series.ids, key.ids);
    return row;
  }

  /** What has no equal is paired by its place; what is left then is on one tape only. */
  function* rest(waiting: Waiting, others: ExchangeStore): Generator<Pair> {
    for (const row of index.rows.keys()) {
      if (progress.used.has(row)) continue;
      const recorded = index.store.get(row);
      const ask = recordedAsk(recorded);
      const other = waiting.get(placeOf(ask, rulesFor(ask)))?.shift();
      if (other === undefined) yield { kind: "only_recorded", recorded };
      else yield { kind: "place", recorded, live: others.get(other) };
    }
    for (const row of [...waiting.values()].flat()) yield { kind: "only_live", live: others.get(row) };
  }

  return {
    index,
    aliases,
    rulesFor,
    async *pairs() {
      const waiting: Waiting = new Map();
      const others = createExchangeStore(sidesOf(b));
      let count = 0;
      for await (const { exchange, place, body } of exchangesOf(b, options)) {
        if (options.leavesOut?.(exchange, "second")) continue;
        const ask: Ask = { ...recordedAsk(exchange), body: bodyValue(body) };
        const row = equalRow(ask);
        if (isCapture(ask.route)) yield { kind: "capture", ask };
        if (row !== undefined)
          yield { kind: "equal", recorded: index.store.get(row), live: withSides(exchange, sidesOf(b) ?? "") };
        else {
          others.put(exchange, place);
          getOrMake(waiting, placeOf(ask, rulesFor(ask)), (): number[] => []).push(count++);
        }
      }
      yield* rest(waiting, others);
    },
  };
}

type Study = Pairing & { paths: Set<string> };

/** Paths that differ between two recordings of a session without being ids or volatile, sorted. @throws TapeError */
export async function learnNoise(a: TapeSource, b: TapeSource): Promise<string[]> {
  const study: Study = { ...(await pairTapes(a, b, { leavesOut: ({ res }) => res === null })), paths: new Set() };
  const events = eventsByName(study.index);
  for await (const pair of study.pairs()) {
    if (pair.kind === "capture") {
      pairEvents(pair.ask, events, (recorded, { event, root }) =>
        compare(study, [recorded.event, event], root, study.rulesFor(pair.ask)),
      );
    } else if (pair.kind === "equal" || pair.kind === "place") comparePair(study, pair);
  }
  return [...study.paths].sort();
}

function comparePair(study: Study, { kind, recorded, live }: Extract<Pair, { kind: "equal" | "place" }>): void {
  if (isCapture(recorded.route)) return;
  const ask = recordedAsk(recorded);
  const rules = study.rulesFor(ask);
  if (kind === "place") compare(study, [content(ask), content(recordedAsk(live))], "req", rules);
  compare(study, [bodyValue(recorded.res?.body), bodyValue(live.res?.body)], "res.body", rules);
}

type Side = Json | undefined;

function compare({ aliases, paths }: Study, [recorded, live]: [Side, Side], root: string, rules: Rules): void {
  if (recorded === undefined || live === undefined) return;
  const comparison = comparisonBy(rules, aliases, aliases.bind);
  for (const { path, one, other } of differences(recorded, live, comparison, root.split("."))) {
    const isLonger = nameAt(path) === "" && (one === undefined || other === undefined);
    if (!isLonger) paths.add(genericPath(path));
  }
}

/** What of a request can hold noise; credentials and method are none. */
function content(ask: Ask): Json {
  const document = documentOf(ask);
  if (!isObject(document)) return document;
  return Object.fromEntries(["query", "body"].map((name) => [name, own(document, name) ?? {}]));
}

type Events = Map<string, TapeEvent[]>;

function eventsByName({ rows, store }: TapeIndex): Events {
  const byName: Events = new Map();
  for (const [row, { route }] of rows.entries()) {
    if (route !== "capture") continue;
    for (const event of eventsIn(bodyValue(store.get(row).req.body))) {
      getOrMake(byName, nameOf(event), (): TapeEvent[] => []).push(event);
    }
  }
  return byName;
}

function pairEvents(ask: Ask, events: Events, compareTwo: (recorded: TapeEvent, live: TapeEvent) => void): void {
  if (ask.route !== "capture") return;
  for (const live of eventsIn(ask.body)) {
    const recorded = events.get(nameOf(live))?.shift();
    if (recorded !== undefined) compareTwo(recorded, live);
  }
}
