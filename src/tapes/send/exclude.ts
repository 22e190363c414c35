import { isObject, type Json, own } from "../../base/json.ts";
import type { Exchange, TapeBody } from "../format/exchange.ts";
import { captureRoutes, namePattern } from "../format/routes.ts";
import { eventsIn } from "../match/requests.ts";
import { decodedPart } from "../redact/fields.ts";
import { placeholdersIn } from "../redact/placeholders.ts";
import { withEvents } from "./plan.ts";

/** What is left out of a tape that is sent: whole requests, events, and single values. */

const exclusionKinds = ["route", "event", "path"] as const;
type ExclusionKind = (typeof exclusionKinds)[number];

interface Exclusion {
  readonly kind: ExclusionKind;
  /** As it was given. */
  readonly text: string;
  readonly name: string;
}

export const exclusionExpected =
  "a route (capture, 'GET /api/*'), event:NAME, or path:body.batch[].properties.card";

/** One step of a path: a key, or a place in a list; null: any of them. */
type Step = { readonly key: string | null } | { readonly at: number | null };

const stepPattern = /\.([^.[\]]+)|\[(\d*)\]|\[("(?:[^"\\]|\\.)*")\]/y;

function stepOf([, key, at, quoted]: RegExpExecArray): Step {
  if (key !== undefined) return { key: key === "*" ? null : key };
  if (quoted !== undefined) return { key: String(JSON.parse(quoted)) };
  return { at: at === "" ? null : Number(at) };
}

const roots = ["body", "event", "headers", "query"] as const;
type Root = (typeof roots)[number];

interface ValuePath {
  readonly root: Root;
  readonly steps: readonly Step[];
}

/** Reads `body.batch[].properties.card`, `req.body["a b"]`, `event.properties.*`; undefined: it is no path. */
function readPath(text: string): ValuePath | undefined {
  const plain = text.replace(/^req\./, "");
  const root = roots.find((it) => plain.startsWith(it));
  if (root === undefined) return undefined;
  const steps: Step[] = [];
  stepPattern.lastIndex = root.length;
  while (stepPattern.lastIndex < plain.length) {
    const found = stepPattern.exec(plain);
    if (found === null) return undefined;
    steps.push(stepOf(found));
  }
  return steps.length > 0 ? { root, steps } : undefined;
}

/** A value without what is at the path; the same value where there is nothing. */
function without(value: Json, [step, ...more]: readonly Step[]): Json {
  if (step === undefined) return value;
  if (Array.isArray(value)) {
    const fits = (i: number) => "at" in step && (step.at === null || step.at === i);
    if (more.length === 0) return value.some((_, i) => fits(i)) ? value.filter((_, i) => !fits(i)) : value;
    const next = value.map((it, i) => (fits(i) ? without(it, more) : it));
    return next.some((it, i) => it !== value[i]) ? next : value;
  }
  if (!isObject(value) || !("key" in step)) return value;
  const keys = step.key === null ? Object.keys(value) : [step.key].filter((it) => Object.hasOwn(value, it));
  const changed = keys.filter((key) => more.length === 0 || without(value[key] ?? null, more) !== value[key]);
  if (changed.length === 0) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, it]) => {
      if (!changed.includes(key)) return [[key, it] as const];
      return more.length === 0 ? [] : [[key, without(it, more)] as const];
    }),
  );
}

const nameIn = ([step]: readonly Step[]): string | null =>
  step !== undefined && "key" in step ? step.key : "";

function withoutParameter(url: string, name: string | null): string {
  const [address = "", ...rest] = url.split("?");
  if (rest.length === 0) return url;
  const kept = rest
    .join("?")
    .split("&")
    .filter((pair) => name !== null && decodedPart(pair.split("=", 1)[0] ?? "") !== name);
  return kept.length > 0 ? `${address}?${kept.join("&")}` : address;
}

function withJson(exchange: Exchange, change: (json: Json) => Json): Exchange {
  const { body } = exchange.req;
  if (body === undefined || !("json" in body)) return exchange;
  const json = change(body.json);
  return json === body.json ? exchange : { ...exchange, req: { ...exchange.req, body: { json } } };
}

const isCapture = ({ route }: Exchange): boolean => captureRoutes.includes(route);

const jsonOf = (body: TapeBody | undefined): Json | undefined =>
  body !== undefined && "json" in body ? body.json : undefined;

/** How a path of each root changes a request; the same exchange where it holds nothing there. */
const removals: Readonly<Record<Root, (exchange: Exchange, steps: readonly Step[]) => Exchange>> = {
  body: (exchange, steps) => withJson(exchange, (json) => without(json, steps)),
  event(exchange, steps) {
    if (!isCapture(exchange)) return exchange;
    let isChanged = false;
    const next = withJson(exchange, (json) =>
      withEvents(json, (event) => {
        const after = without(event, steps);
        if (after === event || !isObject(after)) return event;
        isChanged = true;
        return after;
      }),
    );
    return isChanged ? next : exchange;
  },
  headers(exchange, steps) {
    const name = nameIn(steps);
    const { headers } = exchange.req;
    const kept = headers.filter(([it]) => name !== null && it.toLowerCase() !== name.toLowerCase());
    return kept.length === headers.length
      ? exchange
      : { ...exchange, req: { ...exchange.req, headers: kept } };
  },
  query(exchange, steps) {
    const url = withoutParameter(exchange.req.url, nameIn(steps));
    return url === exchange.req.url ? exchange : { ...exchange, req: { ...exchange.req, url } };
  },
};

/** A capture body without the events that fit; null: none is left. */
function withoutEvents(body: Json, fits: (name: string) => boolean): { body: Json | null; names: string[] } {
  const names: string[] = [];
  const isLeftOut = (event: Json): boolean => {
    const name = isObject(event) ? own(event, "event") : undefined;
    if (typeof name !== "string" || !fits(name)) return false;
    names.push(name);
    return true;
  };
  const listIn = (list: readonly Json[]): Json[] => list.filter((it) => !isLeftOut(it));
  if (Array.isArray(body)) {
    const kept = listIn(body);
    return { body: kept.length > 0 || names.length === 0 ? kept : null, names };
  }
  if (!isObject(body)) return { body, names };
  const list = ["batch", "data"].find((it) => Array.isArray(own(body, it)));
  if (list === undefined) {
    const [single] = eventsIn(body);
    return { body: single !== undefined && isLeftOut(single.event) ? null : body, names };
  }
  const events = body[list];
  const kept = Array.isArray(events) ? listIn(events) : [];
  return { body: kept.length > 0 || names.length === 0 ? { ...body, [list]: kept } : null, names };
}

/** What was left out, by what was given: requests, events or values. */
export type ExcludedCounts = ReadonlyMap<string, number>;

export interface Excluder {
  /** The exchange without what is left out; undefined: nothing of it is to be sent. */
  apply(exchange: Exchange): Exchange | undefined;
  /** How often each exclusion left something out so far, in the order in which they were given. */
  counts(): ExcludedCounts;
}

function exclusionOf(text: string): Exclusion {
  const kind = exclusionKinds.find((it) => text.startsWith(`${it}:`));
  const name = kind === undefined ? text : text.slice(kind.length + 1);
  if (name === "" || (kind === "path" && readPath(name) === undefined))
    throw new TypeError(`it must be ${exclusionExpected}, not ${JSON.stringify(text)}`);
  return { kind: kind ?? "route", text, name };
}

type Rule = (exchange: Exchange) => { left: Exchange | undefined; times: number };

const rulesFor: Readonly<Record<ExclusionKind, (name: string) => Rule>> = {
  route(name) {
    const pattern = namePattern(name);
    return (exchange) =>
      pattern.test(exchange.route) ? { left: undefined, times: 1 } : { left: exchange, times: 0 };
  },
  event(name) {
    const pattern = namePattern(name);
    return (exchange) => {
      const json = jsonOf(exchange.req.body);
      if (exchange.route !== "capture" || json === undefined) return { left: exchange, times: 0 };
      const { body, names } = withoutEvents(json, (it) => pattern.test(it));
      if (names.length === 0) return { left: exchange, times: 0 };
      const left = body === null ? undefined : withJson(exchange, () => body);
      return { left, times: names.length };
    };
  },
  path(name) {
    const path = readPath(name);
    return (exchange) => {
      const left = path ? removals[path.root](exchange, path.steps) : exchange;
      return { left, times: left === exchange ? 0 : 1 };
    };
  },
};

/** Leaves out what these texts name. @throws TypeError for a text that names nothing */
export function createExcluder(texts: readonly string[]): Excluder {
  const rows = texts.map(exclusionOf).map(({ kind, text, name }) => ({ text, rule: rulesFor[kind](name) }));
  const counts = new Map(texts.map((text) => [text, 0]));
  return {
    apply(exchange) {
      let left: Exchange | undefined = exchange;
      for (const { text, rule } of rows) {
        const result = rule(left);
        counts.set(text, (counts.get(text) ?? 0) + result.times);
        left = result.left;
        if (left === undefined) return undefined;
      }
      return left;
    },
    counts: () => counts,
  };
}

/** `.name`, `["a b"]`. */
const keyStep = (key: string): string => (/^[\w$-]+$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`);

function placeIn(value: Json, text: string, path: string): string | undefined {
  if (typeof value === "string")
    return placeholdersIn(value).some((it) => it.text === text) ? path : undefined;
  if (Array.isArray(value)) return value.map((it) => placeIn(it, text, `${path}[]`)).find(Boolean);
  if (!isObject(value)) return undefined;
  return Object.entries(value)
    .map(([key, it]) => placeIn(it, text, path + keyStep(key)))
    .find(Boolean);
}

/** Where a placeholder stands in a request, as `path:` names it; undefined: where nothing can be left out. */
export function placeOfPlaceholder({ req }: Exchange, text: string): string | undefined {
  const has = (value: string): boolean => placeholdersIn(value).some((it) => it.text === text);
  const header = req.headers.find(([, value]) => has(value));
  if (header) return `headers.${header[0].toLowerCase()}`;
  const [, ...query] = req.url.split("?");
  const parameter = query.join("?").split("&").find(has);
  if (parameter !== undefined) return `query.${decodedPart(parameter.split("=", 1)[0] ?? "")}`;
  return placeIn(jsonOf(req.body) ?? null, text, "body");
}
