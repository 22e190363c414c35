import type { Json, JsonObject } from "../../kernel/base/json.ts";
import { readDuration } from "../../kernel/base/time-text.ts";
import type { PersonaStep, PersonaValue, PersonaValues } from "./shapes.ts";

/** Numbers from 0 up to 1. */
export type Random = () => number;

/** Chooses a value; `number` is that of the user. */
type Draw = (random: Random, number: number) => Json;

export type DrawAll = (target: JsonObject, random: Random, number: number) => void;

export function weighted(weights: readonly number[]): (random: Random) => number {
  const total = weights.reduce((sum, it) => sum + it, 0);
  return (random) => {
    let rest = random() * total;
    for (let i = 0; i < weights.length; i++) {
      rest -= weights[i] ?? 0;
      if (rest < 0) return i;
    }
    return weights.findLastIndex((it) => it > 0);
  };
}

const oneOf = (values: readonly Json[], weights: readonly number[]): Draw => {
  const index = weighted(weights);
  return (random) => values[index(random)] ?? null;
};

function numberFrom(from: number, to: number, decimals: number, isLow: boolean): Draw {
  const scale = 10 ** decimals;
  const rounded = (value: number): number => Math.round(value * scale) / scale;
  if (isLow) return (random) => rounded(from * (to / from) ** random());
  return (random) => rounded(from + (to - from) * random());
}

const letters = "0123456789abcdefghjkmnpqrstvwxyz";

function newId(random: Random): string {
  let text = "";
  for (let i = 0; i < 8; i++) text += letters[Math.floor(random() * 32)];
  return text;
}

function drawOf(value: PersonaValue): Draw {
  if (typeof value === "string" && value.includes("{n}")) return (_, number) => value.replaceAll("{n}", String(number));
  if (typeof value !== "object" || value === null || Array.isArray(value)) return () => value;
  if ("id" in value) return (random) => value.id + newId(random);
  if ("from" in value) return numberFrom(value.from, value.to, value.decimals ?? 0, value.spread === "low");
  const { one_of: choices } = value;
  return Array.isArray(choices)
    ? oneOf(choices, new Array(choices.length).fill(1))
    : oneOf(Object.keys(choices), Object.values(choices));
}

export function drawerOf(values: PersonaValues = {}): DrawAll {
  const draws = Object.entries(values).map(([key, value]) => [key, drawOf(value)] as const);
  return (target, random, number) => {
    for (const [key, draw] of draws) target[key] = draw(random, number);
  };
}

/** A time between two events in ms; short ones are more frequent. */
export function spanOf(after: PersonaStep["after"] = ["5s", "2m"]): (random: Random) => number {
  const [from = 0, to = from] = [after].flat().map((text) => readDuration(text) ?? 0);
  const least = Math.max(1, from);
  return (random) => Math.round(least * (Math.max(to, least) / least) ** random());
}

/** A whole number: one, or from the least to the most. */
export function countOf(count: PersonaStep["times"] = 1): (random: Random) => number {
  const [least = 1, most = least] = [count].flat();
  return (random) => least + Math.floor(random() * (most - least + 1));
}
