import { deserialize, serialize } from "node:v8";
import { type ErrorCode, type ErrorExtra, SimError, stackOf } from "../../../kernel/base/errors.ts";
import type { LineBytes } from "../../../state/journal/log/log-scan.ts";
import type { QueryAction, QueryExperiment, QueryGroup, QueryPerson, QueryProject } from "../kind.ts";

/** Where the kinds of a query are listed: `FunnelsQuery` is in both. */
export type KindList = "queries" | "dropOffs";

export interface ComputeJob {
  readonly list: KindList;
  readonly kind: string;
  /** As the kind's shape reads it. */
  readonly query: unknown;
  readonly of: number;
  readonly project: Pick<QueryProject, "now" | "timeZone" | "weekStart" | "testAccountFilters">;
  /** Time that it may take, ms. */
  readonly mostMs: number;
}

interface DataState {
  /** Another number once events of the project went, or came back; and once its people changed. */
  readonly epoch: number;
  readonly people: number;
  /** Seq of the first event whose line is held, and of the last one that is written. */
  readonly firstHeld: number;
  readonly last: number;
}

/** What the process of queries asks for, with the reply to each. */
export interface Asked {
  state: { readonly of: undefined; readonly reply: DataState };
  /** The lines with kept events behind one seq, up to another, in order. The last piece of a line has its seqs. */
  lines: { readonly of: { readonly since: number; readonly until: number }; readonly reply: readonly LineBytes[] };
  action: { readonly of: number; readonly reply: QueryAction | undefined };
  experiment: { readonly of: number; readonly reply: QueryExperiment | undefined };
  cohort: { readonly of: number; readonly reply: string | undefined };
  members: { readonly of: number; readonly reply: readonly string[] };
  /** Uuids of the persons that have some distinct ids, in the same order. */
  owners: { readonly of: readonly string[]; readonly reply: readonly (string | null)[] };
  persons: { readonly of: undefined; readonly reply: readonly QueryPerson[] };
  groups: { readonly of: undefined; readonly reply: readonly QueryGroup[] };
}
type AskedName = keyof Asked;

export type AskedQuestion = {
  readonly [Name in AskedName]: { readonly what: Name; readonly of: Asked[Name]["of"] };
}[AskedName];

export type AskSim = <Name extends AskedName>(what: Name, of: Asked[Name]["of"]) => Asked[Name]["reply"];

export type ToWorker =
  | { readonly is: "job"; readonly job: ComputeJob }
  /** A part of a list that is asked for; `listed` follows the last one. */
  | { readonly is: "part"; readonly list: readonly unknown[] }
  | { readonly is: "listed" }
  | { readonly is: "reply"; readonly reply: unknown }
  | { readonly is: "failed"; readonly error: SentError };

export type FromWorker =
  | { readonly is: "ask"; readonly question: AskedQuestion }
  /** The fields of the response as JSON; `results` apart if they are long. */
  | { readonly is: "done"; readonly json: Uint8Array; readonly results: Uint8Array | undefined }
  | { readonly is: "failed"; readonly error: SentError };

/** An error as a message; one without a code is a bug. */
export interface SentError {
  readonly code?: ErrorCode;
  readonly text: string;
  readonly extra?: Omit<ErrorExtra, "cause">;
}

export function sentError(error: unknown): SentError {
  if (!(error instanceof SimError)) return { text: stackOf(error) };
  const { cause: _, ...extra } = error.extra;
  return { code: error.code, text: error.message, extra };
}

export const errorOf = ({ code, text, extra }: SentError): Error =>
  code === undefined ? new Error(text) : new SimError(code, text, extra);

/** Bytes of the number in front of each message: its length. */
export const headerLength = 4;

export function frameOf(message: ToWorker | FromWorker): [header: Buffer, content: Buffer] {
  const content = serialize(message);
  const header = Buffer.alloc(headerLength);
  header.writeUInt32LE(content.length);
  return [header, content];
}

export const messageIn = <Message>(content: Buffer): Message => deserialize(content);
