import type { Column, EventTable, Steps } from "../table.ts";
import { hostOf, pathOf } from "./functions/strings.ts";
import { propertyText } from "./properties.ts";
import { Refusal } from "./refusal.ts";
import type { Member, RowSource, Table } from "./source.ts";
import type { ClockZone } from "./time.ts";
import { type HogQLValue, string, type Type } from "./types.ts";
import { defaultOf } from "./values.ts";

/** Rows between two yields: each row is seen by all columns. */
const rowsPerTurn = 4096;

const year = 31_536_000_000;
/** A session of one page view is a bounce below this length, s. */
const bounceSeconds = 10;

/** Properties of the first page view or screen that has them; of another event if none has. */
const entryProperties: Readonly<Record<string, string>> = {
  $entry_current_url: "$current_url",
  $entry_referring_domain: "$referring_domain",
  $entry_utm_source: "utm_source",
  $entry_utm_campaign: "utm_campaign",
  $entry_utm_medium: "utm_medium",
  $entry_utm_term: "utm_term",
  $entry_utm_content: "utm_content",
  $entry_gclid: "gclid",
  $entry_gad_source: "gad_source",
  $entry_fbclid: "fbclid",
};

const counted: Readonly<Record<string, string>> = {
  $pageview_count: "$pageview",
  $autocapture_count: "$autocapture",
  $screen_count: "$screen",
};

/** Names that the service has and the sim does not. */
export const absentSessionColumns: readonly string[] = [
  "$channel_type",
  "session_id_v7",
  "max_inserted_at",
  "$entry_has_gclid",
  "$entry_has_fbclid",
];

/** A value of each session; sessions are numbered by their first rows. */
interface SessionColumn {
  readonly type: Type;
  value(code: number): HogQLValue;
}

/**
 * The sessions of the events of a table: the events with the same `$session_id`.
 * Upstream posthog/hogql/database/schema/sessions_v3.py.
 */
export function createSessions(
  table: EventTable,
  zone: ClockZone,
): { sessions: Table; source: RowSource; prepare(): Steps<void> } {
  const tasks: ((row: number, code: number) => void)[] = [];
  const known = new Map<string, SessionColumn>();
  let numbers: Map<string, number> | undefined;
  let codes = new Int32Array(0);

  /** Number of each id; and of each row, -1 for none. */
  const sessionIds = (): Map<string, number> => {
    if (numbers) return numbers;
    const ids = table.property("$session_id");
    const found = new Map<string, number>();
    codes = Int32Array.from({ length: table.length }, (_, row) => {
      const id = propertyText(ids(row)) ?? "";
      if (id !== "" && !found.has(id)) found.set(id, found.size);
      return found.get(id) ?? -1;
    });
    numbers = found;
    return found;
  };
  const size = (): number => sessionIds().size;

  const isPage = (row: number): boolean => {
    const name = table.name(row);
    return name === "$pageview" || name === "$screen";
  };

  /** Time of the first (1) or last (-1) event. */
  function bound(sign: 1 | -1): SessionColumn {
    const times = new Float64Array(size()).fill(sign * Number.POSITIVE_INFINITY);
    tasks.push((row, code) => {
      const time = table.time(row);
      if (sign * (time - (times[code] ?? 0)) < 0) times[code] = time;
    });
    return { type: { kind: "DateTime64", zone: zone.name }, value: (code) => times[code] ?? 0 };
  }
  /** Value of a column in the first (1) or last (-1) event that has one. */
  function picked(column: Column, sign: 1 | -1, prefersPages: boolean): SessionColumn {
    const best = new Float64Array(size()).fill(sign * Number.POSITIVE_INFINITY);
    const texts: string[] = [];
    tasks.push((row, code) => {
      const text = propertyText(column(row));
      if (text === null) return;
      const time = table.time(row) + (prefersPages && !isPage(row) ? sign * year : 0);
      if (sign * (time - (best[code] ?? 0)) >= 0) return;
      best[code] = time;
      texts[code] = text;
    });
    return { type: { ...string, nullable: true }, value: (code) => texts[code] ?? null };
  }
  function count(passes: (row: number) => boolean): SessionColumn {
    const counts = new Uint32Array(size());
    tasks.push((row, code) => {
      if (passes(row)) counts[code] = (counts[code] ?? 0) + 1;
    });
    return { type: { kind: "UInt64" }, value: (code) => counts[code] ?? 0 };
  }
  const isNamed = (name: string) => (row: number) => table.name(row) === name;

  function urls(): SessionColumn {
    const column = table.property("$current_url");
    const sets = new Map<number, Set<string>>();
    tasks.push((row, code) => {
      const url = propertyText(column(row));
      if (url === null || !isPage(row)) return;
      sets.set(code, (sets.get(code) ?? new Set()).add(url));
    });
    return { type: { kind: "Array", item: string }, value: (code) => [...(sets.get(code) ?? [])] };
  }
  const derived = (from: string, type: Type, read: (value: HogQLValue) => HogQLValue): SessionColumn => {
    const of = columnOf(from);
    return { type, value: (code) => read(of?.value(code) ?? null) };
  };
  const urlPart = (from: string, read: (url: string) => string): SessionColumn =>
    derived(from, { ...string, nullable: true }, (url) => (url === null ? null : read(String(url))));

  function duration(): SessionColumn {
    const [from, to] = [columnOf("$start_timestamp"), columnOf("$end_timestamp")];
    const seconds = (time: HogQLValue | undefined) => Math.floor(Number(time ?? 0) / 1000);
    return { type: { kind: "Int64" }, value: (code) => seconds(to?.value(code)) - seconds(from?.value(code)) };
  }
  function bounce(): SessionColumn {
    const all = count((row) => isPage(row) || isNamed("$autocapture")(row));
    const length = columnOf("$session_duration");
    return {
      type: { kind: "UInt8", nullable: true },
      value(code) {
        if (all.value(code) === 0) return null;
        return Number(!(Number(all.value(code)) > 1 || Number(length?.value(code) ?? 0) >= bounceSeconds));
      },
    };
  }

  const makers: Readonly<Record<string, () => SessionColumn>> = {
    session_id() {
      const ids = [...sessionIds().keys()];
      return { type: string, value: (code) => ids[code] ?? "" };
    },
    id: () => columnOf("session_id") ?? duration(),
    distinct_id: () => ({ ...picked(table.distinctId, -1, false), type: string }),
    person_id: () => ({ ...picked(table.person, -1, false), type: { kind: "UUID" } }),
    $start_timestamp: () => bound(1),
    $end_timestamp: () => bound(-1),
    $urls: urls,
    $num_uniq_urls: () =>
      derived("$urls", { kind: "UInt64" }, (all) => (typeof all === "object" && all !== null ? all.length : 0)),
    $entry_pathname: () => urlPart("$entry_current_url", pathOf),
    $entry_hostname: () => urlPart("$entry_current_url", hostOf),
    $end_current_url: () => picked(table.property("$current_url"), -1, true),
    $exit_current_url: () => columnOf("$end_current_url") ?? urls(),
    $end_pathname: () => urlPart("$end_current_url", pathOf),
    $exit_pathname: () => urlPart("$end_current_url", pathOf),
    $end_hostname: () => urlPart("$end_current_url", hostOf),
    $last_external_click_url: () => picked(table.property("$external_click_url"), -1, false),
    $session_duration: duration,
    duration,
    $is_bounce: bounce,
  };
  function make(name: string): SessionColumn | undefined {
    const entry = Object.hasOwn(entryProperties, name) ? entryProperties[name] : undefined;
    if (entry !== undefined) return picked(table.property(entry), 1, true);
    const event = Object.hasOwn(counted, name) ? counted[name] : undefined;
    if (event !== undefined) return count(isNamed(event));
    return Object.hasOwn(makers, name) ? makers[name]?.() : undefined;
  }
  function columnOf(name: string): SessionColumn | undefined {
    if (absentSessionColumns.includes(name)) throw new Refusal(`The column ${name} of sessions is not emulated`);
    sessionIds();
    const found = known.get(name) ?? make(name);
    if (found) known.set(name, found);
    return found;
  }

  const all = [...Object.keys(makers), ...Object.keys(entryProperties), ...Object.keys(counted)];
  function* prepare(): Steps<void> {
    if (!numbers) return;
    const work = tasks.splice(0);
    for (let row = 0; row < table.length; row++) {
      if (row % rowsPerTurn === rowsPerTurn - 1) yield undefined;
      const code = codes[row] ?? -1;
      if (code !== -1) for (const task of work) task(row, code);
    }
  }
  const ofEvents = (name: string): Member | undefined => {
    const column = columnOf(name);
    if (!column) return undefined;
    const other = defaultOf(column.type);
    const read = (row: number): HogQLValue => {
      const code = codes[row] ?? -1;
      return code === -1 ? other : column.value(code);
    };
    return { is: "column", column: { type: column.type, read } };
  };
  const ofRows = (name: string): Member | undefined => {
    const column = columnOf(name);
    return column && { is: "column", column: { type: column.type, read: column.value } };
  };
  // without older names of other columns
  const starred = all.filter((name) => name !== "id" && name !== "duration");
  return {
    sessions: { names: all, starred: [], member: ofEvents },
    source: { names: all, starred, member: ofRows, length: size, prepare },
    prepare,
  };
}
