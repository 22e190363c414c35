import { getOrMake } from "../../../kernel/base/recent-map.ts";
import { isBrowsersOwn } from "../../../kernel/http/browser-requests.ts";
import type { Exchange } from "../format/exchange.ts";
import type { TapeHeader } from "../format/header.ts";
import { isCapture } from "../format/routes.ts";
import type { Answered, HitCount, Ledger, ReplayMiss, ReplayRequest } from "../ports.ts";
import { bothRules, type TapeRules } from "../redact/rules.ts";
import { createMask } from "../redact/scan.ts";
import type { TapeProblem } from "../shapes.ts";
import { type Bases, rebasedHeader } from "../upstream/rewriting.ts";
import {
  type Aliases,
  type Bookmarks,
  createAliases,
  newProgress,
  type ReplayProgress,
  type Series,
  takeNext,
} from "./catalog.ts";
import { keyOf, policyOf, recordedKeys, rulesOf, type Tier } from "./keys.ts";
import { nearestRows, redactedRow } from "./near-miss.ts";
import { type Ask, createLiveRequests, eventsIn, type LiveRequest, nameOf, recordedAsk } from "./requests.ts";
import { idNounOf, idsIn, liveBody } from "./substitute.ts";
import {
  type ExchangeRow,
  eventKey,
  exchangesOf,
  headerOf,
  sidesOf,
  TapeIndex,
  type TapeSource,
} from "./tape-index.ts";

type Nearness = "exact" | "same_person" | "approximate";

interface MatcherOptions {
  skipStatus?: readonly number[] | undefined;
  /** Answers of other requests: none, of the same identified person and groups (default), or of other ones, too. */
  nearness?: Nearness;
  /** Paths that differ without meaning (`req.body.date_from`), over those of the tape's header. */
  noise?: readonly string[] | undefined;
  rules?: TapeRules | undefined;
  onProblem?: (problem: TapeProblem) => void;
}

/**
 * Of a file only keys and places stay in memory.
 * @throws TapeError when it cannot be read, is no tape, or of a newer format
 */
export async function loadTapeMatcher(source: TapeSource, options: MatcherOptions = {}) {
  const { nearness = "same_person", skipStatus, noise, rules } = options;
  const header = await headerOf(source);
  const index = new TapeIndex({ header, skipStatus, noise, sides: sidesOf(source) });
  for await (const { exchange, place, body } of exchangesOf(source, options)) index.add(exchange, place, body);
  return createTapeMatcher(index, nearness, bothRules(header.rules, rules));
}

export type TapeMatcher = ReturnType<typeof createTapeMatcher>;

type MissEntry = Ledger["misses"][number];

interface Client {
  aliases: Aliases;
  requests: Bookmarks & ReplayProgress;
  events: Bookmarks & ReplayProgress;
  asked: number;
  hits: number;
  approximate: number;
  misses: Map<string, MissEntry>;
}

/** Most misses that are listed separately; more make the list unreadable. */
const mostMisses = 1_000;

const newBookmarks = (): Bookmarks & ReplayProgress => ({ spent: new Map(), ...newProgress() });

function newClient(index: TapeIndex): Client {
  return {
    aliases: createAliases(index.isFree),
    requests: newBookmarks(),
    events: newBookmarks(),
    asked: 0,
    hits: 0,
    approximate: 0,
    misses: new Map(),
  };
}

interface Found {
  row: number;
  tier: string;
}

interface Turn {
  index: TapeIndex;
  client: Client;
  asked: ReplayRequest;
  ask: Ask;
  live: LiveRequest;
  nearness: Nearness;
}

/** @param index Filled @param rules Rules of the project for live requests */
function createTapeMatcher(index: TapeIndex, nearness: Nearness, rules: TapeRules | undefined) {
  index.lexicon.secrecy.seal();
  const clients = new Map<string, Client>();
  const readLive = createLiveRequests({ rules });
  const turnOf = (asked: ReplayRequest): Turn => {
    const client = getOrMake(clients, asked.client, () => newClient(index));
    client.asked++;
    const live = readLive(asked);
    return { index, client, asked, live, ask: live.ask, nearness };
  };
  return {
    header: index.header,
    answer(asked: ReplayRequest): Answered {
      const turn = turnOf(asked);
      const found = find(turn);
      if (found !== undefined) return given(found, turn);
      return { miss: missed(turn), target: turn.live.target };
    },
    /** Compares the events of a request of the capture family with the tape's and marks those that came as used. */
    compareEvents: (asked: ReplayRequest) => compareEvents(turnOf(asked)),
    ledger: () => ledgerOf(index, [...clients.values()]),
    /** Only the sums: the page asks for them each second. */
    tally: () => tallyOf(clients.values()),
    /** Back to the beginning, of one client or all. */
    rewind(client?: string): void {
      if (client === undefined) clients.clear();
      else clients.delete(client);
    },
  };
}

interface Way {
  series: Series;
  tier: Tier;
  ids: string[];
}

function tiersFor(ask: Ask, nearness: Nearness): readonly Tier[] {
  const { tiers, approximate = [] } = policyOf(ask);
  if (nearness === "exact") return tiers.slice(0, 1);
  return nearness === "approximate" ? [...tiers, ...approximate] : tiers;
}

/** The best tier that has something decides, even when its answers are used up. */
function searchBy(ask: Ask, { index, client, live, nearness }: Turn): Way | undefined {
  for (const tier of tiersFor(ask, nearness)) {
    const { shape, ids: hidden } = keyOf(ask, tier, index.lexicon);
    const ids = hidden.map(live.reveal);
    const series = index.requests.find({ shape, ids }, client.aliases, client.requests);
    if (series !== undefined) return { series, tier, ids };
  }
  return undefined;
}

/** Searches for a request that is the same except for values that have placeholders on the tape. */
function searchRedacted({ index, client, ask, asked }: Turn): Way | undefined {
  // A poll that missed before is not compared again.
  if (ask.body === undefined && client.misses.has(missName(asked))) return undefined;
  const row = redactedRow(ask, index, client.aliases);
  const [tier] = policyOf(ask).tiers;
  if (row === undefined || tier === undefined) return undefined;
  const [key] = recordedKeys(recordedAsk(index.store.get(row)), tier, index.lexicon);
  const series = key && index.requests.of(key);
  return series && { series, tier, ids: [] };
}

function search(turn: Turn): Way | undefined {
  const { plain } = turn.live;
  return searchBy(turn.ask, turn) ?? (plain && searchBy(plain, turn)) ?? searchRedacted(turn);
}

function find(turn: Turn): Found | undefined {
  const { index, client, ask } = turn;
  const found = search(turn);
  if (found === undefined) return undefined;
  // "Not changed" is an answer only to a conditional request.
  const suits = (row: number): boolean => ask.isConditional || index.rows[row]?.status !== 304;
  const row = takeNext(found.series, client.requests, "repeat", suits);
  if (row === undefined) return undefined;
  client.aliases.bind(found.series.ids, found.ids);
  return { row, tier: found.tier.name };
}

function given({ row, tier }: Found, { index, client, ask, asked }: Turn): Answered {
  const hit = index.store.get(row);
  const rules = { ...rulesOf(index.lexicon, policyOf(ask)), idNoun: idNounOf(ask.path) };
  const bases = basesOf(hit, asked, index.header);
  const body = liveBody(hit.res?.body, client.aliases, rules, bases);
  const given = isCapture(ask.route) ? [] : idsIn(hit.res?.body, rules);
  client.aliases.bind(given, given);
  client.hits++;
  const isApproximate = policyOf(ask).approximate?.some((it) => it.name === tier) === true;
  if (isApproximate) client.approximate++;
  return { hit: relinked(hit, bases), tier, body, ...(isApproximate && { approximate: tier }) };
}

const missName = ({ method, target }: ReplayRequest): string => `${method} ${target}`;

/** A poll that misses again and again is not compared with its neighbours each time. */
function missed({ index, client, ask, asked, live: { target } }: Turn): ReplayMiss {
  const { method } = asked;
  if (isBrowsersOwn({ method, path: asked.target.replace(/\?.*$/s, "") })) {
    client.asked--;
    return { route: ask.route, nearest: [] };
  }
  const name = missName(asked);
  const known = client.misses.get(name);
  if (known !== undefined) known.times++;
  if (known !== undefined && ask.body === undefined) return { route: known.route, nearest: known.nearest };
  const miss: ReplayMiss = { route: ask.route, nearest: nearestRows(ask, index, client.aliases) };
  if (known === undefined && client.misses.size < mostMisses) {
    client.misses.set(name, { ...miss, method, target: createMask().target(target), times: 1 });
  }
  return miss;
}

/** Where the answer comes from, and where the client believes that it is. */
function basesOf(
  hit: Exchange,
  { headers: { host }, scheme = "http" }: ReplayRequest,
  { upstream }: TapeHeader,
): Bases {
  const prefix = upstream !== null && URL.canParse(upstream) ? new URL(upstream).pathname : "/";
  return {
    origins: URL.canParse(hit.req.url) ? [new URL(hit.req.url).origin] : [],
    prefix: prefix.replace(/\/$/, ""),
    live: host === undefined ? undefined : `${scheme}://${host}`,
  };
}

/** Redirects, too, lead to where the client asks. */
const relinked = (hit: Exchange, bases: Bases): Exchange =>
  hit.res === null
    ? hit
    : {
        ...hit,
        res: {
          ...hit.res,
          headers: hit.res.headers.map(([name, value]) => [name, rebasedHeader(name, value, bases)] as const),
        },
      };

/** SDKs cut batches by timers, so requests are not comparable: their events are. */
function compareEvents({ ask, live, client, index: { lexicon, events } }: Turn) {
  const extra: string[] = [];
  if (ask.route === "recordings") return { matched: 0, extra };
  const all = eventsIn(ask.body);
  for (const event of all) {
    const { shape, ids: hidden } = eventKey(event, ask, lexicon);
    const ids = hidden.map(live.reveal);
    const series = events.find({ shape, ids }, client.aliases, client.events);
    const row = series && takeNext(series, client.events, "miss");
    if (series === undefined || row === undefined) extra.push(nameOf(event));
    else client.aliases.bind(series.ids, ids);
  }
  return { matched: all.length - extra.length, extra };
}

function ledgerOf({ rows, leftOut, eventNames }: TapeIndex, clients: readonly Client[]): Ledger {
  // Browsers ask for leave when they like, and remember it.
  const isAnswer = ({ route, method }: ExchangeRow): boolean => !isCapture(route) && method !== "OPTIONS";
  const unused = rows.flatMap((it, row) => {
    if (!isAnswer(it) || clients.some(({ requests }) => requests.used.has(row))) return [];
    const { i, method, url, route } = it;
    return [{ i, method, url, route }];
  });
  const sum = (of: (client: Client) => number): number => clients.reduce((all, it) => all + of(it), 0);
  return {
    total: rows.filter(isAnswer).length,
    requests: sum(({ asked }) => asked),
    hits: sum(({ hits }) => hits),
    approximate: sum(({ approximate }) => approximate),
    unused,
    left_out: [...leftOut],
    captures: rows.filter(({ route }) => isCapture(route)).length,
    events: { recorded: eventNames.length, missing: missingEvents(eventNames, clients) },
    misses: mergedMisses(clients),
  };
}

/** Recorded events that no client has sent again, alike ones together. */
function missingEvents(names: readonly string[], clients: readonly Client[]): Ledger["events"]["missing"] {
  const counts = new Map<string, number>();
  for (const [row, event] of names.entries()) {
    if (clients.some(({ events }) => events.used.has(row))) continue;
    counts.set(event, (counts.get(event) ?? 0) + 1);
  }
  return [...counts].map(([event, times]) => ({ event, times }));
}

function tallyOf(clients: Iterable<Client>): HitCount {
  const tally = { hits: 0, misses: 0 };
  for (const { hits, misses } of clients) {
    tally.hits += hits;
    for (const { times } of misses.values()) tally.misses += times;
  }
  return tally;
}

function mergedMisses(clients: readonly Client[]): MissEntry[] {
  const merged = new Map<string, MissEntry>();
  for (const { misses } of clients) {
    for (const [name, miss] of misses) {
      const times = miss.times + (merged.get(name)?.times ?? 0);
      merged.set(name, { ...(merged.get(name) ?? miss), times });
    }
  }
  return [...merged.values()];
}
