import type { FilterProblem } from "../filter/types.ts";
import type { EventRow, RequestRow } from "./feed-row.ts";

/**
 * The websocket protocol of GET /__sim/ws. The journal is one sequence of requests, numbered from 1; a cursor is the
 * number of the last request that was received. Older rows are read with GET /__sim/feed/events and
 * /__sim/feed/requests, which return a cursor to subscribe with.
 */
export const protocol = 1;

export type ClientFrame =
  /** The first frame. The token is needed if the port is bound wider than loopback. */
  | { readonly t: "hello"; readonly v: number; readonly token?: string }
  /**
   * Replaces the subscription. Without a cursor, or with one of another epoch, rows start from now. `null`: no rows of
   * this kind; with neither kind, no rows and no gaps are sent.
   */
  | {
      readonly t: "subscribe";
      readonly id: number;
      readonly epoch?: string;
      readonly cursor?: number;
      readonly project?: number;
      readonly events: string | null;
      readonly requests: string | null;
      /** Names of properties: `values` of a row of an event has them. */
      readonly columns?: readonly string[];
    };

export type SimFrame =
  | { readonly t: "hello"; readonly v: number; readonly epoch: string; readonly stat: Stat }
  | {
      readonly t: "subscribed";
      readonly id: number;
      readonly epoch: string;
      /** Where the rows continue; the client's own cursor unless `reset`. */
      readonly cursor: number;
      /** True if the cursor is of another epoch: the client must drop its rows. */
      readonly reset: boolean;
    }
  /** The filter is wrong; the previous subscription stays. */
  | {
      readonly t: "refused";
      readonly id: number;
      readonly field: "events" | "requests";
      readonly problems: readonly FilterProblem[];
    }
  /** The rows of requests `from` to `to` that pass the filters, in order of arrival. */
  | {
      readonly t: "rows";
      readonly from: number;
      readonly to: number;
      readonly events: readonly EventRow[];
      readonly requests: readonly RequestRow[];
    }
  /** These requests were evicted: `slow`, the client did not keep up; `old`, its cursor was older. */
  | { readonly t: "gap"; readonly from: number; readonly to: number; readonly why: "slow" | "old" }
  /** Rows were cleared, or the history was replaced: the client must read its rows again. */
  | { readonly t: "reset"; readonly epoch: string; readonly project: number | null }
  | { readonly t: "stat"; readonly stat: Stat }
  | { readonly t: "bye"; readonly code: number; readonly message: string };

/** The state of the sim, sent once a second while it changes. */
export interface Stat {
  /** The machine's time, ms. */
  readonly at: number;
  readonly requests: number;
  readonly rejected: number;
  readonly events: number;
  readonly kept: number;
  readonly dropped: number;
  /** Of the kept ones, those with warnings. */
  readonly warned: number;
  readonly persons: number;
  readonly in_flight: number;
  readonly clock: { readonly now: number; readonly frozen: boolean; readonly real: boolean };
  readonly faults: readonly string[];
  readonly tape: {
    readonly name: string;
    readonly mode: string;
    readonly hits: number;
    readonly misses: number;
  } | null;
  readonly recording: { readonly mode: string; readonly upstream: string | null } | null;
  readonly scenario_problems: number;
  readonly scenario_edit: { readonly at: number; readonly summary: string } | null;
  readonly damage: number;
  /** Grows with each change of the world (flags, projects, exports …). */
  readonly world: number;
  readonly pages: number;
}

export const closing = {
  bad_frame: 4400,
  token_required: 4401,
  /** The client received nothing for too long; it may reconnect with its cursor. */
  stalled: 4408,
  too_many_messages: 4429,
  too_many_pages: 4430,
} as const;
