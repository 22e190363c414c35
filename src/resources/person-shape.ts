import { z } from "zod";
import type { Call } from "../http/call.ts";
import type { Json, JsonObject } from "../kernel/json.ts";
import type { Person } from "../model/person.ts";
import { wireTime } from "../model/time.ts";
import { linkWith, windowOf } from "./page.ts";

/** Persons as the management API shows them. Upstream PostHog/posthog posthog/api/person.py. */
export const PersonShape = z
  .object({
    /** The uuid: the sim has no numbers for persons. */
    id: z.string(),
    name: z.string(),
    distinct_ids: z.array(z.string()),
    properties: z.record(z.string(), z.json()),
    created_at: z.string(),
    uuid: z.string(),
  })
  .meta({ title: "Person" });

/** A person with the ids that it owns, oldest first. */
export interface KnownPerson extends Person {
  readonly distinct_ids: readonly string[];
}

const nameProperties = ["email", "Email", "$email", "name", "Name", "username", "Username", "UserName"];

/** Ids that SDKs make for who is not known yet look like UUIDs. */
const isAnonymous = (id: string): boolean => /^([a-z0-9]+-){4}[a-z0-9]+$/i.test(id);

const known = (value: Json | undefined): boolean => Boolean(value);

function nameOf(properties: JsonObject, ids: readonly string[], uuid: string): string {
  const name = nameProperties.map((key) => properties[key]).find(known);
  if (name !== undefined) return typeof name === "string" ? name : JSON.stringify(name);
  return ids[0] ?? uuid;
}

export function showPerson(person: KnownPerson): z.infer<typeof PersonShape> {
  const { uuid, properties } = person;
  // Ids that somebody chose come first.
  const ids = [...person.distinct_ids].sort((a, b) => Number(isAnonymous(a)) - Number(isAnonymous(b)));
  return {
    id: uuid,
    name: nameOf(properties, ids, uuid),
    distinct_ids: ids,
    properties,
    created_at: wireTime(person.created_at),
    uuid,
  };
}

/** Links of a list of persons, which is not counted: a full page has a next one, even where that is empty. */
export function personLinks(call: Call, shown: number): { next: string | null; previous: string | null } {
  const { limit, offset } = windowOf(call);
  const before = offset - limit;
  return {
    next: shown >= limit ? linkWith(call, { offset: String(offset + limit) }) : null,
    previous: before >= 0 ? linkWith(call, { offset: before === 0 ? null : String(before) }) : null,
  };
}
