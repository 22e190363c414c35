import type { Json } from "../../base/json.ts";
import type { EventSubject, RequestSubject } from "../filter/types.ts";
import type { EventRow, RequestRow } from "./feed-row.ts";
import type { Entry, Journal, Kinds } from "./ports.ts";

/** A row, and its JSON text once somebody needed it: it is made once, for all clients. */
export interface HeldRow<Row> {
  readonly row: Row;
  text: string | undefined;
}

/** A request in the ring; rows that nobody needed when it came are missing. */
export interface Held {
  readonly n: number;
  readonly project: number | null;
  readonly request: HeldRow<RequestRow> | undefined;
  readonly events: readonly HeldRow<EventRow>[] | undefined;
  /** About how many bytes it takes, its texts included. */
  readonly size: number;
}

/** What a request takes without its rows. */
const slotSize = 100;
/** What a row takes besides what is said in it: the object, its keys in JSON, numbers. */
const rowSize = 400;

const eventSize = ({ event, distinct_id }: EventRow): number =>
  rowSize + 2 * (event.length + distinct_id.length);

const requestSize = ({ target, detail }: RequestRow): number =>
  rowSize + 2 * (target.length + (detail?.length ?? 0));

const held = <Row>(row: Row): HeldRow<Row> => ({ row, text: undefined });

/** A request as the ring holds it. */
export function holdEntry({ n, project, request, events }: Entry): Held {
  let size = slotSize;
  if (request) size += requestSize(request);
  if (events) for (const row of events) size += eventSize(row);
  return { n, project, request: request && held(request), events: events?.map(held), size };
}

/** Has it the rows that are needed? */
export const hasRows = ({ request, events }: Held, needs: Kinds): boolean =>
  (request !== undefined || !needs.requests) && (events !== undefined || !needs.events);

export function textOf<Row>(it: HeldRow<Row>): string {
  it.text ??= JSON.stringify(it.row);
  return it.text;
}

type Lines = Pick<Journal, "properties" | "text">;

/** What a filter is told of an event; its line is read only if the filter asks for more than the row. */
export function eventSubject({ request }: Held, { row }: HeldRow<EventRow>, lines: Lines): EventSubject {
  let properties: Readonly<Record<string, Json>> | undefined;
  return {
    row,
    properties() {
      properties ??= lines.properties(row);
      return properties;
    },
    request: () => request?.row,
  };
}

/** The same of a request. */
export function requestSubject(held: Held, { row }: HeldRow<RequestRow>, lines: Lines): RequestSubject {
  let text: string | undefined;
  return {
    row,
    events: () => (held.events ?? []).map((it) => eventSubject(held, it, lines)),
    text() {
      text ??= lines.text(held.n);
      return text;
    },
  };
}
