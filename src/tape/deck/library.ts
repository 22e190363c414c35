import type { Place } from "../read.ts";
import type { Exchange, TapeBody, TapeHeader } from "../types.ts";
import { type Ask, bodyValue, recordedAsk } from "./ask.ts";
import { canonical } from "./canonical.ts";
import { type Catalog, createCatalog } from "./catalog.ts";
import { eventsIn, nameOf } from "./events.ts";
import { digest, type Lexicon, recordedKeys, rulesOf } from "./keys.ts";
import { freeIds, lexiconOf } from "./lexicon.ts";
import { isCapture, policyOf } from "./policies.ts";
import { createShelf, type Shelf } from "./shelf.ts";
import { idNounOf, toldIds } from "./substitute.ts";

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

/** What is kept of an exchange. */
export interface Row extends Named {
  status: number;
  /** Rows of its events in the catalog of events: the first, and the one behind the last. */
  events: readonly [number, number];
  /** Has the request placeholders in its path, query or body? */
  isRedacted: boolean;
}

/** The exchanges of a tape that can be given as answers, found by key. */
export interface Library {
  readonly header: TapeHeader;
  readonly lexicon: Lexicon;
  readonly rows: readonly Row[];
  readonly leftOut: readonly LeftOut[];
  /** Names of the events of all rows. */
  readonly eventNames: readonly string[];
  readonly requests: Catalog;
  readonly events: Catalog;
  readonly shelf: Shelf;
  isFree(id: string): boolean;
}

export interface LibraryOptions {
  header: TapeHeader;
  /** Exchanges that were cut off (if an answer came at all) are left out unless this is set. */
  includeFailures?: boolean | undefined;
  /** Answers with these statuses are left out. */
  skipStatus?: readonly number[] | undefined;
  noise?: readonly string[] | undefined;
  /** Folder of the tape's side files. */
  sides?: string | undefined;
}

interface Filler extends Library {
  add(exchange: Exchange, place: Place | undefined, body: TapeBody | undefined): void;
}

/** Why an exchange is never given as an answer; undefined: it may be. */
function reasonToLeaveOut(
  { complete, aborted, res }: Exchange,
  { includeFailures = false, skipStatus = [] }: Pick<LibraryOptions, "includeFailures" | "skipStatus">,
): string | undefined {
  if (res === null) return "no answer was recorded";
  if (skipStatus.includes(res.status)) return `its status ${res.status} is skipped`;
  return includeFailures || (complete && aborted === undefined) ? undefined : "it was cut off";
}

/** Key of an event in the catalog of events; `root`: its generic path. */
export function eventKey(event: ReturnType<typeof eventsIn>[number], ask: Ask, lexicon: Lexicon) {
  const { text, ids } = canonical(event.event, rulesOf(lexicon, policyOf(ask)), event.root);
  return { shape: digest(`event ${text}`), ids };
}

/** An empty library, to be filled in the order of the tape. */
export function createLibrary(options: LibraryOptions): Filler {
  const { header, noise, sides } = options;
  const lexicon = lexiconOf(header, noise);
  const rows: Row[] = [];
  const leftOut: LeftOut[] = [];
  const eventNames: string[] = [];
  const names = new Map<string, string>();
  const created = new Set<string>();
  const isFree = freeIds(created);
  const requests = createCatalog(isFree, (row) => rows[row]?.i ?? 0);
  const events = createCatalog(isFree, (row) => row);
  const shelf = createShelf(sides);

  /** One copy of each name: the same ones come again and again. */
  const shared = (name: string): string => {
    if (!names.has(name)) names.set(name, name);
    return names.get(name) ?? name;
  };
  const addEvents = (ask: Ask): [number, number] => {
    const first = eventNames.length;
    for (const event of eventsIn(ask.body)) {
      events.add(eventKey(event, ask, lexicon), eventNames.length);
      eventNames.push(shared(nameOf(event)));
    }
    return [first, eventNames.length];
  };
  const addCreated = (ask: Ask, exchange: Exchange): void => {
    if (ask.method !== "POST" || (exchange.res?.status ?? 0) >= 300) return;
    const rules = { ...rulesOf(lexicon, policyOf(ask)), idNoun: idNounOf(ask.path) };
    for (const id of toldIds(exchange.res?.body, rules)) created.add(id);
  };
  return {
    header,
    lexicon,
    rows,
    leftOut,
    eventNames,
    requests,
    events,
    shelf,
    isFree,
    add(exchange, place, body) {
      const { i, req, res, route } = exchange;
      const why = reasonToLeaveOut(exchange, options);
      if (why !== undefined || res === null) {
        leftOut.push({ i, method: req.method.toUpperCase(), url: req.url, route, why: why ?? "" });
        return;
      }
      const ask = { ...recordedAsk(exchange), body: bodyValue(body) };
      const redacted = exchange.redacted.filter((path) => /^req\.(?:body|path|query)/.test(path));
      lexicon.secrecy.learnPlaces(redacted);
      const span = route === "recordings" || !isCapture(route) ? ([0, 0] as const) : addEvents(ask);
      if (!isCapture(route)) addCreated(ask, exchange);
      const isRedacted = redacted.length > 0;
      const row =
        rows.push({
          i,
          method: ask.method,
          url: req.url,
          route,
          status: res.status,
          events: span,
          isRedacted,
        }) - 1;
      for (const tier of policyOf(ask).tiers) {
        for (const key of recordedKeys(ask, tier, lexicon)) requests.add(key, row);
      }
      shelf.put(exchange, place);
    },
  };
}
