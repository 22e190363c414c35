import type { Settings } from "../../../kernel/command/settings.ts";
import { choice, json, keyOptions, permitOptions, tapeAt, text, texts, toggle } from "./option-rows.ts";

export const sendOptions = {
  tape: tapeAt(1),
  to: text("Where the requests are sent, e.g. http://127.0.0.1:7490"),
  only: texts("Send only this route, * for any text"),
  exclude: texts("Leave out: a route, event:NAME, or one value: path:body.batch[].properties.card"),
  "dry-run": toggle("Only list what would be sent; the default for other machines without --yes"),
  yes: toggle("Send, also to another machine; this needs --allow-host as well"),
  ...permitOptions,
  ...keyOptions,
  rate: text("10: ten requests a second; 2x: twice the recorded pace (default: as fast as possible)"),
  concurrency: {
    kind: "count",
    describe: "At most N requests at the same time; those of one person stay in order",
    default: "4",
  },
  timestamps: choice("Times of events: as they are, or moved so that the last one is now", ["keep", "shift"], "keep"),
  uuids: choice("keep: the service recognizes events that it already has; new: copies", ["keep", "new"], "keep"),
  "ignore-status": toggle("Do not fail for responses whose status class differs from the recorded one"),
  json,
} as const;

export type SendSettings = Settings<typeof sendOptions>;
