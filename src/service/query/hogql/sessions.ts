import { own } from "../../../kernel/base/json.ts";
import { memo } from "../memo.ts";
import type { EventColumn, EventTable } from "../table.ts";
import { hostOf, pathOf } from "./functions/strings.ts";
import { propertyText } from "./properties.ts";
import { Refusal } from "./refusal.ts";
import type { RowSource, Table } from "./source.ts";
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

/** Names that the service has and the sim does not. */
export const absentSessionColumns: readonly string[] = [
  ...["$channel_type", "session_id_v7", "max_inserted_at", "$entry_has_gclid", "$entry_has_fbclid"],
];

interface Session {
  readonly id: string;
  readonly rows: number[];
}

interface SessionColumn {
  readonly type: Type;
  value(session: Session): HogQLValue;
}

const nullableText: Type = { ...string, nullable: true };
const seconds = (time: HogQLValue): number => Math.floor(Number(time) / 1000);

function sessionColumns(table: EventTable, zone: ClockZone): Readonly<Record<string, SessionColumn>> {
  const isNamed = (row: number, ...names: string[]): boolean => names.includes(table.name(row));
  const isPage = (row: number): boolean => isNamed(row, "$pageview", "$screen");
  const column = (type: Type, value: SessionColumn["value"]): SessionColumn => ({ type, value: memo(value) });

  /** Time of the first (1) or last (-1) event. */
  const bound = (sign: 1 | -1): SessionColumn =>
    column({ kind: "DateTime64", zone: zone.name }, ({ rows }) =>
      rows.reduce((best, row) => sign * Math.min(sign * best, sign * table.time(row)), sign * Number.POSITIVE_INFINITY),
    );
  /** Value of a column in the first (1) or last (-1) event that has one. */
  const picked = (of: EventColumn, sign: 1 | -1, prefersPages: boolean, type = nullableText): SessionColumn =>
    column(type, ({ rows }) => {
      let best = sign * Number.POSITIVE_INFINITY;
      let found: string | null = null;
      for (const row of rows) {
        const time = table.time(row) + (prefersPages && !isPage(row) ? sign * year : 0);
        const text = sign * (time - best) < 0 ? propertyText(of(row)) : null;
        if (text !== null) [best, found] = [time, text];
      }
      return found;
    });
  const counted = (...names: string[]): SessionColumn =>
    column({ kind: "UInt64" }, ({ rows }) => rows.filter((row) => isNamed(row, ...names)).length);
  const urlPart = (url: SessionColumn, read: (url: string) => string): SessionColumn =>
    column(nullableText, (it) => {
      const text = url.value(it);
      return text === null ? null : read(String(text));
    });

  const id: SessionColumn = { type: string, value: (it) => it.id };
  const [start, end] = [bound(1), bound(-1)];
  const url = table.property("$current_url");
  const urls = column({ kind: "Array", item: string }, ({ rows }) => [
    ...new Set(rows.filter(isPage).flatMap((row) => propertyText(url(row)) ?? [])),
  ]);
  const [firstUrl, lastUrl] = [picked(url, 1, true), picked(url, -1, true)];
  const duration = column({ kind: "Int64" }, (it) => seconds(end.value(it)) - seconds(start.value(it)));
  const views = counted("$pageview", "$screen", "$autocapture");
  const entries = Object.entries(entryProperties).map(([name, property]) => [
    name,
    picked(table.property(property), 1, true),
  ]);
  return {
    ...{ session_id: id, id },
    distinct_id: picked(table.distinctId, -1, false, string),
    person_id: picked(table.person, -1, false, { kind: "UUID" }),
    $start_timestamp: start,
    $end_timestamp: end,
    $urls: urls,
    $num_uniq_urls: column({ kind: "UInt64" }, (it) => (urls.value(it) as readonly string[]).length),
    $entry_pathname: urlPart(firstUrl, pathOf),
    $entry_hostname: urlPart(firstUrl, hostOf),
    ...{ $end_current_url: lastUrl, $exit_current_url: lastUrl },
    $end_pathname: urlPart(lastUrl, pathOf),
    $exit_pathname: urlPart(lastUrl, pathOf),
    $end_hostname: urlPart(lastUrl, hostOf),
    $last_external_click_url: picked(table.property("$external_click_url"), -1, false),
    ...{ $session_duration: duration, duration },
    $is_bounce: column({ kind: "UInt8", nullable: true }, (it) => {
      const count = Number(views.value(it));
      return count === 0 ? null : Number(count === 1 && Number(duration.value(it)) < bounceSeconds);
    }),
    ...Object.fromEntries(entries),
    $pageview_count: counted("$pageview"),
    $autocapture_count: counted("$autocapture"),
    $screen_count: counted("$screen"),
  };
}

function sessionsIn(table: EventTable): { all: readonly Session[]; byRow: readonly (Session | undefined)[] } {
  const ids = table.property("$session_id");
  const all: Session[] = [];
  const byRow: (Session | undefined)[] = [];
  const sessionOf = memo((id: string): Session => {
    const session = { id, rows: [] };
    all.push(session);
    return session;
  });
  for (let row = 0; row < table.length; row++) {
    const id = propertyText(ids(row)) ?? "";
    if (id === "") continue;
    const session = sessionOf(id);
    session.rows.push(row);
    byRow[row] = session;
  }
  return { all, byRow };
}

/**
 * The sessions of the events of a table: the events with the same `$session_id`.
 * Upstream posthog/hogql/database/schema/sessions_v3.py.
 */
export function createSessions(table: EventTable, zone: ClockZone): { sessions: Table; source: RowSource } {
  let read: ReturnType<typeof sessionsIn> | undefined;
  const sessions = () => (read ??= sessionsIn(table));
  const columns = sessionColumns(table, zone);
  const names = Object.keys(columns);
  const member = (sessionAt: (row: number) => Session | undefined): Table["member"] =>
    memo((name) => {
      if (absentSessionColumns.includes(name)) throw new Refusal(`The column ${name} of sessions is not emulated`);
      const of = own(columns, name);
      if (!of) return undefined;
      const none = defaultOf(of.type);
      const readRow = (row: number): HogQLValue => {
        const session = sessionAt(row);
        return session ? of.value(session) : none;
      };
      return { is: "column", column: { type: of.type, read: readRow } };
    });
  return {
    sessions: { names, starred: [], member: member((row) => sessions().byRow[row]) },
    source: {
      names,
      // without older names of other columns
      starred: names.filter((name) => name !== "id" && name !== "duration"),
      member: member((row) => sessions().all[row]),
      length: () => sessions().all.length,
    },
  };
}
