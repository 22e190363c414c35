import { isTooDeep, type Json, type Path, pathText } from "../../../kernel/base/json.ts";
import { differences, type JsonDifference } from "../../../kernel/base/json-differences.ts";
import { distance } from "../../../kernel/base/nearest.ts";
import { pathOf } from "../format/routes.ts";
import type { ReplayMiss } from "../ports.ts";
import { maskOf } from "../redact/bind.ts";
import { openedText } from "../redact/encoded.ts";
import { fitsPlaceholders, placeholdersIn, replacePlaceholders } from "../redact/placeholders.ts";
import { createMask } from "../redact/scan.ts";
import { canonical, type Rules } from "./canonical.ts";
import type { Aliases } from "./catalog.ts";
import { parametersOf, policyOf, rulesOf, withOwnIds } from "./keys.ts";
import { type Ask, recordedAsk } from "./requests.ts";
import type { ExchangeRow, TapeIndex } from "./tape-index.ts";

type Near = ReplayMiss["nearest"][number];

const mostNear = 3;
const mostCompared = 50;
const mostDiffering = 10;
const longest = 80;

function distanceOf(ask: Ask, { method, url }: ExchangeRow): number {
  return distance(ask.path.slice(0, 100), pathOf(url).slice(0, 100)) + (ask.method === method ? 0 : 2);
}

/** The rows worth comparing: those of the same route, or else one of each of the nearest routes. */
function candidates(ask: Ask, rows: readonly ExchangeRow[]): number[] {
  const same: number[] = [];
  for (let row = 0; row < rows.length && same.length < mostCompared; row++) {
    if (rows[row]?.route === ask.route) same.push(row);
  }
  return same.length > 0 ? same : nearestRoutes(ask, rows);
}

function nearestRoutes(ask: Ask, rows: readonly ExchangeRow[]): number[] {
  const firsts = new Map<string, number>();
  for (const [row, { route }] of rows.entries()) if (!firsts.has(route)) firsts.set(route, row);
  const ranked = [...firsts.values()].flatMap((row) => {
    const it = rows[row];
    return it === undefined ? [] : [{ row, far: distanceOf(ask, it) }];
  });
  return ranked
    .sort((a, b) => a.far - b.far)
    .slice(0, mostNear)
    .map(({ row }) => row);
}

/** Everything of a request that can count, at readable paths. */
export const documentOf = ({ method, path, query, body, signed }: Ask): Json => ({
  method,
  path,
  query: parametersOf(query),
  ...(body !== undefined && { body }),
  signed,
});

/** A value that has placeholders matches any other in their place: a replay may run without secrets, or with dummies. */
function fitsRedacted(recorded: Json, live: Json): boolean {
  if (typeof recorded !== "string" || typeof live === "object") return false;
  const text = openedText(recorded);
  if (placeholdersIn(text).length === 0) return false;
  return fitsPlaceholders(text, typeof live === "string" ? openedText(live) : String(live));
}

/** True if two leaves are the same, except for ids that may be each other's; `onSame` gets those. */
const sameLeaf =
  (rules: Rules, aliases: Aliases, onSame: Aliases["bind"]) =>
  (recorded: Json, live: Json, path: Path): boolean => {
    if (recorded === live) return true;
    const at = nameAt(path) || "_";
    const a = canonical({ [at]: recorded }, { ...rules, drops: () => false });
    const b = canonical({ [at]: live }, { ...rules, drops: () => false });
    const isSame = (a.text === b.text && aliases.fits(a.ids, b.ids, true)) || fitsRedacted(recorded, live);
    if (isSame) onSame(a.ids, b.ids);
    return isSame;
  };

export const comparisonBy = (rules: Rules, aliases: Aliases, onSame: Aliases["bind"] = () => {}) => ({
  same: sameLeaf(rules, aliases, onSame),
  drops: (path: Path) => rules.drops(nameAt(path), genericPath(path)),
});

const jsonText = (value: Json): string => (isTooDeep(value) ? "(deeply nested)" : JSON.stringify(value));

function shown(value: Json | undefined, path: Path, rules: Rules): string {
  if (value === undefined) return "(absent)";
  if (rules.secrecy.hides(nameAt(path), pathText(path))) return "***";
  const plain = replacePlaceholders(typeof value === "string" ? value : jsonText(value), maskOf);
  const text = createMask().text(plain);
  return text.length > longest ? `${text.slice(0, longest)}…` : text;
}

const documentBeside = (recorded: Ask, live: Ask): Json =>
  documentOf({ ...recorded, signed: recorded.signed === "any" ? live.signed : recorded.signed });

/** Most exchanges with secrets that are compared in full when no key is equal. */
const mostRedacted = 1_000;

/** The first exchange differing only where it has placeholders: for values that only the tape shows to be secrets. */
export function redactedRow(ask: Ask, { rows, store, lexicon }: TapeIndex, aliases: Aliases): number | undefined {
  const comparison = comparisonBy(rulesOf(lexicon, policyOf(ask)), aliases);
  const own = withOwnIds(ask);
  const live = documentOf(own);
  let compared = 0;
  for (let row = 0; row < rows.length && compared < mostRedacted; row++) {
    const { isRedacted, route, method } = rows[row] ?? {};
    if (!isRedacted || route !== ask.route || method !== ask.method) continue;
    compared++;
    const document = documentBeside(withOwnIds(recordedAsk(store.get(row))), own);
    if (differences(document, live, comparison, ["req"]).next().done) return row;
  }
  return undefined;
}

/** The nearest exchanges to a request that none answers, with what differs; those of its route first. */
export function nearestRows(ask: Ask, { rows, store, lexicon }: TapeIndex, aliases: Aliases): Near[] {
  const rules = rulesOf(lexicon, policyOf(ask));
  const comparison = comparisonBy(rules, aliases);
  const live = documentOf(ask);
  const shownDifference = ({ path, one, other }: JsonDifference) => {
    const [recorded, asked] = [shown(one, path, rules), shown(other, path, rules)];
    return { path: pathText(path), recorded, asked: asked === recorded ? "(another value)" : asked };
  };
  const near = candidates(ask, rows).map((row) => {
    const exchange = store.get(row);
    const recorded = recordedAsk(exchange);
    const differing = [...differences(documentBeside(recorded, ask), live, comparison, ["req"])];
    return { i: exchange.i, method: recorded.method, url: exchange.req.url, differing };
  });
  return near
    .sort((a, b) => a.differing.length - b.differing.length)
    .slice(0, mostNear)
    .map((it) => ({ ...it, differing: it.differing.slice(0, mostDiffering).map(shownDifference) }));
}

/** `req.body.batch[0].uuid` → `req.body.batch[].uuid`. */
export const genericPath = (path: Path): string => pathText(path).replace(/\[\d+\]/g, "[]");

/** The last name in a path; "" inside lists. */
export const nameAt = (path: Path): string => (typeof path.at(-1) === "string" ? String(path.at(-1)) : "");
