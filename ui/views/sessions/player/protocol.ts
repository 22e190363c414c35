import type { RecordedEvent } from "../../../../src/lab/sessions/rrweb.ts";

/** What the page sends to the frame. Times are ms from the first event. */
export type PlayerCommand =
  | { readonly type: "load"; readonly events: readonly RecordedEvent[]; readonly at: number }
  | { readonly type: "play"; readonly at: number }
  | { readonly type: "pause"; readonly at: number }
  | { readonly type: "set"; readonly speed: number; readonly skipsIdle: boolean };

/** What the frame sends back. */
export type PlayerNotice =
  | { readonly type: "ready" }
  | { readonly type: "loaded"; readonly unloaded: number; readonly length: number }
  | { readonly type: "time"; readonly at: number }
  | { readonly type: "finished" }
  | { readonly type: "size"; readonly width: number; readonly height: number; readonly scale: number }
  | { readonly type: "failed"; readonly text: string };
