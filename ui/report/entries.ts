import { groupedBy } from "../../src/kernel/base/grouped-by.ts";
import type {
  ReportData,
  ReportedDecision,
  ReportedEvent,
  ReportedRequest,
} from "../../src/testing/run-report/report-data.ts";

/** What happened in a test at one moment. */
export type Entry =
  | { readonly kind: "event"; readonly at: number; readonly project: number | null; readonly it: ReportedEvent }
  | { readonly kind: "request"; readonly at: number; readonly project: number | null; readonly it: ReportedRequest }
  | { readonly kind: "flags"; readonly at: number; readonly project: number | null; readonly it: ReportedDecision };

/** Which entries are shown. */
export interface Choice {
  readonly text: string;
  readonly outcome: "all" | "kept" | "warned" | "dropped" | "rejected";
  readonly kinds: readonly Entry["kind"][];
}

/** A rejected request is lost traffic, and shown with the events. */
const isShown = (entry: Entry, { kinds }: Choice): boolean =>
  kinds.includes(entry.kind) || (entry.kind === "request" && entry.it.outcome === "rejected");

function hasOutcome(entry: Entry, { outcome }: Choice): boolean {
  if (outcome === "all") return true;
  if (entry.kind === "flags") return false;
  if (entry.kind === "request") return entry.it.outcome === outcome;
  if (outcome === "warned") return entry.it.outcome === "kept" && entry.it.warnings.length > 0;
  return entry.it.outcome === outcome;
}

/** Text in which is searched, in lower case. */
function textOf({ kind, it }: Entry): string {
  if (kind === "event")
    return `${it.event} ${it.distinct_id} ${it.reason ?? ""} ${it.warnings.join(" ")} ${JSON.stringify(it.properties)}`;
  if (kind === "request")
    return `${it.method} ${it.target} ${it.status} ${it.rejected?.reason ?? ""} ${it.rejected?.detail ?? ""} ${it.fault ?? ""}`;
  return `${it.distinct_id ?? ""} ${it.flags.map(({ key, value }) => `${key} ${String(value)}`).join(" ")}`;
}

/** All entries in order of time. */
export function entriesOf({ events, requests, decisions }: ReportData): Entry[] {
  const all: Entry[] = [
    ...events.map((it) => ({ kind: "event", at: Date.parse(it.received_at), project: it.project, it }) as const),
    ...requests.map((it) => ({ kind: "request", at: Date.parse(it.at), project: it.project, it }) as const),
    ...decisions.map((it) => ({ kind: "flags", at: Date.parse(it.at), project: it.project, it }) as const),
  ];
  return all.sort((a, b) => a.at - b.at);
}

/** The entries that are shown. */
export function chosen(entries: readonly Entry[], choice: Choice): Entry[] {
  const text = choice.text.trim().toLowerCase();
  return entries.filter(
    (it) => isShown(it, choice) && hasOutcome(it, choice) && (text === "" || textOf(it).toLowerCase().includes(text)),
  );
}

/** Entries by project; null: of none. */
export const byProject = (entries: readonly Entry[]): Map<number | null, Entry[]> =>
  groupedBy(entries, ({ project }) => project);
