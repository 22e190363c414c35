import { type Command, command } from "../../kernel/command/command.ts";
import { impactOptions, pullOptions } from "./options.ts";

const pull = command({
  name: "pull",
  describe: "Write a scenario with the flags, cohorts, surveys … of a live project; reads only, never persons",
  options: pullOptions,
  examples: [
    ["phx-sim pull --upstream us --project 12345", "twin.json, with a key in POSTHOG_PERSONAL_API_KEY"],
    ["phx-sim start --scenario twin.json", "the same flags, here"],
    ["phx-sim pull --upstream us --project 12345 --check", "what changed since? exit code 1 if something did"],
  ],
  confirms: true,
  run: async (settings, shell) => (await import("./command-run.ts")).runPull(settings, shell),
});

const impact = command({
  name: "impact",
  describe: "List the live insights, cohorts, surveys … that use an event or property that is not sent any more",
  options: impactOptions,
  examples: [
    ["phx-sim impact main.ndjson", "this branch against twin.json; exit code 1 if something is affected"],
    ["phx-sim impact main.ndjson --upstream us --project 12345", "against the live project"],
  ],
  run: async (settings, shell) => (await import("./command-run.ts")).runImpact(settings, shell),
});

export const liveProjectCommands: readonly Command[] = [pull, impact];
