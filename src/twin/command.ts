import { type Command, command } from "../cli/command.ts";
import { upstreamOptions } from "../cli/open-sim.ts";

const json = { kind: "switch", describe: "Print the result as one JSON line", flagOnly: true } as const;

/** Options of every command that reads a live project. */
export const liveOptions = {
  ...upstreamOptions,
  project: { kind: "text", describe: "Number of the live project", flagOnly: true },
  "key-env": {
    kind: "text",
    describe: "Variable with a personal API key that may read",
    default: "POSTHOG_PERSONAL_API_KEY",
    flagOnly: true,
  },
} as const;

/** Options of `pull`. */
export const pullOptions = {
  ...liveOptions,
  out: { kind: "file", describe: "The scenario file (default: twin.json in this folder)", flagOnly: true },
  force: { kind: "switch", describe: "Replace the file if it exists", flagOnly: true },
  check: {
    kind: "switch",
    describe: "Write nothing: compare the live project with the file, exit code 1 if they differ",
    flagOnly: true,
  },
  "keep-values": {
    kind: "text",
    describe: "A value that is not redacted, such as the e-mail address that a flag is for",
    many: true,
    flagOnly: true,
  },
  json,
} as const;

const pull = command({
  name: "pull",
  describe:
    "Write a scenario with the flags, cohorts, surveys … of a live project; reads only, never persons",
  options: pullOptions,
  examples: [
    ["phx-sim pull --upstream us --project 12345", "twin.json, with a key in POSTHOG_PERSONAL_API_KEY"],
    ["phx-sim start --scenario twin.json", "the same flags, here"],
    [
      "phx-sim pull --upstream us --project 12345 --check",
      "what changed since? exit code 1 if something did",
    ],
  ],
  confirms: true,
  run: async (settings, shell) => (await import("./command-run.ts")).runPull(settings, shell),
});

/** Options of `impact`. */
export const impactOptions = {
  before: { kind: "file", describe: "The earlier analytics baseline", flagOnly: true, place: 1 },
  after: {
    kind: "file",
    describe: "The later one (default: analytics.baseline.ndjson in this folder)",
    flagOnly: true,
    place: 2,
    optional: true,
  },
  complete: {
    kind: "switch",
    describe: "What only a test sent that did not run is removed, too",
    flagOnly: true,
  },
  from: {
    kind: "file",
    describe: "A pulled scenario, instead of --upstream (default without it: twin.json in this folder)",
    flagOnly: true,
  },
  ...liveOptions,
  json,
} as const;

const impact = command({
  name: "impact",
  describe:
    "List the live insights, cohorts, surveys … that use an event or property that is not sent any more",
  options: impactOptions,
  examples: [
    ["phx-sim impact main.ndjson", "this branch against twin.json; exit code 1 if something is affected"],
    ["phx-sim impact main.ndjson --upstream us --project 12345", "against the live project"],
  ],
  run: async (settings, shell) => (await import("./command-run.ts")).runImpact(settings, shell),
});

/** Commands about a live project. */
export const twinCommands: readonly Command[] = [pull, impact];
