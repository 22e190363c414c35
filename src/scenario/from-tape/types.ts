import type { Json } from "../../base/json.ts";
import type { Scenario } from "../schema.ts";

export type Kind =
  | "users"
  | "organizations"
  | "projects"
  | "dashboards"
  | "insights"
  | "feature_flags"
  | "cohorts"
  | "batch_exports"
  | "persons";

/** How a document was seen: shown, made or changed by the request, or gone after it. */
export type How = "read" | "made" | "changed" | "gone";

/** A document in an answer. */
export interface Sighting {
  kind: Kind;
  /** Its id, or what stands for it: a user's address. */
  id: string;
  how: How;
  /** Number of its project, or the project's name in the path. */
  project?: string;
  fields: ReadonlyMap<string, Json>;
  /** Keys that the request set. */
  set?: ReadonlySet<string>;
}

/** A document as the tape has it. */
export interface Found {
  readonly kind: Kind;
  readonly id: string;
  project: string | undefined;
  readonly fields: Map<string, Json>;
  made: boolean;
  changed: boolean;
  gone: boolean;
}

/** What a flag was answered to be, where nobody asked for its rules. */
export interface AnsweredFlag {
  value: boolean | string;
  payload: Json | undefined;
  /** Others got another answer. */
  varies: boolean;
}

export interface FromTapeOptions {
  /**
   * `end` (default): the world as it was after the last exchange. `start`: as it was before the first one, to
   * send the requests again; what they made is not in it.
   */
  state?: "end" | "start";
  /** What the tape is called, for the header comment. */
  source?: string;
}

/** A scenario that was folded out of a tape. */
export interface TapeScenario {
  readonly scenario: Scenario;
  /** The same as an editable file, JSON with comments; what the tape does not say is marked. */
  readonly text: string;
  /** The scenario's keys by what stands for them on the tape. */
  readonly keys: ReadonlyMap<string, string>;
  readonly counts: Readonly<Record<string, number>>;
  /** What could not be taken over, a line each. */
  readonly leftOut: readonly string[];
  readonly exchanges: number;
  /** When the first exchange began, ISO 8601; undefined: there is none. */
  readonly firstAt: string | undefined;
}
