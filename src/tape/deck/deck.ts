import type { Answered, Asked, Deck, EventsCompared, Exchange, Ledger, Miss, Tally } from "../types.ts";
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
  hits: number;
  sawRecording: boolean;
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
    hits: 0,
    sawRecording: false,
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
  exactOnly: boolean;
}

/** A deck of a filled library. */
export function createDeck(library: Library, onExhausted: OnExhausted, exactOnly: boolean): Deck {
  library.lexicon.secrecy.seal();
  const clients = new Map<string, Client>();
  const turnOf = (asked: Asked): Turn => {
    const client = clients.get(asked.client) ?? newClient(library);
    clients.set(asked.client, client);
    return { library, client, asked, ask: liveAsk(asked), exactOnly };
  };
  return {
    header: library.header,
    answer(asked) {
      const turn = turnOf(asked);
      const found = find(turn, onExhausted);
      return found === undefined ? { miss: missed(turn) } : given(found, turn);
    },
    compareEvents: (asked) => compareEvents(turnOf(asked)),
    ledger: () => ledgerOf(library.rows, [...clients.values()]),
    tally: () => tallyOf(clients.values()),
    rewind(client) {
      if (client === undefined) clients.clear();
      else clients.delete(client);
    },
  };
}

/** The best tier that has something decides, even when its answers are used up. */
function search({
  library,
  client,
  ask,
  exactOnly,
}: Turn): { series: Series; tier: Tier; ids: string[] } | undefined {
  const { tiers } = policyOf(ask);
  for (const tier of exactOnly ? tiers.slice(0, 1) : tiers) {
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
  const body = liveBody(hit.res?.body, client.aliases, rules, basesOf(hit, asked));
  const told = isCapture(ask.route) ? [] : toldIds(hit.res?.body, rules);
  client.aliases.bind(told, told);
  client.hits++;
  return { hit, tier, body };
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
function basesOf(hit: Exchange, { headers }: Asked) {
  const { host, "x-forwarded-proto": forwarded } = headers;
  const scheme = forwarded === "https" ? "https" : "http";
  const recordedHost = URL.canParse(hit.req.url) ? new URL(hit.req.url).host : "";
  return { recordedHost, live: host === undefined ? undefined : `${scheme}://${host}` };
}

function compareEvents({ ask, client, library: { lexicon, events } }: Turn): EventsCompared {
  if (ask.route === "recordings") {
    client.sawRecording = true;
    return { matched: 0, extra: [] };
  }
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

/** A request of the capture family is used when it was answered from here, or when all its events came. */
function isUsed({ route, events: [first, end] }: Row, row: number, client: Client): boolean {
  if (client.requests.used.has(row)) return true;
  if (route === "recordings") return client.sawRecording;
  if (first === end) return false;
  for (let event = first; event < end; event++) if (!client.events.used.has(event)) return false;
  return true;
}

function ledgerOf(rows: readonly Row[], clients: readonly Client[]): Ledger {
  const unused = rows.flatMap((it, row) => {
    // Browsers ask for leave when they like, and remember it.
    const isPreflight = it.method === "OPTIONS";
    if (isPreflight || clients.some((client) => isUsed(it, row, client))) return [];
    const { i, method, url, route } = it;
    return [{ i, method, url, route }];
  });
  const hits = clients.reduce((sum, client) => sum + client.hits, 0);
  return { total: rows.length, hits, unused, misses: mergedMisses(clients) };
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
