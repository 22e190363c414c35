import { isObject, type Json, own } from "../../../kernel/base/json.ts";
import { nameTest } from "../../../kernel/base/wildcard.ts";
import { type Exchange, jsonOf } from "../format/exchange.ts";
import { isCapture } from "../format/routes.ts";
import { withEvents } from "../match/requests.ts";
import { decodedPart } from "../redact/fields.ts";
import { placeholdersIn } from "../redact/placeholders.ts";

/** What `--exclude` leaves out of a tape that is sent: whole requests, events, and single values. */
export const exclusionExpected = "a route (capture, 'GET /api/*'), event:NAME, or path:body.batch[].properties.card";

/** One step of a path: a key, or a position in a list; null: any of them. */
type Step = { readonly key: string | null } | { readonly at: number | null };

const stepPattern = /\.([^.[\]]+)|\[(\d*)\]|\[("(?:[^"\\]|\\.)*")\]/y;

function stepOf([, key, at, quoted]: RegExpExecArray): Step {
  if (key !== undefined) return { key: key === "*" ? null : key };
  if (quoted !== undefined) return { key: String(JSON.parse(quoted)) };
  return { at: at === "" ? null : Number(at) };
}

/** Reads `body.batch[].properties.card`, `req.body["a b"]`, `event.properties.*`; undefined: it is no path. */
function readPath(text: string): { root: Root; steps: readonly Step[] } | undefined {
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
  const fits = (key: string | number): boolean =>
    typeof key === "number"
      ? "at" in step && (step.at === null || step.at === key)
      : "key" in step && (step.key === null || step.key === key);
  let isChanged = false;
  const kept = <K extends string | number>([key, it]: readonly [K, Json]): (readonly [K, Json])[] => {
    if (!fits(key)) return [[key, it]];
    const after = more.length === 0 ? undefined : without(it, more);
    isChanged ||= after !== it;
    return after === undefined ? [] : [[key, after]];
  };
  if (Array.isArray(value)) {
    const items = [...value.entries()].flatMap(kept).map(([, it]) => it);
    return isChanged ? items : value;
  }
  if (!isObject(value)) return value;
  const members = Object.entries(value).flatMap(kept);
  return isChanged ? Object.fromEntries(members) : value;
}

function withJson(exchange: Exchange, change: (json: Json) => Json): Exchange {
  const before = jsonOf(exchange.req.body);
  if (before === undefined) return exchange;
  const json = change(before);
  return json === before ? exchange : { ...exchange, req: { ...exchange.req, body: { json } } };
}

/** The name of the first step: of a header, or of a parameter; null: any. */
const nameIn = ([step]: readonly Step[]): string | null => (step !== undefined && "key" in step ? step.key : "");

function withoutParameter(url: string, name: string | null): string {
  const [address = "", ...rest] = url.split("?");
  if (rest.length === 0) return url;
  const kept = rest
    .join("?")
    .split("&")
    .filter((pair) => name !== null && decodedPart(pair.split("=", 1)[0] ?? "") !== name);
  return kept.length > 0 ? `${address}?${kept.join("&")}` : address;
}

const roots = ["body", "event", "headers", "query"] as const;
type Root = (typeof roots)[number];

/** How a path of each root changes a request; the same exchange where it holds nothing there. */
const removals: Readonly<Record<Root, (exchange: Exchange, steps: readonly Step[]) => Exchange>> = {
  body: (exchange, steps) => withJson(exchange, (json) => without(json, steps)),
  event(exchange, steps) {
    if (!isCapture(exchange.route)) return exchange;
    let isChanged = false;
    const next = withJson(exchange, (json) => {
      const changed = withEvents(json, (event) => {
        const after = without(event, steps);
        isChanged ||= after !== event;
        return isObject(after) ? after : event;
      });
      return changed ?? json;
    });
    return isChanged ? next : exchange;
  },
  headers(exchange, steps) {
    const name = nameIn(steps)?.toLowerCase();
    const { req } = exchange;
    const headers = req.headers.filter(([it]) => name !== undefined && it.toLowerCase() !== name);
    return headers.length === req.headers.length ? exchange : { ...exchange, req: { ...req, headers } };
  },
  query(exchange, steps) {
    const url = withoutParameter(exchange.req.url, nameIn(steps));
    return url === exchange.req.url ? exchange : { ...exchange, req: { ...exchange.req, url } };
  },
};

type Rule = (exchange: Exchange) => { left: Exchange | undefined; times: number };

function ruleOf(text: string): Rule {
  const [, kind = "route", name = ""] = /^(?:(route|event|path):)?(.*)$/s.exec(text) ?? [];
  const path = kind === "path" ? readPath(name) : undefined;
  if (name === "" || (kind === "path" && path === undefined))
    throw new TypeError(`it must be ${exclusionExpected}, not ${JSON.stringify(text)}`);
  if (path)
    return (exchange) => {
      const left = removals[path.root](exchange, path.steps);
      return { left, times: left === exchange ? 0 : 1 };
    };
  const isMeant = nameTest(name);
  if (kind === "event")
    return (exchange) => {
      const json = exchange.route === "capture" ? jsonOf(exchange.req.body) : undefined;
      if (json === undefined) return { left: exchange, times: 0 };
      let times = 0;
      const body = withEvents(json, (event) => {
        const name = own(event, "event");
        if (typeof name !== "string" || !isMeant(name)) return event;
        times++;
        return undefined;
      });
      if (times === 0) return { left: exchange, times };
      return { left: body === undefined ? undefined : withJson(exchange, () => body), times };
    };
  return (exchange) => (isMeant(exchange.route) ? { left: undefined, times: 1 } : { left: exchange, times: 0 });
}

export type ExcludedCounts = ReadonlyMap<string, number>;

/** Leaves out what these texts name. @throws TypeError for a text that names nothing */
export function createExcluder(texts: readonly string[]) {
  const rows = texts.map((text) => ({ text, rule: ruleOf(text) }));
  const counts = new Map(texts.map((text) => [text, 0]));
  return {
    apply(exchange: Exchange) {
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

export type Excluder = ReturnType<typeof createExcluder>;

/** `.name`, `["a b"]`. */
const keyStep = (key: string): string => (/^[\w$-]+$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`);

/** Where a placeholder is in a request, as `path:` names it; undefined: where nothing can be left out. */
export function placeOfPlaceholder({ req }: Exchange, text: string): string | undefined {
  const has = (value: string): boolean => placeholdersIn(value).some((it) => it.text === text);
  function placeIn(value: Json, path: string): string | undefined {
    if (typeof value === "string") return has(value) ? path : undefined;
    if (typeof value !== "object" || value === null) return undefined;
    const members = Array.isArray(value)
      ? value.map((it) => [`${path}[]`, it] as const)
      : Object.entries(value).map(([key, it]) => [path + keyStep(key), it] as const);
    return members.map(([at, it]) => placeIn(it, at)).find(Boolean);
  }
  const header = req.headers.find(([, value]) => has(value));
  if (header) return `headers.${header[0].toLowerCase()}`;
  const [, ...query] = req.url.split("?");
  const parameter = query.join("?").split("&").find(has);
  if (parameter !== undefined) return `query.${decodedPart(parameter.split("=", 1)[0] ?? "")}`;
  return placeIn(jsonOf(req.body) ?? null, "body");
}
