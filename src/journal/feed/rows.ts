import { SimError } from "../../base/errors.ts";
import { type ControlRow, endpointsOf } from "../../http/control-row.ts";
import type { Endpoint } from "../../http/endpoint.ts";
import type { ControlDesk } from "../../sim/control-desk.ts";
import { eventHistory, requestHistory } from "./history.ts";
import { streamEvents } from "./stream.ts";

const rows: readonly ControlRow<ControlDesk>[] = [
  ["GET", "/__sim/feed/events", "Rows of events, newest first: filter, project, before, limit", eventHistory],
  [
    "GET",
    "/__sim/feed/requests",
    "Rows of requests, newest first: filter, project, before, limit",
    requestHistory,
  ],
  [
    "GET",
    "/__sim/events/stream",
    "Events as they come, as server-sent events: filter, project, since (or Last-Event-ID)",
    streamEvents,
  ],
  [
    "GET",
    "/__sim/ws",
    "The live feed of rows over a websocket",
    () => {
      throw new SimError("upgrade_required", "the feed speaks websocket", {
        hint: "open it with a websocket client, directly and without a proxy; GET /__sim/events/stream needs none",
      });
    },
  ],
];

/** The live feed. A websocket does not come this way: its door opens it (door/inspect.ts). */
export const feedEndpoints = (desk: ControlDesk): Endpoint[] => endpointsOf(rows, desk);
