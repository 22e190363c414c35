import { upstreamOptions } from "../../sim/command/open-sim.ts";

const json = { kind: "switch", describe: "Print the result as one JSON line" } as const;

/** Options of every command that reads a live project. */
export const liveOptions = {
  ...upstreamOptions,
  project: { describe: "Number of the live project" },
  "key-env": { describe: "Variable with a personal API key that may read", default: "POSTHOG_PERSONAL_API_KEY" },
} as const;

export const pullOptions = {
  ...liveOptions,
  out: { kind: "file", describe: "The scenario file (default: twin.json in this folder)" },
  force: { kind: "switch", describe: "Replace the file if it exists" },
  check: {
    kind: "switch",
    describe: "Write nothing: compare the live project with the file, exit code 1 if they differ",
  },
  "keep-values": {
    describe: "A value that is not redacted, such as the e-mail address that a flag is for",
    many: true,
  },
  json,
} as const;

export const impactOptions = {
  before: { kind: "file", describe: "The earlier analytics baseline", place: 1 },
  after: {
    kind: "file",
    describe: "The later one (default: analytics.baseline.ndjson in this folder)",
    place: 2,
    optional: true,
  },
  complete: { kind: "switch", describe: "What only a test sent that did not run is removed, too" },
  from: {
    kind: "file",
    describe: "A pulled scenario, instead of --upstream (default without it: twin.json in this folder)",
  },
  ...liveOptions,
  json,
} as const;
