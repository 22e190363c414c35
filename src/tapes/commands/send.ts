import { type Command, command, type Shell } from "../../cli/command.ts";
import type { Settings } from "../../cli/settings.ts";

const options = {
  tape: {
    kind: "text",
    describe: "The tape: tapes/NAME.tape.ndjson, or a path",
    flagOnly: true,
    place: 1,
    suggests: "tapes",
  },
  to: { kind: "text", describe: "Where the requests are sent, e.g. http://127.0.0.1:7490", flagOnly: true },
  only: {
    kind: "text",
    describe: "Send only this route, * for any text",
    flagOnly: true,
    many: true,
  },
  exclude: {
    kind: "text",
    describe: "Leave out: a route, event:NAME, or one value: path:body.batch[].properties.card",
    flagOnly: true,
    many: true,
  },
  fill: {
    kind: "text",
    describe:
      "For a secret that neither an option nor PHX_SIM_SECRET_KIND_N gives: fail, or send a placeholder (redacted)",
    choices: ["fail", "redacted"],
    default: "fail",
    flagOnly: true,
  },
  "dry-run": {
    kind: "switch",
    describe: "Only list what would be sent; the default for other machines without --yes",
    flagOnly: true,
  },
  yes: { kind: "switch", describe: "Send, also to another machine", flagOnly: true },
  "allow-host": {
    kind: "text",
    describe: "A host that may be sent to, e.g. staging.example; required in addition to --yes",
    flagOnly: true,
    many: true,
  },
  "i-know-this-is-production": {
    kind: "switch",
    describe: "Required in addition to both for hosts of the real service",
    flagOnly: true,
  },
  token: { kind: "text", describe: "Project key, for the places where the tape has none", flagOnly: true },
  "personal-key": {
    kind: "text",
    describe: "Personal API key, likewise; better in PHX_SIM_PERSONAL_KEY",
    flagOnly: true,
  },
  rate: {
    kind: "text",
    describe: "10: ten requests a second; 2x: twice the recorded pace (default: as fast as possible)",
    flagOnly: true,
  },
  concurrency: {
    kind: "count",
    describe: "At most N requests at the same time",
    default: "4",
    flagOnly: true,
  },
  order: {
    kind: "text",
    describe: "What stays in order: each person's requests, all (strict: one by one), or nothing",
    choices: ["per-person", "strict", "none"],
    default: "per-person",
    flagOnly: true,
  },
  timestamps: {
    kind: "text",
    describe: "Times of events: as they are, or moved so that the last one is now",
    choices: ["keep", "shift"],
    default: "keep",
    flagOnly: true,
  },
  uuids: {
    kind: "text",
    describe: "keep: the service recognizes events that it already has; new: copies",
    choices: ["keep", "new"],
    default: "keep",
    flagOnly: true,
  },
  result: {
    kind: "text",
    describe: "Record the answers on this new tape: a name, or a path",
    flagOnly: true,
  },
  "ignore-status": {
    kind: "switch",
    describe: "Do not fail for answers whose status class differs from the recorded one",
    flagOnly: true,
  },
  json: { kind: "switch", describe: "Print the result as one JSON line", flagOnly: true },
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
      "phx-sim send checkout --to http://127.0.0.1:7490 --token phc_local",
      "to a sim on this machine, at once",
    ],
    ["phx-sim send checkout --to https://staging.example", "elsewhere: first lists what would be sent"],
    [
      "phx-sim send checkout --to https://staging.example --yes --allow-host staging.example --token phc_staging",
      "then sends it",
    ],
    [
      "phx-sim send checkout --to http://127.0.0.1:7490 --exclude event:login --exclude path:event.properties.card",
      "without some events, and without one property of all",
    ],
    [
      "phx-sim send checkout --to http://127.0.0.1:7490 --only capture --timestamps shift --uuids new",
      "a demo",
    ],
  ],
  confirms: true,
  run: async ({ values }: SendSettings, shell: Shell) =>
    (await import("./send-tape.ts")).sendTape(values, shell),
});
