import type { EventColumn, EventTable } from "../table.ts";
import { hostOf, pathOf } from "./functions/strings.ts";
import { propertyText } from "./properties.ts";
import { Refusal } from "./refusal.ts";
import type { Member, RowSource, Table } from "./source.ts";
import type { ClockZone } from "./time.ts";
import { type HogQLValue, string, type Type } from "./types.ts";
import { defaultOf } from "./values.ts";

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

interface Session {
  readonly id: string;
  /** Its rows in order of arrival. */
  readonly rows: number[];
}

interface SessionColumn {
  readonly type: Type;
  value(session: Session): HogQLValue;
}

function column(type: Type, value: SessionColumn["value"]): SessionColumn {
  const known = new Map<Session, HogQLValue>();
  return {
    type,
    value(session) {
      const found = known.get(session);
      if (found !== undefined) return found;
      const made = value(session);
      known.set(session, made);
      return made;
    },
  };
}

/**
 * The sessions of the events of a table: the events with the same `$session_id`.
 * Upstream posthog/hogql/database/schema/sessions_v3.py.
 */
export function createSessions(table: EventTable, zone: ClockZone): { sessions: Table; source: RowSource } {
  const known = new Map<string, SessionColumn>();
  const all: Session[] = [];
  const byRow: (Session | undefined)[] = [];
  let isRead = false;

  function readSessions(): void {
    if (isRead) return;
    isRead = true;
    const ids = table.property("$session_id");
    const byId = new Map<string, Session>();
    for (let row = 0; row < table.length; row++) {
      const id = propertyText(ids(row)) ?? "";
      if (id === "") continue;
      let session = byId.get(id);
      if (!session) {
        session = { id, rows: [] };
        byId.set(id, session);
        all.push(session);
      }
      session.rows.push(row);
      byRow[row] = session;
    }
  }

  const isPage = (row: number): boolean => table.name(row) === "$pageview" || table.name(row) === "$screen";
  const isNamed = (name: string) => (row: number) => table.name(row) === name;

  /** Time of the first (1) or last (-1) event. */
  const bound = (sign: 1 | -1): SessionColumn =>
    column({ kind: "DateTime64", zone: zone.name }, ({ rows }) =>
      rows.reduce((best, row) => sign * Math.min(sign * best, sign * table.time(row)), sign * Number.POSITIVE_INFINITY),
    );
  /** Value of a column in the first (1) or last (-1) event that has one. */
  const picked = (of: EventColumn, sign: 1 | -1, prefersPages: boolean): SessionColumn =>
    column({ ...string, nullable: true }, ({ rows }) => {
      let best = sign * Number.POSITIVE_INFINITY;
      let found: string | null = null;
      for (const row of rows) {
        const time = table.time(row) + (prefersPages && !isPage(row) ? sign * year : 0);
        const text = sign * (time - best) < 0 ? propertyText(of(row)) : null;
        if (text !== null) [best, found] = [time, text];
      }
      return found;
    });
  const count = (passes: (row: number) => boolean): SessionColumn =>
    column({ kind: "UInt64" }, ({ rows }) => rows.filter(passes).length);

  function urls(): SessionColumn {
    const url = table.property("$current_url");
    return column({ kind: "Array", item: string }, ({ rows }) => [
      ...new Set(rows.filter(isPage).flatMap((row) => propertyText(url(row)) ?? [])),
    ]);
  }
  const derived = (from: string, type: Type, read: (value: HogQLValue) => HogQLValue): SessionColumn => {
    const of = columnOf(from);
    return column(type, (session) => read(of?.value(session) ?? null));
  };
  const urlPart = (from: string, read: (url: string) => string): SessionColumn =>
    derived(from, { ...string, nullable: true }, (url) => (url === null ? null : read(String(url))));

  function duration(): SessionColumn {
    const [from, to] = [columnOf("$start_timestamp"), columnOf("$end_timestamp")];
    const seconds = (time: HogQLValue | undefined) => Math.floor(Number(time ?? 0) / 1000);
    return column({ kind: "Int64" }, (it) => seconds(to?.value(it)) - seconds(from?.value(it)));
  }
  function bounce(): SessionColumn {
    const views = count((row) => isPage(row) || isNamed("$autocapture")(row));
    const length = columnOf("$session_duration");
    return column({ kind: "UInt8", nullable: true }, (it) => {
      if (views.value(it) === 0) return null;
      return Number(!(Number(views.value(it)) > 1 || Number(length?.value(it) ?? 0) >= bounceSeconds));
    });
  }

  const makers: Readonly<Record<string, () => SessionColumn>> = {
    session_id: () => ({ type: string, value: ({ id }) => id }),
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
    const found = known.get(name) ?? make(name);
    if (found) known.set(name, found);
    return found;
  }

  const names = [...Object.keys(makers), ...Object.keys(entryProperties), ...Object.keys(counted)];
  const ofEvents = (name: string): Member | undefined => {
    const found = columnOf(name);
    if (!found) return undefined;
    readSessions();
    const other = defaultOf(found.type);
    const read = (row: number): HogQLValue => {
      const session = byRow[row];
      return session ? found.value(session) : other;
    };
    return { is: "column", column: { type: found.type, read } };
  };
  const ofRows = (name: string): Member | undefined => {
    const found = columnOf(name);
    const read = (row: number): HogQLValue => {
      const session = all[row];
      return session && found ? found.value(session) : null;
    };
    return found && { is: "column", column: { type: found.type, read } };
  };
  // without older names of other columns
  const starred = names.filter((name) => name !== "id" && name !== "duration");
  return {
    sessions: { names, starred: [], member: ofEvents },
    source: {
      ...{ names, starred, member: ofRows },
      length() {
        readSessions();
        return all.length;
      },
      *prepare() {},
    },
  };
}
