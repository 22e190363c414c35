import { type Command, command, type Shell } from "../../cli/command.ts";
import type { Settings } from "../../cli/settings.ts";
import { choice, json, keyOptions, permitOptions, tapeAt, text, texts, toggle } from "./option-rows.ts";

const options = {
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
    flagOnly: true,
  },
  timestamps: choice(
    "Times of events: as they are, or moved so that the last one is now",
    ["keep", "shift"],
    "keep",
  ),
  uuids: choice(
    "keep: the service recognizes events that it already has; new: copies",
    ["keep", "new"],
    "keep",
  ),
  "ignore-status": toggle("Do not fail for responses whose status class differs from the recorded one"),
  json,
} as const;

/** The options of `send`. */
export type SendSettings = Settings<typeof options>;

/** Sends a tape's requests to a service again. */
export const send: Command = command({
  name: "send",
  describe: "Send a tape's requests again, to a sim, a staging service, or another one",
  options,
  examples: [
    [
      "phx-sim send checkout --to http://127.0.0.1:7490 --token phc_sim_default",
      "to a sim on this machine, at once",
    ],
    ["phx-sim send checkout --to https://staging.example", "elsewhere: first lists what would be sent"],
    [
      "phx-sim send checkout --to https://staging.example --yes --allow-host staging.example --token phc_staging",
      "then sends it",
    ],
    [
      "phx-sim send checkout --to http://127.0.0.1:7490 --token phc_sim_default --exclude event:login --exclude path:event.properties.card",
      "without some events, and without one property of all",
    ],
    [
      "phx-sim send checkout --to http://127.0.0.1:7490 --token phc_sim_default --only capture --timestamps shift --uuids new",
      "a demo",
    ],
  ],
  confirms: true,
  run: async ({ values }: SendSettings, shell: Shell) =>
    (await import("./send-run.ts")).sendTape(values, shell),
});
