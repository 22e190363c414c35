import { closeSync, openSync, readSync } from "node:fs";
import type { Json } from "../../../kernel/base/json.ts";
import { RecentMap } from "../../../kernel/base/recent-map.ts";
import type { Exchange, TapeBody } from "../format/exchange.ts";
import { isExchange } from "../format/exchange-shape.ts";
import { readHeader, type TapeHeader } from "../format/header.ts";
import { sideFolder } from "../format/place.ts";
import { type ReadOptions, readPlaced, type TapeLine } from "../format/read.ts";
import { isCapture } from "../format/routes.ts";
import { readBody, withSides } from "../format/side-files.ts";
import { fileTrouble, TapeError } from "../format/tape-error.ts";
import { canonical } from "./canonical.ts";
import { type Catalog, createCatalog } from "./catalog.ts";
import { digest, freeIds, type Lexicon, lexiconOf, policyOf, recordedKeys, rulesOf } from "./keys.ts";
import { type Ask, bodyValue, eventsIn, nameOf, recordedAsk } from "./requests.ts";
import { idNounOf, idsIn } from "./substitute.ts";

/** What is kept of an exchange, to name it. */
interface Named {
  i: number;
  method: string;
  url: string;
  route: string;
}

/** An exchange that is never given as an answer. */
interface LeftOut extends Named {
  why: string;
}

export interface ExchangeRow extends Named {
  /** 0: the upstream ended the connection instead. */
  status: number;
  /** True if the request has placeholders in its path, query or body. */
  isRedacted: boolean;
}

/** The exchanges of a tape that can be given as responses, found by key. */
export interface TapeIndex {
  readonly header: TapeHeader;
  readonly lexicon: Lexicon;
  readonly rows: readonly ExchangeRow[];
  readonly leftOut: readonly LeftOut[];
  readonly eventNames: readonly string[];
  readonly requests: Catalog;
  readonly events: Catalog;
  readonly store: ExchangeStore;
  isFree(id: string): boolean;
}

interface TapeIndexOptions {
  header: TapeHeader;
  /** Answers with these statuses are left out. */
  skipStatus?: readonly number[] | undefined;
  noise?: readonly string[] | undefined;
  /** Folder of the tape's side files. */
  sides?: string | undefined;
}

interface Filler extends TapeIndex {
  add(exchange: Exchange, place: TapeLine | undefined, body: TapeBody | undefined): void;
}

/** Why an exchange is never given as an answer; undefined: it may be. */
export function reasonToLeaveOut(
  { complete, aborted, res, route }: Exchange,
  { skipStatus = [] }: Pick<TapeIndexOptions, "skipStatus"> = {},
): string | undefined {
  if (res !== null && skipStatus.includes(res.status)) return `its status ${res.status} is skipped`;
  // That the upstream ended a connection is given again; captures have no answers from the tape.
  if (aborted === "upstream" && !isCapture(route)) return undefined;
  if (res === null) return "no response was recorded";
  return complete && aborted === undefined ? undefined : "it was cut off";
}

/** Key of an event in the catalog of events; `root`: its generic path. */
export function eventKey(event: ReturnType<typeof eventsIn>[number], ask: Ask, lexicon: Lexicon) {
  const { text, ids } = canonical(event.event, rulesOf(lexicon, policyOf(ask)), event.root);
  return { shape: digest(`event ${text}`), ids };
}

/** An empty index, to be filled in the order of the tape. */
export function createTapeIndex(options: TapeIndexOptions): Filler {
  const { header, noise, sides } = options;
  const lexicon = lexiconOf(header, noise);
  const rows: ExchangeRow[] = [];
  const leftOut: LeftOut[] = [];
  const eventNames: string[] = [];
  const names = new Map<string, string>();
  const created = new Set<string>();
  const isFree = freeIds(created);
  const requests = createCatalog(isFree, (row) => rows[row]?.i ?? 0);
  const events = createCatalog(isFree, (row) => row);
  const store = createExchangeStore(sides);

  /** One copy of each name: the same ones come again and again. */
  const shared = (name: string): string => {
    if (!names.has(name)) names.set(name, name);
    return names.get(name) ?? name;
  };
  const addEvents = (ask: Ask): void => {
    for (const event of eventsIn(ask.body)) {
      events.add(eventKey(event, ask, lexicon), eventNames.length);
      eventNames.push(shared(nameOf(event)));
    }
  };
  const addCreated = (ask: Ask, exchange: Exchange): void => {
    if (ask.method !== "POST" || (exchange.res?.status ?? 0) >= 300) return;
    const rules = { ...rulesOf(lexicon, policyOf(ask)), idNoun: idNounOf(ask.path) };
    for (const id of idsIn(exchange.res?.body, rules)) created.add(id);
  };
  return {
    header,
    lexicon,
    rows,
    leftOut,
    eventNames,
    requests,
    events,
    store,
    isFree,
    add(exchange, place, body) {
      const { i, req, res, route } = exchange;
      const why = reasonToLeaveOut(exchange, options);
      if (why !== undefined) {
        leftOut.push({ i, method: req.method.toUpperCase(), url: req.url, route, why });
        return;
      }
      const ask = { ...recordedAsk(exchange), body: bodyValue(body) };
      const redacted = exchange.redacted.filter((path) => /^req\.(?:body|path|query)/.test(path));
      lexicon.secrecy.learnPlaces(redacted);
      if (!isCapture(route)) addCreated(ask, exchange);
      else if (route !== "recordings") addEvents(ask);
      const named = { i, method: ask.method, url: req.url, route };
      const row = rows.push({ ...named, status: res?.status ?? 0, isRedacted: redacted.length > 0 }) - 1;
      const { tiers, approximate = [] } = policyOf(ask);
      for (const tier of [...tiers, ...approximate]) {
        for (const key of recordedKeys(ask, tier, lexicon)) requests.add(key, row);
      }
      store.put(exchange, place);
    },
  };
}

/** The same few are asked for again and again. */
const cached = 16;

/**
 * Exchanges of a file stay there, only their places are kept: a tape may be larger than memory. `sides`: the folder
 * of the tape's side files.
 */
export function createExchangeStore(sides = "") {
  const rows: (Exchange | TapeLine)[] = [];
  const recent = new RecentMap<number, Exchange>(cached);
  const remember = (row: number, exchange: Exchange): Exchange => {
    recent.delete(row);
    recent.set(row, exchange);
    return exchange;
  };
  return {
    /** Keeps the next exchange; its row is how many there were before it. `place`: where a file has it. */
    put: (exchange: Exchange, place: TapeLine | undefined) => void rows.push(place ?? exchange),
    /** @throws TapeError when the file cannot be read any more, or was changed */
    get(row: number) {
      const found = rows[row];
      if (found === undefined) throw new RangeError(`no row ${row}`);
      return "req" in found ? found : remember(row, recent.get(row) ?? withSides(readSyncAt(found), sides));
    },
  };
}

export type ExchangeStore = ReturnType<typeof createExchangeStore>;

function readSyncAt(place: TapeLine): Exchange {
  let value: Json = null;
  try {
    value = JSON.parse(bytesAt(place).toString("utf8"));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw fileTrouble(place.file, "read", error);
  }
  if (isExchange(value)) return value;
  throw new TapeError(`${place.file}:${place.line} was changed while it was in use`, {
    file: place.file,
    line: place.line,
    hint: "load the tape again",
  });
}

/** Synchronous: an answer is a few kB that the system has in memory, and a request waits for it anyway. */
function bytesAt({ file, offset, length }: TapeLine): Buffer {
  const fd = openSync(file, "r");
  try {
    const buffer = Buffer.alloc(length);
    return buffer.subarray(0, readSync(fd, buffer, 0, length, offset));
  } finally {
    closeSync(fd);
  }
}

/** A tape: its file, or what is in memory. */
export type TapeSource = string | { header: TapeHeader; exchanges: AsyncIterable<Exchange> | Iterable<Exchange> };

/** An exchange, where a file has it, and its request's body, also where that is in a side file. */
interface Found {
  exchange: Exchange;
  place: TapeLine | undefined;
  body: TapeBody | undefined;
}

/** The folder of a tape's side files; undefined: it has none. */
export const sidesOf = (source: TapeSource): string | undefined =>
  typeof source === "string" ? sideFolder(source) : undefined;

/** @throws TapeError when a file cannot be read, is no tape, or of a newer format */
export const headerOf = async (source: TapeSource): Promise<TapeHeader> =>
  typeof source === "string" ? await readHeader(source) : source.header;

/** The exchanges of a source in order. @throws TapeError as `headerOf` does */
export async function* exchangesOf(source: TapeSource, options: ReadOptions = {}): AsyncGenerator<Found> {
  if (typeof source === "string") {
    for await (const { exchange, place } of readPlaced(source, options)) {
      yield { exchange, place, body: readBody(sideFolder(source), exchange.req.body) };
    }
  } else {
    for await (const exchange of source.exchanges) {
      yield { exchange, place: undefined, body: exchange.req.body };
    }
  }
}
