import { whereOptions } from "../../kernel/command/running-sim.ts";
import type { Settings } from "../../kernel/command/settings.ts";

const count = (describe: string) => ({ kind: "count", describe }) as const;
const text = (describe: string) => ({ describe }) as const;
const file = (describe: string) => ({ kind: "file", describe }) as const;

/** The options of `generate`. */
export const generateOptions = {
  persona: text("shopper (default), saas, reader, or the path of a persona file, JSON or YAML"),
  users: count("Number of users (default: 500)"),
  days: count("Number of calendar days, the last one included (default: 90)"),
  until: text("The end in ISO 8601 (default: the last full minute of the sim's clock)"),
  seed: count("Another seed, another traffic (default: 1)"),
  project: count("Id of the project that captures the events (default: the first one)"),
  out: file("Write the events to this file as NDJSON, and send none"),
  "time-zone": text("With --out: the time zone of days, weeks and hours (default: UTC)"),
  figures: file("Write the true figures to this file as JSON"),
  json: { kind: "switch", describe: "Print the true figures as JSON" },
  ...whereOptions,
} as const;

/** Their values. */
export type GenerateValues = Settings<typeof generateOptions>;
