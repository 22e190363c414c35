import type { JsonObject } from "../base/json.ts";

/** A stored person. Its distinct ids are kept beside it (store/people.ts). */
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

/** The service knows at most this many group types in a project. */
export const maxGroupTypes = 5;
