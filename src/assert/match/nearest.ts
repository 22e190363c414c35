import { isObject, type Json, own } from "../../base/json.ts";
import { distance } from "../../base/nearest.ts";
import type { StoredEvent } from "../../journal/event.ts";
import { differences } from "./differences.ts";
import { fitsEvent, namePatterns } from "./judge.ts";
import { propertyOf } from "./operators.ts";
import { fits, shapeOf } from "./pattern.ts";
import type { NearMiss, Pattern } from "./types.ts";

/** What the name counts for; the rest is the share of properties that fit. */
const nameWeight = 0.65;
/** What a property that is there counts for, though it does not fit. */
const presence = 0.3;

const folded = (name: string): string => name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");
const words = (name: string): string[] =>
  name
    .replace(/(\p{Ll})(\p{Lu})/gu, "$1 $2")
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== "");

/** The share of letters that two names have alike, 0 when that is less than two thirds. */
function spelling(a: string, b: string): number {
  const longest = Math.max(a.length, b.length);
  if (longest === 0 || longest > 64 || Math.min(a.length, b.length) * 3 < longest * 2) return 0;
  const share = 1 - distance(a, b) / longest;
  return share < 2 / 3 ? 0 : share;
}

/** Do they consist of the same words in another order, or is one the other with a word more? */
function wording(a: readonly string[], b: readonly string[]): number {
  const [left, right] = [new Set(a), new Set(b)];
  const common = [...left].filter((word) => right.has(word)).length;
  const share = common / Math.max(left.size, right.size, 1);
  return share > 0.5 ? share * 0.8 : 0;
}

/** How alike two names of events are, 0 to 1. */
export function likeness(a: string, b: string): number {
  if (a === b) return 1;
  const [left, right] = [folded(a), folded(b)];
  if (left !== "" && left === right) return 0.95;
  return Math.max(spelling(left, right) * 0.95, wording(words(a), words(b)));
}

/** How well the name fits what the pattern says of it; undefined when that is nothing. */
function nameScore(patterns: readonly Pattern[], name: string): number | undefined {
  if (patterns.length === 0) return undefined;
  const scores = patterns.map((pattern) =>
    fits(pattern, name) ? 1 : typeof pattern === "string" ? likeness(pattern, name) : 0,
  );
  return Math.min(...scores);
}

interface Tally {
  points: number;
  leaves: number;
}

/** Counts the leaves of the pattern and how well each is met. */
function tally(pattern: Pattern, value: Json | undefined, into: Tally, depth = 0): Tally {
  const shape = shapeOf(pattern);
  if (shape.is === "object" && depth < 10) {
    for (const [key, it] of Object.entries(shape.object)) {
      if (depth > 0 || key !== "event") tally(it, propertyIn(value, propertyOf(key)), into, depth + 1);
    }
    return into;
  }
  if (shape.is === "operators" && Array.isArray(shape.object["@all"]) && depth === 0) {
    for (const it of shape.object["@all"]) tally(it, value, into, depth);
    return into;
  }
  into.leaves += 1;
  into.points += fits(pattern, value) ? 1 : value === undefined ? 0 : presence;
  return into;
}

const propertyIn = (value: Json | undefined, property: string): Json | undefined =>
  isObject(value) ? own(value, property) : undefined;

/** How near an event is to what was wanted, 0 to 1. */
function scoreOf(match: Pattern, event: StoredEvent, name: number | undefined): number {
  const { points, leaves } = tally(match, event as unknown as Json, { points: 0, leaves: 0 });
  const rest = leaves === 0 ? 1 : points / leaves;
  const score = name === undefined ? rest : nameWeight * name + (1 - nameWeight) * rest;
  // Only what fits has 1.
  return Math.min(Math.round(score * 100) / 100, 0.99);
}

/**
 * The events that come nearest to a pattern without fitting it, best first, of equals the newest. The name counts
 * most: an event with quite another name is none. `score` is a judgement, good for an order and no more.
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
