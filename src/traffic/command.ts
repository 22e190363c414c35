import { clean } from "../cli/clean-text.ts";
import { type CommandEnd, command, type Shell } from "../cli/command.ts";
import { Failure } from "../cli/failure.ts";
import { whereOptions } from "../cli/running-sim.ts";
import type { Settings } from "../cli/settings.ts";

const count = (describe: string) => ({ kind: "count", describe, flagOnly: true }) as const;
const text = (describe: string) => ({ kind: "text", describe, flagOnly: true }) as const;
const file = (describe: string) => ({ kind: "file", describe, flagOnly: true }) as const;

const options = {
  persona: text("shopper (default), saas, reader, or the path of a persona file, JSON or YAML"),
  users: count("Number of users (default: 500)"),
  days: count("Number of calendar days, the last one included (default: 90)"),
  until: text("The end in ISO 8601 (default: the last full minute of the sim's clock)"),
  seed: count("Another seed, another traffic (default: 1)"),
  project: count("Id of the project that captures the events (default: the first one)"),
  out: file("Write the events to this file as NDJSON, and send none"),
  "time-zone": text("With --out: the time zone of days, weeks and hours (default: UTC)"),
  figures: file("Write the true figures to this file as JSON"),
  json: { kind: "switch", describe: "Print the true figures as JSON", flagOnly: true },
  ...whereOptions,
} as const;

/** The options of `generate`. */
export type GenerateValues = Settings<typeof options>;

/** The command `phx-sim generate`. */
export const generate = command({
  name: "generate",
  describe: "Generate the traffic of a kind of users, with its true figures",
  options,
  examples: [
    ["phx-sim generate", "90 days of 500 customers of a shop, captured by the running sim"],
    ["phx-sim generate --persona saas --users 2000 --days 30 --seed 7", "a product for teams, with groups"],
    ["phx-sim generate --figures figures.json", "what trends, funnels and retention must come to"],
    ["phx-sim generate --persona bakery.yaml --out events.ndjson", "your own persona, into a file"],
  ],
  confirms: true,
  async run(settings: GenerateValues, shell: Shell): Promise<CommandEnd> {
    const { runGenerate } = await import("./command-run.ts");
    try {
      return await runGenerate(settings, shell);
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      throw new Failure(
        "usage",
        error.message
          .split("\n")
          .map((it) => clean(it, 900))
          .join("\n"),
        error,
      );
    }
  },
});
