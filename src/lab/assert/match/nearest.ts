import { isObject, type Json, own } from "../../../kernel/base/json.ts";
import { distance } from "../../../kernel/base/nearest.ts";
import type { StoredEvent } from "../../../state/journal/event.ts";
import { differences } from "./differences.ts";
import { fitsEvent, namePatterns } from "./evaluate.ts";
import { propertyOf } from "./operators.ts";
import { fits, shapeOf } from "./pattern.ts";
import type { NearMiss } from "./report-shapes.ts";
import type { Pattern } from "./types.ts";

/** Weight of the name; the rest is the share of properties that fit. */
const nameWeight = 0.65;
/** Points of a property that exists, but does not fit. */
const presence = 0.3;

const folded = (name: string): string => name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");
const words = (name: string): string[] =>
  name
    .replace(/(\p{Ll})(\p{Lu})/gu, "$1 $2")
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== "");

/** The share of equal letters of two names; 0 if it is less than two thirds. */
function spelling(a: string, b: string): number {
  const longest = Math.max(a.length, b.length);
  if (longest === 0 || longest > 64 || Math.min(a.length, b.length) * 3 < longest * 2) return 0;
  const share = 1 - distance(a, b) / longest;
  return share < 2 / 3 ? 0 : share;
}

/** The share of common words, in any order, with a discount; 0 if it is half or less. */
function wording(a: readonly string[], b: readonly string[]): number {
  const [left, right] = [new Set(a), new Set(b)];
  const common = [...left].filter((word) => right.has(word)).length;
  const share = common / Math.max(left.size, right.size, 1);
  return share > 0.5 ? share * 0.8 : 0;
}

/** The similarity of two event names, 0 to 1. */
export function likeness(a: string, b: string): number {
  if (a === b) return 1;
  const [left, right] = [folded(a), folded(b)];
  if (left !== "" && left === right) return 0.95;
  return Math.max(spelling(left, right) * 0.95, wording(words(a), words(b)));
}

function nameScore(patterns: readonly Pattern[], name: string): number | undefined {
  if (patterns.length === 0) return undefined;
  const scores = patterns.map((pattern) =>
    fits(pattern, name) ? 1 : typeof pattern === "string" ? likeness(pattern, name) : 0,
  );
  return Math.min(...scores);
}

interface Score {
  points: number;
  leaves: number;
}

function count(pattern: Pattern, value: Json | undefined, into: Score, depth = 0): Score {
  const shape = shapeOf(pattern);
  if (shape.is === "object" && depth < 10) {
    for (const [key, it] of Object.entries(shape.object)) {
      if (depth > 0 || key !== "event") count(it, propertyIn(value, propertyOf(key)), into, depth + 1);
    }
    return into;
  }
  if (shape.is === "operators" && Array.isArray(shape.object["@all"]) && depth === 0) {
    for (const it of shape.object["@all"]) count(it, value, into, depth);
    return into;
  }
  into.leaves += 1;
  into.points += fits(pattern, value) ? 1 : value === undefined ? 0 : presence;
  return into;
}

const propertyIn = (value: Json | undefined, property: string): Json | undefined =>
  isObject(value) ? own(value, property) : undefined;

/** How near an event is to a pattern, 0 to 1. */
function scoreOf(match: Pattern, event: StoredEvent, name: number | undefined): number {
  const { points, leaves } = count(match, event as unknown as Json, { points: 0, leaves: 0 });
  const rest = leaves === 0 ? 1 : points / leaves;
  const score = name === undefined ? rest : nameWeight * name + (1 - nameWeight) * rest;
  // 1 is for events that fit
  return Math.min(Math.round(score * 100) / 100, 0.99);
}

/**
 * The events nearest to a pattern that do not fit it, best first, of equal ones the newest first. The name has most
 * weight: an event with an unrelated name is no near miss. `score` is an estimate, useful for sorting only.
 */
export function nearestEvents(match: Pattern, events: readonly StoredEvent[], limit = 3): NearMiss[] {
  const patterns = namePatterns(match);
  const names = new Map<string, number | undefined>();
  const nameOf = (name: string) => {
    if (!names.has(name)) names.set(name, nameScore(patterns, name));
    return names.get(name);
  };
  return events
    .filter((event) => nameOf(event.event) !== 0 && !fitsEvent(match, event))
    .map((event) => ({ event, score: scoreOf(match, event, nameOf(event.event)) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score || b.event.seq - a.event.seq)
    .slice(0, limit)
    .map(({ event, score }) => missOf(match, event, score));
}

const missOf = (match: Pattern, event: StoredEvent, score: number): NearMiss => ({
  seq: event.seq,
  event: event.event,
  distinct_id: event.distinct_id,
  received_at: event.received_at,
  score,
  differences: differences(match, event as unknown as Json),
});
