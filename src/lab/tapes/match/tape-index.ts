import { closeSync, openSync, readSync } from "node:fs";
import type { Json } from "../../../kernel/base/json.ts";
import { getOrMake, RecentMap } from "../../../kernel/base/recent-map.ts";
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

interface Named {
  i: number;
  method: string;
  url: string;
  route: string;
}

export interface ExchangeRow extends Named {
  /** 0: the upstream ended the connection instead. */
  status: number;
  /** True if the request has placeholders in its path, query or body. */
  isRedacted: boolean;
}

interface TapeIndexOptions {
  header: TapeHeader;
  skipStatus?: readonly number[] | undefined;
  noise?: readonly string[] | undefined;
  sides?: string | undefined;
}

/** Why an exchange is never given as an answer; undefined: it may be. */
export function reasonToLeaveOut(
  { complete, aborted, res, route }: Exchange,
  skipStatus: readonly number[] = [],
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

/** The exchanges of a tape that can be given as responses, found by key; to be filled in the order of the tape. */
export class TapeIndex {
  readonly header: TapeHeader;
  readonly lexicon: Lexicon;
  readonly rows: ExchangeRow[] = [];
  /** Exchanges that are never given as an answer. */
  readonly leftOut: (Named & { why: string })[] = [];
  readonly eventNames: string[] = [];
  readonly requests: Catalog;
  readonly events: Catalog;
  readonly store: ExchangeStore;
  readonly isFree: (id: string) => boolean;
  readonly #skipStatus: readonly number[] | undefined;
  readonly #names = new Map<string, string>();
  readonly #created = new Set<string>();

  constructor({ header, skipStatus, noise, sides }: TapeIndexOptions) {
    this.header = header;
    this.lexicon = lexiconOf(header, noise);
    this.isFree = freeIds(this.#created);
    this.requests = createCatalog(this.isFree, (row) => this.rows[row]?.i ?? 0);
    this.events = createCatalog(this.isFree, (row) => row);
    this.store = createExchangeStore(sides);
    this.#skipStatus = skipStatus;
  }

  add(exchange: Exchange, place: TapeLine | undefined, body: TapeBody | undefined): void {
    const { i, req, res, route } = exchange;
    const why = reasonToLeaveOut(exchange, this.#skipStatus);
    if (why !== undefined) {
      this.leftOut.push({ i, method: req.method.toUpperCase(), url: req.url, route, why });
      return;
    }
    const ask = { ...recordedAsk(exchange), body: bodyValue(body) };
    const redacted = exchange.redacted.filter((path) => /^req\.(?:body|path|query)/.test(path));
    this.lexicon.secrecy.learnPlaces(redacted);
    if (!isCapture(route)) this.#addCreated(ask, exchange);
    else if (route !== "recordings") this.#addEvents(ask);
    const named = { i, method: ask.method, url: req.url, route };
    const row = this.rows.push({ ...named, status: res?.status ?? 0, isRedacted: redacted.length > 0 }) - 1;
    const { tiers, approximate = [] } = policyOf(ask);
    for (const tier of [...tiers, ...approximate]) {
      for (const key of recordedKeys(ask, tier, this.lexicon)) this.requests.add(key, row);
    }
    this.store.put(exchange, place);
  }

  #addEvents(ask: Ask): void {
    for (const event of eventsIn(ask.body)) {
      this.events.add(eventKey(event, ask, this.lexicon), this.eventNames.length);
      const name = nameOf(event);
      // one copy of each name: the same ones come again and again
      this.eventNames.push(getOrMake(this.#names, name, () => name));
    }
  }

  #addCreated(ask: Ask, { res }: Exchange): void {
    if (ask.method !== "POST" || (res?.status ?? 0) >= 300) return;
    const rules = { ...rulesOf(this.lexicon, policyOf(ask)), idNoun: idNounOf(ask.path) };
    for (const id of idsIn(res?.body, rules)) this.#created.add(id);
  }
}

/** The same few are asked for again and again. */
const cached = 16;

/** Exchanges of a file stay there, only their places are kept. `sides`: the folder of the tape's side files. */
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
