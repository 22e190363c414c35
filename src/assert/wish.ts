import { SimError } from "../base/errors.ts";
import { isObject, type Json, type JsonObject } from "../base/json.ts";
import { allowKeys, wholeNumber } from "../http/control-body.ts";
import type { ControlDesk } from "../sim/control-desk.ts";
import { patternIn } from "./asked-pattern.ts";
import { defaultSettle, defaultWait } from "./match/patience.ts";
import type { Count, Expectation, Terms } from "./match/types.ts";

/** A wait never holds a connection longer than this, ms. */
export const longestWait = 60_000;
const most = Number.MAX_SAFE_INTEGER;
/** Limits of what one call can ask for. */
export const mostPatterns = 100;
export const mostEvents = 100_000;
export const longestTitle = 1_000;

/** In which stretch of the log to look. */
export interface Scope {
  project?: number;
  since: number;
}

/** What is wanted, and how long to wait for it. */
export interface Wish {
  terms: Terms;
  scope: Scope;
  outcome: "kept" | "dropped";
  timeout: number;
  /** First line of the report. */
  title: string;
}

const wrong = (detail: string, pointer: string, hint?: string): SimError =>
  new SimError("invalid_input", detail, hint === undefined ? { pointer } : { pointer, hint });

/** The project that a body names; it must be there. @throws SimError invalid_input */
export function projectIn({ worlds }: Pick<ControlDesk, "worlds">, body: JsonObject): { project?: number } {
  if (body.project === undefined || body.project === null) return {};
  const project = wholeNumber(body, "project", 0, { min: 0, max: most });
  if (worlds.projectById(project)) return { project };
  throw wrong(`there is no project ${project}`, "/project", "GET /__sim/info lists the projects");
}

export const scopeIn = (desk: Pick<ControlDesk, "worlds">, body: JsonObject): Scope => ({
  ...projectIn(desk, body),
  since: wholeNumber(body, "since", 0, { min: 0, max: most }),
});

export const timeoutIn = (body: JsonObject): number =>
  wholeNumber(body, "timeout_ms", defaultWait, { min: 0, max: longestWait });

const settleIn = (body: JsonObject): number =>
  wholeNumber(body, "settle_ms", defaultSettle, { min: 0, max: longestWait });

/** One of two words, or the first of them. @throws SimError invalid_input */
function outcomeIn({ outcome = "kept" }: JsonObject): Wish["outcome"] {
  if (outcome === "kept" || outcome === "dropped") return outcome;
  throw wrong('"outcome" must be kept or dropped', "/outcome");
}

function flagIn(body: JsonObject, key: string): boolean {
  const value = body[key] ?? false;
  if (typeof value === "boolean") return value;
  throw wrong(`"${key}" must be true or false`, `/${key}`);
}

function titleIn({ title }: JsonObject, fallback: () => string): string {
  if (title === undefined || title === null) return fallback();
  if (typeof title === "string" && title.length <= longestTitle) return title;
  throw wrong(`"title" must be a text of at most ${longestTitle} characters`, "/title");
}

function listIn(body: JsonObject, key: string, least: number): readonly Json[] {
  const value = body[key];
  if (Array.isArray(value) && value.length >= least && value.length <= mostPatterns) return value;
  throw wrong(`"${key}" must be a list of ${least} to ${mostPatterns} items`, `/${key}`);
}

/** JSON on a line that fits a title. */
const shortly = (value: unknown): string => {
  const text = JSON.stringify(value);
  return text.length > 200 ? `${text.slice(0, 199)}…` : text;
};

function waitTerms(body: JsonObject): Terms {
  if (body.sequence === undefined) {
    const count = wholeNumber(body, "count", 1, { min: 1, max: mostEvents });
    return { expect: [{ match: patternIn(body.match ?? {}, "/match"), count: { min: count } }] };
  }
  const [other] = ["match", "count"].filter((key) => body[key] !== undefined);
  if (other !== undefined) throw wrong(`"${other}" and "sequence" exclude each other`, `/${other}`);
  const patterns = listIn(body, "sequence", 1);
  return { expect: patterns.map((it, i) => ({ match: patternIn(it, `/sequence/${i}`) })), ordered: true };
}

function waitTitle({ match = {}, sequence, count = 1 }: JsonObject): string {
  if (sequence !== undefined) return `wait for the sequence ${shortly(sequence)}`;
  return count === 1 ? `wait for ${shortly(match)}` : `wait for ${count} × ${shortly(match)}`;
}

/** What POST /__sim/events/wait asks for. @throws SimError invalid_input */
export function waitWish(desk: Pick<ControlDesk, "worlds">, body: JsonObject): Wish {
  allowKeys(body, ["match", "sequence", "count", "project", "since", "outcome", "timeout_ms", "title"]);
  return {
    terms: waitTerms(body),
    scope: scopeIn(desk, body),
    outcome: outcomeIn(body),
    timeout: timeoutIn(body),
    title: titleIn(body, () => waitTitle(body)),
  };
}

const isCount = (value: Json | undefined): value is number =>
  typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= mostEvents;

const countHint = '3 (exactly), {"min": 1}, {"max": 0}, or {"min": 1, "max": 3}';

function limitIn(count: JsonObject, key: "min" | "max", pointer: string): Count {
  const value = count[key];
  if (value === undefined || value === null) return {};
  if (isCount(value)) return { [key]: value };
  throw wrong(`"${key}" must be a whole number from 0 to ${mostEvents}`, `${pointer}/${key}`);
}

/** A number means exactly so many. */
function countIn(value: Json, pointer: string): Count {
  if (isCount(value)) return { min: value, max: value };
  if (!isObject(value)) throw wrong('"count" must be a whole number, or limits', pointer, countHint);
  allowKeys(value, ["min", "max"], pointer);
  const count = { ...limitIn(value, "min", pointer), ...limitIn(value, "max", pointer) };
  const { min = 0, max = Number.POSITIVE_INFINITY } = count;
  if (min > max) throw wrong('"min" is larger than "max"', pointer);
  return count;
}

function expectationIn(value: Json, pointer: string): Expectation {
  if (!isObject(value))
    throw wrong("an expectation must be an object", pointer, '{"match": {…}, "count": 1}');
  allowKeys(value, ["match", "count"], pointer);
  const match = patternIn(value.match, `${pointer}/match`);
  const { count } = value;
  return count === undefined || count === null
    ? { match }
    : { match, count: countIn(count, `${pointer}/count`) };
}

export interface VerifyWish extends Wish {
  settle: number;
}

const verifyKeys = [
  "expect",
  "ordered",
  "nothing_else",
  "project",
  "since",
  "timeout_ms",
  "settle_ms",
  "title",
];

/** What POST /__sim/events/verify asks for. @throws SimError invalid_input */
export function verifyWish(desk: Pick<ControlDesk, "worlds">, body: JsonObject): VerifyWish {
  allowKeys(body, verifyKeys);
  const nothingElse = flagIn(body, "nothing_else");
  const expect = listIn(body, "expect", nothingElse ? 0 : 1);
  return {
    terms: {
      expect: expect.map((it, i) => expectationIn(it, `/expect/${i}`)),
      ordered: flagIn(body, "ordered"),
      nothingElse,
    },
    scope: scopeIn(desk, body),
    outcome: "kept",
    timeout: timeoutIn(body),
    settle: settleIn(body),
    title: titleIn(body, () => `verify ${shortly(expect)}`),
  };
}
