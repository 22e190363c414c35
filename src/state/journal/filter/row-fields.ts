import type { Json } from "../../../kernel/base/json.ts";
import type { RequestRow } from "../feed/feed-row.ts";
import type { Field, FieldFacts, State } from "./language.ts";

const pathOf = (target: string): string => target.split("?", 1)[0] ?? "";

/** `/flags/`, `/flags` and `flags` are the same route. */
function routesOf({ target }: RequestRow): string[] {
  const path = pathOf(target);
  const short = path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path;
  return [path, short, path.slice(1), short.slice(1)];
}

/** `tape:checkout#12` also matches `tape`. */
const sourcesOf = ({ source }: RequestRow): string[] => [source, source.split(":", 1)[0] ?? ""];

/** Several faults may have affected it: all names together, and each one. */
const faultsOf = ({ fault }: RequestRow): string[] | null => (fault === null ? null : [fault, ...fault.split(", ")]);

const methods = ["GET", "POST", "PATCH", "PUT", "DELETE", "OPTIONS", "HEAD"];
const sources = ["emulator", "tape", "upstream", "script", "fault"];

export interface RowField extends FieldFacts {
  of(row: RequestRow): Json | undefined;
}

export const rowFields: readonly RowField[] = [
  {
    name: "route",
    aliases: ["path"],
    kind: "word",
    note: "path of the request, without its query",
    example: "route:/batch",
    offers: ["/batch", "/flags", "/i/v0/e", "/e", "/capture", "/decide"],
    of: routesOf,
  },
  {
    name: "target",
    aliases: ["url"],
    kind: "name",
    note: "path and query of the request",
    example: "target~v=2",
    of: (row) => row.target,
  },
  {
    name: "method",
    kind: "word",
    note: "method of the request",
    example: "method:POST",
    offers: methods,
    of: (row) => row.method,
  },
  {
    name: "status",
    kind: "number",
    note: "status of the response; 0 if a fault prevented it",
    example: "status:>=400",
    offers: ["200", "400", "401", "404", "413", "429", "503"],
    of: (row) => row.status,
  },
  { name: "ms", kind: "number", note: "time until the response, in ms", example: "ms:>100", of: (row) => row.ms },
  {
    name: "source",
    kind: "word",
    note: "source of the response",
    example: "source:tape",
    offers: sources,
    of: sourcesOf,
  },
  { name: "fault", kind: "word", note: "name of a fault that affected it", example: "fault:slow*", of: faultsOf },
  {
    name: "partition",
    kind: "name",
    note: "its X-Test-Id header",
    example: "partition:worker-1",
    of: (row) => row.partition,
  },
];

const times = ["1m", "5m", "1h", "1d"];

interface Timed {
  readonly row: { readonly at: number; readonly project: number | null };
}

export const arrivalFields = <Subject extends Timed>(): readonly Field<Subject>[] => [
  {
    name: "project",
    kind: "number",
    note: "number of the project; null where there is none",
    example: "project:1",
    index: "project",
    of: ({ row }) => row.project,
  },
  {
    name: "since",
    kind: "after",
    note: "arrived this long ago at most, or at this time or later",
    example: "since:5m",
    offers: times,
    of: ({ row }) => row.at,
  },
  {
    name: "until",
    kind: "before",
    note: "arrived this long ago at least, or at this time or earlier",
    example: "until:1h",
    offers: times,
    of: ({ row }) => row.at,
  },
  {
    name: "time",
    kind: "between",
    note: "arrived between these times",
    example: "time:2025-06-01T12:00:00Z..2025-06-01T12:05:00Z",
    of: ({ row }) => row.at,
  },
];

export const rowStates: readonly State<RequestRow>[] = [
  {
    name: "rejected",
    note: "the request was rejected whole",
    test: (row) => row.outcome === "rejected",
    indexed: { rejected: true },
  },
  {
    name: "unmatched",
    note: "the request's path does not exist",
    test: (row) => row.unmatched,
    indexed: { rejected: true },
    isWider: true,
  },
  { name: "faulted", note: "a fault affected it", test: (row) => row.fault !== null },
  { name: "scripted", note: "a script answered", test: (row) => row.source === "script" },
  { name: "replayed", note: "a tape answered", test: (row) => row.source.startsWith("tape:") },
  { name: "forwarded", note: "the upstream answered", test: (row) => row.source === "upstream" },
];
