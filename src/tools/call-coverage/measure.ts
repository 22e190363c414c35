import { compareText } from "../../kernel/base/text.ts";
import type { FlagTotal } from "../../service/flags/decision-shapes.ts";
import type { CallCoverage } from "./shapes.ts";
import type { FoundSite, SourceFindings } from "./source-files.ts";

/** How often a value of a flag was used, and served. */
type FlagValueCounts = Map<string, { called: number; served: number }>;

export interface Fired {
  /** Kept events by name. */
  readonly events: Map<string, number>;
  readonly flags: Map<string, FlagValueCounts>;
}

interface FiredEvent {
  readonly event: string;
  readonly outcome?: string | undefined;
  readonly properties: Readonly<Record<string, unknown>>;
}

const textOf = (value: unknown): string | undefined =>
  typeof value === "boolean" || typeof value === "string" ? String(value) : undefined;

function addValue(fired: Fired, key: string, value: string, called: number, served: number): void {
  const values: FlagValueCounts = fired.flags.get(key) ?? new Map();
  const known = values.get(value) ?? { called: 0, served: 0 };
  values.set(value, { called: known.called + called, served: known.served + served });
  fired.flags.set(key, values);
}

/** Counts kept events, and the flags that were used as `$feature_flag_called` reports. */
export async function firedIn(events: AsyncIterable<FiredEvent>): Promise<Fired> {
  const fired: Fired = { events: new Map(), flags: new Map() };
  for await (const { event, outcome, properties } of events) {
    if (outcome === "dropped") continue;
    fired.events.set(event, (fired.events.get(event) ?? 0) + 1);
    const { $feature_flag: key, $feature_flag_response: response } = properties;
    const value = textOf(response);
    if (event === "$feature_flag_called" && typeof key === "string" && value !== undefined)
      addValue(fired, key, value, 1, 0);
  }
  return fired;
}

export function addServed(fired: Fired, totals: readonly Pick<FlagTotal, "key" | "values">[]): void {
  for (const { key, values } of totals) {
    for (const { value, served } of values) {
      const text = textOf(value);
      if (text !== undefined && served > 0) addValue(fired, key, text, 0, served);
    }
  }
}

type Site = CallCoverage["sites"][number];

const sumOf = (values: FlagValueCounts | undefined, by: "called" | "served"): number =>
  [...(values?.values() ?? [])].reduce((sum, it) => sum + it[by], 0);

function coveredSite({ isPayload, ...site }: FoundSite, { events, flags }: Fired): Site {
  if (site.name === null) return { ...site, state: "computed", count: 0 };
  if (site.kind !== "flag") {
    const count = events.get(site.name) ?? 0;
    return { ...site, state: count > 0 ? "fired" : "never", count };
  }
  const values = flags.get(site.name);
  const [called, served] = [sumOf(values, "called"), sumOf(values, "served")];
  const count = called === 0 && isPayload ? served : called;
  return { ...site, state: count > 0 ? "fired" : served > 0 ? "served" : "never", count };
}

/** Events of SDKs that no app captures by name. */
const sdkEvent = /^(\$|survey (shown|sent|dismissed)$)/;

function flagsOf(sites: readonly Site[], { flags }: Fired): CallCoverage["flags"]["keys"] {
  const keys = [...new Set(sites.flatMap(({ kind, name }) => (kind === "flag" && name !== null ? [name] : [])))];
  return keys.sort(compareText).map((key) => {
    const isRead = sites.some((it) => it.kind === "flag" && it.name === key && it.state === "fired");
    return { key, read: isRead, values: isRead ? [...(flags.get(key)?.keys() ?? [])].sort(compareText) : [] };
  });
}

/** Joins the call sites with what fired. A site counts as fired if an event of its name was kept, wherever it came from. */
export function measureCallCoverage(found: SourceFindings, fired: Fired): CallCoverage {
  const sites = found.sites.map((it) => coveredSite(it, fired));
  const named = sites.filter(({ state }) => state !== "computed");
  const covered = named.filter(({ state }) => state === "fired").length;
  const countsOf = (kind: Site["kind"]) => {
    const own = sites.filter((it) => it.kind === kind);
    const computed = own.filter(({ state }) => state === "computed").length;
    return { calls: own.length - computed, fired: own.filter((it) => it.state === "fired").length, computed };
  };
  const names = new Set(sites.filter(({ kind }) => kind === "event").map(({ name }) => name));
  const keys = flagsOf(sites, fired);
  return {
    schema_version: 1,
    percent: named.length === 0 ? 100 : Math.floor((covered / named.length) * 100),
    covered,
    total: named.length,
    events: countsOf("event"),
    identity: countsOf("identity"),
    exceptions: countsOf("exception"),
    flags: {
      ...countsOf("flag"),
      read: keys.filter(({ read }) => read).length,
      both: keys.filter(({ values }) => values.length > 1).length,
      keys,
    },
    sites,
    without_site: [...fired.events]
      .filter(([event]) => !names.has(event) && !sdkEvent.test(event))
      .map(([event, count]) => ({ event, count })),
    problems: [...found.problems],
    files: found.files,
  };
}
