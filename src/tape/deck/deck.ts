import { type Bases, rebasedHeader } from "../page-links.ts";
import type {
  Answered,
  Asked,
  Deck,
  EventsCompared,
  Exchange,
  Ledger,
  Miss,
  Tally,
  TapeHeader,
} from "../types.ts";
import { type Aliases, createAliases } from "./aliases.ts";
import { type Ask, liveAsk } from "./ask.ts";
import type { Bookmarks, Series } from "./catalog.ts";
import { eventsIn, nameOf } from "./events.ts";
import { keyOf, rulesOf } from "./keys.ts";
import { eventKey, type Library, type Row } from "./library.ts";
import { nearestRows } from "./near-miss.ts";
import { isCapture, policyOf, type Tier } from "./policies.ts";
import { newProgress, type OnExhausted, type Progress, takeNext } from "./sequence.ts";
import { idNounOf, liveBody, toldIds } from "./substitute.ts";

type MissEntry = Ledger["misses"][number];

/** What one client has been given and told. */
interface Client {
  aliases: Aliases;
  requests: Bookmarks & Progress;
  events: Bookmarks & Progress;
  /** How many requests came. */
  asked: number;
  hits: number;
  misses: Map<string, MissEntry>;
}

/** Misses that are told apart; more of them only make the list unreadable. */
const mostMisses = 1_000;

const newBookmarks = (): Bookmarks & Progress => ({ spent: new Map(), ...newProgress() });

function newClient(library: Library): Client {
  return {
    aliases: createAliases(library.isFree),
    requests: newBookmarks(),
    events: newBookmarks(),
    asked: 0,
    hits: 0,
    misses: new Map(),
  };
}

interface Found {
  row: number;
  tier: string;
}

/** A request in the hands of the deck. */
interface Turn {
  library: Library;
  client: Client;
  asked: Asked;
  ask: Ask;
}

/** A deck of a filled library. */
export function createDeck(library: Library, onExhausted: OnExhausted): Deck {
  library.lexicon.secrecy.seal();
  const clients = new Map<string, Client>();
  const turnOf = (asked: Asked): Turn => {
    const client = clients.get(asked.client) ?? newClient(library);
    clients.set(asked.client, client);
    client.asked++;
    return { library, client, asked, ask: liveAsk(asked) };
  };
  return {
    header: library.header,
    answer(asked) {
      const turn = turnOf(asked);
      const found = find(turn, onExhausted);
      return found === undefined ? { miss: missed(turn) } : given(found, turn);
    },
    compareEvents: (asked) => compareEvents(turnOf(asked)),
    ledger: () => ledgerOf(library, [...clients.values()]),
    tally: () => tallyOf(clients.values()),
    rewind(client) {
      if (client === undefined) clients.clear();
      else clients.delete(client);
    },
  };
}

/** The best tier that has something decides, even when its answers are used up. */
function search({ library, client, ask }: Turn): { series: Series; tier: Tier; ids: string[] } | undefined {
  for (const tier of policyOf(ask).tiers) {
    const key = keyOf(ask, tier, library.lexicon);
    const series = library.requests.find(key, client.aliases, client.requests);
    if (series !== undefined) return { series, tier, ids: key.ids };
  }
  return undefined;
}

function find(turn: Turn, onExhausted: OnExhausted): Found | undefined {
  const { library, client, ask } = turn;
  const found = search(turn);
  if (found === undefined) return undefined;
  // "Not changed" is an answer only for those who asked whether it has.
  const suits = (row: number): boolean => ask.isConditional || library.rows[row]?.status !== 304;
  const row = takeNext(found.series, client.requests, onExhausted, suits);
  if (row === undefined) return undefined;
  client.aliases.bind(found.series.ids, found.ids);
  return { row, tier: found.tier.name };
}

function given({ row, tier }: Found, { library, client, ask, asked }: Turn): Answered {
  const hit = library.shelf.get(row);
  const rules = { ...rulesOf(library.lexicon, policyOf(ask)), idNoun: idNounOf(ask.path) };
  const bases = basesOf(hit, asked, library.header);
  const body = liveBody(hit.res?.body, client.aliases, rules, bases);
  const told = isCapture(ask.route) ? [] : toldIds(hit.res?.body, rules);
  client.aliases.bind(told, told);
  client.hits++;
  return { hit: relinked(hit, bases), tier, body };
}

/** A poll that misses again and again is not compared with its neighbours each time. */
function missed({ library, client, ask, asked: { method, target } }: Turn): Miss {
  const name = `${method} ${target}`;
  const known = client.misses.get(name);
  if (known !== undefined) known.times++;
  if (known !== undefined && ask.body === undefined) return { route: known.route, nearest: known.nearest };
  const miss: Miss = { route: ask.route, nearest: nearestRows(ask, library, client.aliases) };
  if (known === undefined && client.misses.size < mostMisses) {
    client.misses.set(name, { ...miss, method, target, times: 1 });
  }
  return miss;
}

/** Where the answer comes from, and where the client believes that it is. */
function basesOf(
  hit: Exchange,
  { headers: { host }, scheme = "http" }: Asked,
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

function compareEvents({ ask, client, library: { lexicon, events } }: Turn): EventsCompared {
  if (ask.route === "recordings") return { matched: 0, extra: [] };
  const extra: string[] = [];
  const all = eventsIn(ask.body);
  for (const event of all) {
    const key = eventKey(event, ask, lexicon);
    const series = events.find(key, client.aliases, client.events);
    const row = series && takeNext(series, client.events, "miss");
    if (series === undefined || row === undefined) extra.push(nameOf(event));
    else client.aliases.bind(series.ids, key.ids);
  }
  return { matched: all.length - extra.length, extra };
}

function ledgerOf({ rows, leftOut, eventNames }: Library, clients: readonly Client[]): Ledger {
  // Browsers ask for leave when they like, and remember it.
  const isAnswer = ({ route, method }: Row): boolean => !isCapture(route) && method !== "OPTIONS";
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

function tallyOf(clients: Iterable<Client>): Tally {
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
