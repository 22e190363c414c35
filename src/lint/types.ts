import type { JsonObject } from "../kernel/json.ts";
import type { DropReason, Warning } from "../model/outcome.ts";
import type { LintCode } from "./codes.ts";

/** `warning`: something is wrong; `hint`: it may be meant so. */
export type Severity = "warning" | "hint";

/** An event as it was sent, and what became of it. */
export interface LintEvent {
  seq: number;
  event: string;
  distinct_id: string;
  /** null when the sender gave none. */
  uuid: string | null;
  /** When it happened, ms since the epoch, as the sim understood it. */
  time: number;
  /** The text that was sent as its time. */
  timestamp: string | undefined;
  dropped: DropReason | undefined;
  warnings: readonly Warning[];
  properties: JsonObject;
  /** `$set` and `$set_once` that stand beside the properties. */
  set: JsonObject | undefined;
  setOnce: JsonObject | undefined;
}

/** Flags that a client was given for an id. */
export interface Serving {
  distinctId: string;
  /** An id that the client had before. */
  anonymousId: string | undefined;
  /** Flags that were asked for by name. */
  asked: readonly string[];
  /** undefined: they cannot be read from the journal. */
  values: ReadonlyMap<string, boolean | string> | undefined;
}

/** A request as the rules see it; those that belong to no project are not looked at. */
export interface LintRequest {
  n: number;
  /** Arrival, and when it was answered, ms since the epoch. */
  at: number;
  answeredAt: number;
  project: number;
  /** About how many bytes its body has, decoded. */
  bytes: number;
  /** How many are taken; undefined where it carries no events. */
  mostBytes: number | undefined;
  /** Is it marked as a `historical_migration`? */
  isHistorical: boolean;
  /** Can its events' times be compared with its arrival? Not when the sim's clock is set and the sender tells no `sent_at`. */
  isTimed: boolean;
  /** `posthog-node`, from the User-Agent; undefined for browsers and strangers. */
  sender: string | undefined;
  serving: Serving | undefined;
  /** Did the sender fetch the flags' definitions, to evaluate them by itself? */
  fetchesDefinitions: boolean;
  events: readonly LintEvent[];
}

/** What a rule has to say about an event, or about a request. */
export interface Remark {
  code: LintCode;
  /** Name of the event; null: the request is meant. */
  event: string | null;
  /** What of it: alike remarks about the same subject count as one. */
  subject: string;
  /** What was seen, in a few words; never a captured value that may be private. */
  detail: string;
  seq: number | null;
}

/** Where rules put what they have to say. */
export interface Remarks {
  tell(remark: Remark): void;
  /** What was told of this code and subject, whatever the event, turned out to be wrong. */
  withdraw(code: LintCode, subject: string): void;
}

/** Looks at the requests of one project, in order; remembers what it needs, never more than a limit. */
export interface Rule {
  look(request: LintRequest, remarks: Remarks): void;
}

/** What rules may ask. */
export interface LintPort {
  /** Is there such a group in the project? */
  hasGroup(project: number, type: string, key: string): boolean;
}

/** What a project's rules are made with. */
export interface RuleContext {
  project: number;
  port: LintPort;
  /** Was every request of the project looked at, from its first on? */
  isWhole(): boolean;
}

/** Alike remarks, counted. */
export interface LintFinding {
  code: LintCode;
  severity: Severity;
  sentence: string;
  fix: string;
  project: number;
  event: string | null;
  detail: string;
  first_seq: number | null;
  last_seq: number | null;
  count: number;
  /** Number of the last request that showed it. */
  n: number;
}
