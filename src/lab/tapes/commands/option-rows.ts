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

export const json = toggle("Print the result as one JSON line");

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

/** Options of every command that compares answers. */
export const reportOptions = {
  "fail-on": {
    ...text("Smallest difference that fails (default: break; additive for --against and tape diff)"),
    choices: ["break", "additive", "value"],
  },
  json,
  junit: { kind: "file", describe: "File to write the result to as JUnit XML, a case for each route" },
} as const;
