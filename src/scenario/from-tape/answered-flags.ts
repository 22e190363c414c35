import { isObject, type Json, type JsonObject, own } from "../../base/json.ts";
import type { Exchange } from "../../tapes/format/exchange.ts";
import { projectKeyOf } from "./keys.ts";
import { jsonOf } from "./sightings.ts";
import type { AnsweredFlag } from "./types.ts";

type Answer = Omit<AnsweredFlag, "varies">;

const mostFlags = 5000;

/** Decisions of flags as answers tell them, by the project key that asked. */
export function createAnsweredFlags() {
  const byKey = new Map<string, Map<string, AnsweredFlag>>();
  let size = 0;

  function note(flags: Map<string, AnsweredFlag>, name: string, answer: Answer): void {
    const known = flags.get(name);
    if (known) known.varies ||= known.value !== answer.value;
    else if (size++ < mostFlags) flags.set(name, { ...answer, varies: false });
  }

  return {
    see(exchange: Exchange): void {
      const body = jsonOf(exchange.res);
      if (exchange.route !== "flags" || exchange.res?.status !== 200 || !isObject(body)) return;
      const key = projectKeyOf(exchange) ?? "";
      const flags = byKey.get(key) ?? new Map<string, AnsweredFlag>();
      byKey.set(key, flags);
      for (const [name, answer] of answersIn(body)) note(flags, name, answer);
    },
    of: (key: string): ReadonlyMap<string, AnsweredFlag> => byKey.get(key) ?? new Map(),
  };
}

/** Both forms: `flags` with details, and `featureFlags` with values only. */
function answersIn(body: JsonObject): [string, Answer][] {
  const flags = own(body, "flags");
  if (isObject(flags)) return Object.entries(flags).flatMap(([name, it]) => detailed(name, it));
  const values = own(body, "featureFlags");
  const payloads = own(body, "featureFlagPayloads");
  const payloadOf = (name: string) => (isObject(payloads) ? own(payloads, name) : undefined);
  if (!isObject(values)) return [];
  return Object.entries(values).flatMap(([name, value]) =>
    isValue(value) ? [[name, { value, payload: parsed(payloadOf(name)) }]] : [],
  );
}

const isValue = (value: Json | undefined): value is boolean | string =>
  typeof value === "boolean" || (typeof value === "string" && value !== "");

function detailed(name: string, it: Json): [string, Answer][] {
  if (!isObject(it)) return [];
  const variant = own(it, "variant");
  const metadata = own(it, "metadata");
  const payload = isObject(metadata) ? parsed(own(metadata, "payload")) : undefined;
  const value = isValue(variant) ? variant : own(it, "enabled") === true;
  return [[name, { value, payload }]];
}

/** Payloads travel as JSON text. */
function parsed(payload: Json | undefined): Json | undefined {
  if (typeof payload !== "string") return payload ?? undefined;
  try {
    return JSON.parse(payload);
  } catch {
    return payload;
  }
}
