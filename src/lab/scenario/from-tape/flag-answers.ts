import { isObject, type Json, own } from "../../../kernel/base/json.ts";
import { servedValueOf } from "../../../state/documents/flag-config.ts";
import type { Exchange } from "../../tapes/format/exchange.ts";
import { jsonOf, projectKeyOf } from "./project-keys.ts";

export interface FlagAnswer {
  readonly value: boolean | string;
  readonly payload: Json | undefined;
}

const maxFlags = 5000;

export class FlagAnswers {
  readonly #byKey = new Map<string, Map<string, FlagAnswer>>();
  #size = 0;

  see(exchange: Exchange): void {
    if (exchange.route !== "flags" || exchange.res?.status !== 200) return;
    const key = projectKeyOf(exchange) ?? "";
    const flags = this.#byKey.get(key) ?? new Map<string, FlagAnswer>();
    this.#byKey.set(key, flags);
    for (const [name, answer] of flagAnswersIn(jsonOf(exchange.res))) {
      if (!flags.has(name) && this.#size++ < maxFlags) flags.set(name, answer);
    }
  }

  of(keys: readonly string[]): ReadonlyMap<string, FlagAnswer> {
    return new Map(keys.flatMap((key) => [...(this.#byKey.get(key) ?? [])]));
  }
}

/** The decisions in an answer: `flags` with details, or `featureFlags` with values or as a list of names. */
function flagAnswersIn(body: Json | undefined): [name: string, answer: FlagAnswer][] {
  if (!isObject(body)) return [];
  const flags = own(body, "flags");
  if (isObject(flags)) return Object.entries(flags).flatMap(([name, it]) => detailed(name, it));
  const values = own(body, "featureFlags");
  const payloads = own(body, "featureFlagPayloads");
  const payloadOf = (name: string) => (isObject(payloads) ? own(payloads, name) : undefined);
  if (Array.isArray(values)) return values.map((it) => [String(it), { value: true, payload: undefined }]);
  return Object.entries(isObject(values) ? values : {}).flatMap(([name, value]) =>
    isValue(value) ? [[name, { value, payload: parsed(payloadOf(name)) }]] : [],
  );
}

const isValue = (value: Json | undefined): value is boolean | string =>
  typeof value === "boolean" || (typeof value === "string" && value !== "");

function detailed(name: string, it: Json): [string, FlagAnswer][] {
  if (!isObject(it)) return [];
  const metadata = own(it, "metadata");
  const payload = isObject(metadata) ? parsed(own(metadata, "payload")) : undefined;
  const typed = own(it, "value");
  const isPayload = typeof typed === "number" || isObject(typed);
  const value = own(it, "variant") === "" ? own(it, "enabled") === true : servedValueOf(it);
  return [[name, { value, payload: isPayload ? typed : payload }]];
}

/** Payloads are JSON text. */
function parsed(payload: Json | undefined): Json | undefined {
  if (typeof payload !== "string") return payload ?? undefined;
  try {
    return JSON.parse(payload);
  } catch {
    return payload;
  }
}
