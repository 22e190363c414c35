import type { Settings } from "../../kernel/command/settings.ts";
import {
  keyOptions,
  permitOptions,
  reportOptions,
  tapeAt,
  text,
  texts,
  toggle,
} from "../../lab/tapes/commands/options.ts";

/** Options that need `--against`. */
export const serviceOptions = {
  "allow-writes": toggle("With --against: also send requests that change something, such as events"),
  ...permitOptions,
  "allow-host": texts("With --allow-writes: a host other than this machine that may be changed"),
  ...keyOptions,
  fill: {
    ...keyOptions.fill,
    describe: "For a secret that is not given: skip the request (fail), or send a placeholder (redacted)",
  },
} as const;

export const verifyOptions = {
  tape: tapeAt(1),
  against: text("Compare with this service instead of the emulator: us, eu, or an address"),
  dialect: {
    ...text("Which the emulator follows where the documentation and the live service differ"),
    choices: ["documented", "production"],
  },
  ...serviceOptions,
  ...reportOptions,
} as const;

export type VerifySettings = Settings<typeof verifyOptions>;
