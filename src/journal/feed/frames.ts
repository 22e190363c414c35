import type { FilterProblem } from "../filter/types.ts";
import type { EventRow, RequestRow } from "./feed-row.ts";

/**
 * The websocket protocol of GET /__sim/ws. The journal is one sequence of requests, numbered from 1; a cursor is a
 * request's number: everything up to it was seen. What is older than the ring comes from
 * GET /__sim/feed/events and /__sim/feed/requests, which answer with a cursor to go on from.
 */
export const protocol = 1;

/** What a client says. */
export type ClientFrame =
  /** First of all. The token is needed once the port is bound wider than loopback. */
  | { readonly t: "hello"; readonly v: number; readonly token?: string }
  /**
   * What is to be sent from now on, in the place of what was asked for before. A cursor of another epoch, or none,
   * means: from now on. `null`: none of this kind; of neither kind: no rows and no gaps are told.
   */
  | {
      readonly t: "subscribe";
      /** Comes back with the answer. */
      readonly id: number;
      readonly epoch?: string;
      readonly cursor?: number;
      /** Only this project's. */
      readonly project?: number;
      /** In the filter's grammar; "" is everything. */
      readonly events: string | null;
      readonly requests: string | null;
    };

/** What the sim says. */
export type SimFrame =
  | { readonly t: "hello"; readonly v: number; readonly epoch: string; readonly stat: Stat }
  | {
      readonly t: "subscribed";
      readonly id: number;
      readonly epoch: string;
      /** Where the rows go on; the client's own cursor unless `reset`. */
      readonly cursor: number;
      /** The cursor meant nothing here: what the client holds is of another past. */
      readonly reset: boolean;
    }
  /** The filter is wrong; the subscription before stays. */
  | {
      readonly t: "refused";
      readonly id: number;
      readonly field: "events" | "requests";
      readonly problems: readonly FilterProblem[];
    }
  /** Everything from request `from` to request `to`: what passes the filters, in order of arrival. */
  | {
      readonly t: "rows";
      readonly from: number;
      readonly to: number;
      readonly events: readonly EventRow[];
      readonly requests: readonly RequestRow[];
    }
  /** These requests are not in the ring any more: `slow`, the client did not keep up; `old`, its cursor was older. */
  | { readonly t: "gap"; readonly from: number; readonly to: number; readonly why: "slow" | "old" }
  /** Rows were cleared, or another past is shown: what is held must be read again. */
  | { readonly t: "reset"; readonly epoch: string; readonly project: number | null }
  | { readonly t: "stat"; readonly stat: Stat }
  /** The connection is about to be closed. */
  | { readonly t: "bye"; readonly code: number; readonly message: string };

/** How the sim is, told once a second while it changes. */
export interface Stat {
  /** The machine's time, ms. */
  readonly at: number;
  readonly requests: number;
  readonly rejected: number;
  readonly events: number;
  readonly kept: number;
  readonly dropped: number;
  readonly persons: number;
  readonly in_flight: number;
  readonly clock: { readonly now: number; readonly frozen: boolean; readonly real: boolean };
  /** Names of the faults in force. */
  readonly faults: readonly string[];
  readonly tape: {
    readonly name: string;
    readonly mode: string;
    readonly hits: number;
    readonly misses: number;
  } | null;
  /** What is being recorded: the mode and the upstream. */
  readonly recording: { readonly mode: string; readonly upstream: string | null } | null;
  readonly scenario_problems: number;
  /** The last edit of the scenario that is in force, in one line. */
  readonly scenario_edit: { readonly at: number; readonly summary: string } | null;
  /** Entries of the data folder that cannot be read. */
  readonly damage: number;
  /** Goes up when the world (flags, projects, exports …) was changed. */
  readonly world: number;
  /** Pages that are connected. */
  readonly pages: number;
}

/** Why a connection is closed, besides the usual 1000 and 1001. */
export const closing = {
  /** Nothing, or nothing that can be read, was said first. */
  bad_frame: 4400,
  token_required: 4401,
  /** The other side took nothing for too long; it may come back with its cursor. */
  stalled: 4408,
  too_many_messages: 4429,
  too_many_pages: 4430,
} as const;

/** Answer of GET /__sim/feed/events and /__sim/feed/requests: newest first. */
export interface History<Row> {
  readonly epoch: string;
  /** Subscribe with it to get what came since. */
  readonly cursor: number;
  readonly rows: readonly Row[];
  /** Is there more before the last row? Ask with `before` set to its seq (or n). */
  readonly more: boolean;
  /** Where to go on with `before`, also where no row was found in the part that was searched. */
  readonly before: number | null;
}
