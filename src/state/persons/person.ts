import { uuidV5 } from "../../kernel/base/ids.ts";
import type { Json, JsonObject } from "../../kernel/base/json.ts";

/** A stored person. Its distinct ids are kept beside it (store/ids.ts). */
export interface Person {
  project: number;
  uuid: string;
  /** ms since the epoch */
  created_at: number;
  is_identified: boolean;
  version: number;
  properties: JsonObject;
}

/** A stored group of a project: `type` is its index 0–4. */
export interface Group {
  project: number;
  type: number;
  key: string;
  created_at: number;
  properties: JsonObject;
}

export const maxGroupTypes = 5;

export const groupKeyText = (value: Json | undefined): string =>
  value === undefined || value === null ? "" : typeof value === "string" ? value : JSON.stringify(value);

/** The namespace of person ids. Upstream person-uuid.ts. */
const namespace = "932979b4-65c3-4424-8467-0b66ec27bc22";

/** The uuid of a person that an event with this id creates; also the uuid of personless events with it. */
export const personUuid = (project: number, distinctId: string): string =>
  uuidV5(namespace, `${project}:${distinctId}`);
