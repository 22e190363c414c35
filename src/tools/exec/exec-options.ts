import type { Settings } from "../../kernel/command/settings.ts";
import { simOptions } from "../../sim/command/open-sim.ts";
import { failReasons } from "../../testing/run-report/fail-rules.ts";
import { rerouteOptions } from "./child-environment.ts";

export const execOptions = {
  scenarios: {
    kind: "scenario",
    describe: "Scenarios to start with, each over the one before: files, or names of shipped ones",
    place: 1,
    optional: true,
    many: true,
  },
  ...simOptions,
  port: { kind: "port", describe: "Port to listen on; 0 takes any free one", default: "0" },
  "fail-on": {
    kind: "names",
    describe: `Exit 1 although the command passed if one of these occurred: ${failReasons.join(",")}`,
    configurable: true,
  },
  "block-egress": {
    kind: "switch",
    describe: "Block the command's requests to the real service; on with --fail-on egress",
    configurable: true,
  },
  ...rerouteOptions,
  plan: {
    kind: "file",
    describe: "Tracking plan to compare with; with --fail-on plan the default is events.plan.json here or above",
    configurable: true,
  },
  baseline: {
    kind: "file",
    describe: "Analytics baseline to compare with; with --fail-on baseline the default is analytics.baseline.ndjson",
    configurable: true,
  },
  "baseline-complete": { kind: "switch", describe: "A test of the baseline that did not run is a change, too" },
  report: {
    kind: "folder",
    describe:
      "Folder for report.html, events.ndjson, requests.har, summary.md, summary.json and analytics.baseline.ndjson",
    configurable: true,
  },
  junit: { kind: "file", describe: "File to write the result to as JUnit XML, a case for each rule and each test" },
  quiet: { kind: "switch", describe: "Print neither the variables nor the summary", configurable: true },
  json: { kind: "switch", describe: "Print the result as one JSON document; the command's own stdout goes to stderr" },
  command: {
    kind: "word",
    describe: "The command and its arguments; no shell interprets them",
    many: true,
    rest: true,
  },
} as const;

export const runOptions = {
  ...execOptions,
  coverage: {
    kind: "folder",
    describe: "Folder with the app's source, to show which of its SDK calls fired; see phx-sim coverage",
  },
  "min-coverage": { kind: "count", describe: "With --coverage: exit 1 if fewer than N percent of the calls fired" },
  "kill-after-response": {
    kind: "switch",
    describe:
      "End the app when a response of its own HTTP server has left, as serverless platforms do; exit 1 if captured events were lost",
  },
  "response-path": { describe: "With --kill-after-response: the path whose response counts, * for any characters" },
} as const;

export type ExecSettings = Settings<Omit<typeof execOptions, "baseline-complete">>;
