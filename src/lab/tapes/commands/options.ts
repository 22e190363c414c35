import type { Settings } from "../../../kernel/command/settings.ts";

/** Rows of options that commands of tapes share; none of them is read from the environment or the config file. */

export const text = (describe: string) => ({ describe }) as const;
export const texts = (describe: string) => ({ ...text(describe), many: true }) as const;
export const toggle = (describe: string) => ({ kind: "switch", describe }) as const;
export const choice = <const Choice extends string, const Default extends Choice>(
  describe: string,
  choices: readonly Choice[],
  fallback: Default,
) => ({ ...text(describe), choices, default: fallback }) as const;

/** The tape that a command is about, given by its place. */
export const tapeAt = (place: number, describe = "The tape: tapes/NAME.tape.ndjson, or a path") =>
  ({ ...text(describe), place }) as const;

const json = toggle("Print the result as one JSON line");

export const redact = choice(
  "What is redacted before it is written: secrets, or with pii personal data as well",
  ["default", "pii"],
  "default",
);

export const keyOptions = {
  token: text("Project key, for the places where the tape has none"),
  "personal-key": text("Personal API key, likewise; better in PHX_SIM_PERSONAL_KEY"),
  fill: choice(
    "For a secret that neither an option nor PHX_SIM_SECRET_KIND_N gives: fail, or send a placeholder (redacted)",
    ["fail", "redacted"],
    "fail",
  ),
} as const;

export const permitOptions = {
  "allow-host": texts("A host other than this machine that may be sent to, e.g. staging.example"),
  "i-know-this-is-production": toggle("Also required for hosts of the real service"),
} as const;

export const reportOptions = {
  "fail-on": {
    ...text("Smallest difference that fails (default: break; additive for --against and tape diff)"),
    choices: ["break", "additive", "value"],
  },
  json,
  junit: { kind: "file", describe: "File to write the result to as JUnit XML, a case for each route" },
} as const;

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
