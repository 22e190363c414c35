import { isTooDeep, type Json } from "../../kernel/json.ts";
import { captureRoutes } from "../routes.ts";
import type { HeaderPairs, TapeBody } from "../types.ts";
import { compareShapes } from "./compare-shapes.ts";
import { compareValues } from "./compare-values.ts";
import { noiseTest } from "./noise.ts";
import { shapeOf } from "./shape.ts";
import type { AnswerDifference, AnswerLike, CompareOptions, DifferenceKind, Severity } from "./types.ts";

type Told = Omit<AnswerDifference, "detail">;

/** An answer that is another one altogether needs no longer list. */
const mostDifferences = 200;

/** The headers that clients act on; how grave it is that one is missing. Values count for none but the type. */
const headerRows: readonly (readonly [name: string, missing: Severity, hasValue: boolean])[] = [
  ["access-control-allow-origin", "break", false],
  ["access-control-allow-credentials", "break", true],
  ["location", "break", false],
  ["www-authenticate", "break", false],
  ["retry-after", "break", false],
  ["allow", "additive", true],
  ["etag", "additive", false],
];

const details: Readonly<Record<DifferenceKind, string>> = {
  status: "another status",
  content_type: "another content type",
  header_missing: "the header is missing",
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
 * How an answer differs from a recorded one: status, selected headers and the JSON's shape first, then values
 * outside of noise (ids, times, links, placeholders, and the paths of `noise`). Of the receipts for captured events
 * values do not count; of answers with statuses of another class nothing but that is told. Pure; never throws.
 */
export function compareAnswers(
  recorded: AnswerLike,
  own: AnswerLike,
  { route, noise = [] }: CompareOptions,
): AnswerDifference[] {
  const found: Told[] = [];
  const isNoisy = noiseTest(noise);
  // A receipt says whether it was taken; how many of what, is told by the events.
  const isReceipt = captureRoutes.includes(route);
  const isQuiet = (it: Told) => isNoisy(it.path) || (isReceipt && it.severity === "value");
  const seen = new Set<string>();
  const tell = (it: Told) => {
    const key = `${it.kind} ${it.severity} ${it.path}`;
    if (found.length >= mostDifferences || seen.has(key) || isQuiet(it)) return;
    seen.add(key);
    found.push(it);
  };
  compareParts(recorded, own, tell);
  return found.map((it) => ({ ...it, detail: details[it.kind] }));
}

function compareParts(recorded: AnswerLike, own: AnswerLike, tell: (it: Told) => void): void {
  if (recorded.status !== own.status)
    tell({
      severity: "break",
      kind: "status",
      path: "status",
      recorded: String(recorded.status),
      own: String(own.status),
    });
  if (classOf(recorded.status) !== classOf(own.status)) return;
  compareHeaders(recorded.headers, own.headers, tell);
  compareBodies(recorded, own, tell);
}

const classOf = (status: number): number => Math.floor(status / 100);

function headerIn(headers: HeaderPairs, name: string): string | undefined {
  return headers.find(([it]) => it.toLowerCase() === name)?.[1];
}

function compareHeaders(recorded: HeaderPairs, own: HeaderPairs, tell: (it: Told) => void): void {
  for (const [name, severity, hasValue] of headerRows) {
    const [left, right] = [headerIn(recorded, name), headerIn(own, name)];
    if (left === undefined) continue;
    const told = { path: `headers.${name}`, recorded: left, own: right ?? "nothing" };
    if (right === undefined) tell({ severity, kind: "header_missing", ...told });
    else if (hasValue && wordsOf(left) !== wordsOf(right))
      tell({ severity: "value", kind: "header_value", ...told });
  }
}

/** `GET, POST` and `POST,GET` say the same. */
const wordsOf = (text: string): string =>
  text
    .toLowerCase()
    .split(",")
    .map((it) => it.trim())
    .sort()
    .join(",");

type Content = { json: Json } | { other: string } | { unknown: true } | undefined;

/** What a body says; that of a side file, or one that was left out, is not known. */
function contentOf(body: TapeBody | undefined): Content {
  if (body === undefined) return undefined;
  if ("json" in body) return body;
  if ("text" in body) return body.text === "" ? undefined : { other: body.text };
  if ("b64" in body) return body.b64 === "" ? undefined : { other: body.b64 };
  return { unknown: true };
}

function compareBodies(recorded: AnswerLike, own: AnswerLike, tell: (it: Told) => void): void {
  const [left, right] = [contentOf(recorded.body), contentOf(own.body)];
  if (left === undefined && right === undefined) return;
  const told = { path: "body", recorded: wordFor(left), own: wordFor(right) };
  if (right === undefined) {
    tell({ severity: "break", kind: "body_missing", ...told });
    return;
  }
  if (left === undefined) {
    tell({ severity: "additive", kind: "body_extra", ...told });
    return;
  }
  compareTypesOfContent(recorded.headers, own.headers, tell);
  if ("unknown" in left || "unknown" in right) return;
  if ("json" in left && "json" in right) {
    compareJson(left.json, right.json, tell);
    return;
  }
  if ("json" in left || "json" in right) {
    tell({ severity: "break", kind: "type", ...told });
    return;
  }
  if (left.other !== right.other)
    tell({
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

function compareTypesOfContent(recorded: HeaderPairs, own: HeaderPairs, tell: (it: Told) => void): void {
  const [left, right] = [mediaType(recorded), mediaType(own)];
  if (left === right || left === undefined) return;
  tell({
    severity: "break",
    kind: "content_type",
    path: "headers.content-type",
    recorded: left,
    own: right ?? "nothing",
  });
}

/** Without parameters. */
const mediaType = (headers: HeaderPairs): string | undefined =>
  headerIn(headers, "content-type")?.split(";")[0]?.trim().toLowerCase();

function compareJson(recorded: Json, own: Json, tell: (it: Told) => void): void {
  if (isTooDeep(recorded) || isTooDeep(own)) {
    tell({ severity: "value", kind: "too_deep", path: "body", recorded: "JSON", own: "JSON" });
    return;
  }
  compareShapes(shapeOf([recorded]), shapeOf([own]), "body", tell);
  compareValues(recorded, own, "body", tell);
}
