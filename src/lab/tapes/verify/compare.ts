import { isTooDeep, type Json } from "../../../kernel/base/json.ts";
import { type Exchange, type HeaderPairs, headerOf, type TapeBody } from "../format/exchange.ts";
import { isCapture } from "../format/routes.ts";
import type { DifferenceGroup, TapeProblem } from "../shapes.ts";
import {
  type AnswerDifference,
  type AnswerLike,
  type CompareOptions,
  compareShapes,
  compareValues,
  type DifferenceKind,
  noiseTest,
  type Severity,
  shapeOf,
} from "./compare-json.ts";

type Finding = Omit<AnswerDifference, "detail">;

/** An entirely different answer needs no longer list. */
const mostDifferences = 200;

/** Headers that clients act on, the severity when one is missing, and whether its value is compared. */
const headerRows: readonly (readonly [name: string, missing: Severity, hasValue: boolean])[] = [
  ["access-control-allow-origin", "break", false],
  ["access-control-allow-credentials", "break", true],
  ["location", "break", false],
  ["www-authenticate", "break", false],
  ["retry-after", "break", false],
  ["allow", "additive", true],
  ["cache-control", "additive", true],
];
const headerRules = new Map(headerRows.map(([name, missing, hasValue]) => [name, { missing, hasValue }]));
const otherHeader = { missing: "additive", hasValue: false } as const;

/** Not compared: of one connection, the body's travel, proxies, browsers' security, tracing, and the asking page. */
const ownOfEach =
  /^(?:connection|keep-alive|transfer-encoding|upgrade|trailer|te|date|age|server|via|alt-svc|content-(?:type|length|encoding|md5)|vary|accept-ranges|(?:proxy|cf|fly|sec|access-control|cross-origin|x-(?:phx|cache|envoy|amz|amzn|amz-cf|cloud|forwarded|served|timer|request|correlation|trace|runtime|real))(?:-.*)?|x-(?:powered-by|robots-tag|content-type-options|frame-options|xss-protection|permitted-cross-domain-policies|dns-prefetch-control)|strict-transport-security|content-security-policy(?:-report-only)?|permissions-policy|referrer-policy|origin-agent-cluster|nel|report-to|reporting-endpoints|expect-ct|server-timing|timing-allow-origin|traceparent|tracestate|request-id)$/;

const isCompared = (name: string): boolean => headerRules.has(name) || !ownOfEach.test(name);

const namesOf = (headers: HeaderPairs): Set<string> =>
  new Set(headers.map(([name]) => name.toLowerCase()).filter(isCompared));

const details: Readonly<Record<DifferenceKind, string>> = {
  status: "another status",
  content_type: "another content type",
  header_missing: "the header is missing",
  header_extra: "the header was not recorded",
  header_value: "another value of the header",
  body_missing: "there is no body",
  body_extra: "there is a body, none was recorded",
  missing: "the key is missing",
  extra: "the key was not recorded",
  type: "another type",
  null: "null on one side only",
  elements: "other types among the elements",
  length: "another number of elements",
  value: "another value",
  too_deep: "nested too deeply to be compared",
};

/**
 * Compares status, selected headers and the JSON's shape, then values outside of noise; of the receipts for events no
 * values. Where the statuses are of different classes, that is the only difference. Never throws.
 */
export function compareAnswers(
  recorded: AnswerLike,
  own: AnswerLike,
  { route, noise = [] }: CompareOptions,
): AnswerDifference[] {
  const found: Finding[] = [];
  const isNoisy = noiseTest(noise);
  // A receipt says whether it was taken; how many events, the events show.
  const isReceipt = isCapture(route);
  const isQuiet = (it: Finding) => isNoisy(it.path) || (isReceipt && it.severity === "value");
  const seen = new Set<string>();
  const report = (it: Finding) => {
    const key = `${it.kind} ${it.severity} ${it.path}`;
    if (found.length >= mostDifferences || seen.has(key) || isQuiet(it)) return;
    seen.add(key);
    found.push(it);
  };
  compareParts(recorded, own, report);
  return found.map((it) => ({ ...it, detail: details[it.kind] }));
}

function compareParts(recorded: AnswerLike, own: AnswerLike, report: (it: Finding) => void): void {
  if (recorded.status !== own.status)
    report({
      severity: "break",
      kind: "status",
      path: "status",
      recorded: String(recorded.status),
      own: String(own.status),
    });
  if (classOf(recorded.status) !== classOf(own.status)) return;
  compareHeaders(recorded.headers, own.headers, report);
  compareBodies(recorded, own, report);
}

const classOf = (status: number): number => Math.floor(status / 100);

function compareHeaders(recorded: HeaderPairs, own: HeaderPairs, report: (it: Finding) => void): void {
  const [known, mine] = [namesOf(recorded), namesOf(own)];
  for (const name of new Set([...known, ...mine])) {
    const { missing, hasValue } = headerRules.get(name) ?? otherHeader;
    const [left = "nothing", right = "nothing"] = [headerOf(recorded, name), headerOf(own, name)];
    const values = { path: `headers.${name}`, recorded: shownHeader(left), own: shownHeader(right) };
    if (!mine.has(name)) report({ severity: missing, kind: "header_missing", ...values });
    else if (!known.has(name)) report({ severity: "additive", kind: "header_extra", ...values });
    else if (hasValue && wordsOf(left) !== wordsOf(right))
      report({ severity: "value", kind: "header_value", ...values });
  }
}

const longestHeader = 60;

const shownHeader = (value: string): string =>
  value.length > longestHeader ? `${value.slice(0, longestHeader)}…` : value;

/** `GET, POST` and `POST,GET` are the same. */
const wordsOf = (text: string): string =>
  text
    .toLowerCase()
    .split(",")
    .map((it) => it.trim())
    .sort()
    .join(",");

type Content = { json: Json } | { other: string } | { unknown: true } | undefined;

/** The content of a body; that of a side file, or of one that was left out, is not known. */
function contentOf(body: TapeBody | undefined): Content {
  if (body === undefined) return undefined;
  if ("json" in body) return body;
  if ("text" in body) return body.text === "" ? undefined : { other: body.text };
  if ("b64" in body) return body.b64 === "" ? undefined : { other: body.b64 };
  return { unknown: true };
}

function compareBodies(recorded: AnswerLike, own: AnswerLike, report: (it: Finding) => void): void {
  const [left, right] = [contentOf(recorded.body), contentOf(own.body)];
  if (left === undefined && right === undefined) return;
  const values = { path: "body", recorded: wordFor(left), own: wordFor(right) };
  if (right === undefined) {
    report({ severity: "break", kind: "body_missing", ...values });
    return;
  }
  if (left === undefined) {
    report({ severity: "additive", kind: "body_extra", ...values });
    return;
  }
  compareTypesOfContent(recorded.headers, own.headers, report);
  if ("unknown" in left || "unknown" in right) return;
  if ("json" in left && "json" in right) {
    compareJson(left.json, right.json, report);
    return;
  }
  if ("json" in left || "json" in right) {
    report({ severity: "break", kind: "type", ...values });
    return;
  }
  if (left.other !== right.other)
    report({
      severity: "value",
      kind: "value",
      path: "body",
      recorded: `${left.other.length} characters`,
      own: `${right.other.length} characters`,
    });
}

const wordFor = (content: Content): string => {
  if (content === undefined) return "nothing";
  if ("json" in content) return "JSON";
  return "other" in content ? "text" : "unknown";
};

function compareTypesOfContent(recorded: HeaderPairs, own: HeaderPairs, report: (it: Finding) => void): void {
  const [left, right] = [mediaType(recorded), mediaType(own)];
  if (left === right || left === undefined) return;
  report({
    severity: "break",
    kind: "content_type",
    path: "headers.content-type",
    recorded: left,
    own: right ?? "nothing",
  });
}

const mediaType = (headers: HeaderPairs): string | undefined =>
  headerOf(headers, "content-type")?.split(";")[0]?.trim().toLowerCase();

function compareJson(recorded: Json, own: Json, report: (it: Finding) => void): void {
  if (isTooDeep(recorded) || isTooDeep(own)) {
    report({ severity: "value", kind: "too_deep", path: "body", recorded: "JSON", own: "JSON" });
    return;
  }
  compareShapes(shapeOf([recorded]), shapeOf([own]), "body", report);
  compareValues(recorded, own, "body", report);
}

export interface ComparedAnswer {
  route: string;
  i: number;
  differences: readonly AnswerDifference[];
}

export interface RouteTally {
  route: string;
  compared: number;
  differing: number;
}

export interface Comparison {
  exchanges: number;
  compared: number;
  skipped: Partial<Record<CompareSkipReason, number>>;
  groups: DifferenceGroup[];
  routes: RouteTally[];
  /** Differences beyond the kinds that are kept. */
  left: number;
  damaged: number;
  problems: TapeProblem[];
}

export type Verified = { compared: ComparedAnswer } | { skipped: CompareSkipReason };

/** Hostile tapes have any number of paths. */
const mostGroups = 10_000;

const ranks: Readonly<Record<Severity, number>> = { break: 0, additive: 1, value: 2 };

/** Counts results as they come; its size depends on how many different differences there are. */
export function createComparison() {
  const groups = new Map<string, Omit<DifferenceGroup, "of">>();
  const routes = new Map<string, RouteTally>();
  const skipped: Comparison["skipped"] = {};
  let compared = 0;
  let left = 0;

  function count(route: string, i: number, it: AnswerDifference): void {
    const key = JSON.stringify([route, it.severity, it.kind, it.path]);
    const known = groups.get(key);
    if (known) known.count++;
    else if (groups.size < mostGroups) groups.set(key, { route, ...it, count: 1, first: i });
    else left++;
  }

  return {
    add(result: Verified): void {
      if ("skipped" in result) {
        skipped[result.skipped] = (skipped[result.skipped] ?? 0) + 1;
        return;
      }
      const { route, i, differences } = result.compared;
      const tally = routes.get(route) ?? { route, compared: 0, differing: 0 };
      compared++;
      tally.compared++;
      if (differences.length > 0) tally.differing++;
      routes.set(route, tally);
      for (const it of differences) count(route, i, it);
    },
    /** Groups by severity, then the most frequent first; routes in the order in which they came. */
    result: (): Omit<Comparison, "exchanges" | "damaged" | "problems"> => ({
      compared,
      skipped,
      groups: [...groups.values()]
        .map((it) => ({ ...it, of: routes.get(it.route)?.compared ?? it.count }))
        .sort((a, b) => ranks[a.severity] - ranks[b.severity] || b.count - a.count || a.first - b.first),
      routes: [...routes.values()],
      left,
    }),
  };
}

/** Why an exchange is not compared; the last four occur with a service only. */
export const skipReasons = {
  cut_off: "cut off, or without a response",
  upstream_failed: "the service failed or was too busy (5xx, 429)",
  not_modified: "the service had nothing new (304)",
  body_left_out: "the request's body was not recorded",
  not_http: "it cannot be sent (its method, its URL, or a tunnel)",
  writes: "would change something (--allow-writes sends them)",
  secret: "need a secret that the tape has no value for (set PHX_SIM_SECRET_KIND_N, or --fill redacted)",
  busy_now: "the service is too busy now (429)",
  no_answer: "without a response now",
} as const;
export type CompareSkipReason = keyof typeof skipReasons;

const isBodyMissing = (body: TapeBody | undefined): boolean =>
  body !== undefined && ("file" in body || "omitted" in body);

const skipRows: readonly (readonly [CompareSkipReason, (exchange: Exchange) => boolean])[] = [
  ["cut_off", ({ res, complete }) => res === null || !complete],
  ["upstream_failed", ({ res }) => res !== null && (res.status >= 500 || res.status === 429)],
  ["not_modified", ({ res }) => res?.status === 304],
  ["body_left_out", ({ req }) => isBodyMissing(req.body)],
  ["not_http", ({ req, res }) => /^connect$/i.test(req.method) || (res?.status ?? 0) < 200],
];

export const skipReasonOf = (exchange: Exchange): CompareSkipReason | undefined =>
  skipRows.find(([, applies]) => applies(exchange))?.[0];
