import type { Sim, SimOptions } from "../sim/types.ts";
import { printNotice } from "./test-worker.ts";

/** Options of the command line that make a sim's world, by their names in the library. */
const names = {
  scenario: "scenario",
  dialect: "dialect",
  "adopt-tokens": "adoptTokens",
  "rate-limits": "rateLimits",
  "query-timeout": "queryTimeout",
  geoip: "geoip",
  clock: "clock",
  strict: "strict",
} as const satisfies Partial<Record<string, keyof SimOptions>>;

/** What the environment and phx-sim.config.json set, as they do for `phx-sim exec`. @throws Failure usage */
async function configured(): Promise<SimOptions> {
  const [{ configOptions }, { findConfig }, { resolveSettings }, { simOptions }, { redactionSection }] =
    await Promise.all([
      import("../kernel/command/command.ts"),
      import("../kernel/command/config-file.ts"),
      import("../kernel/command/settings.ts"),
      import("../sim/command/open-sim.ts"),
      import("../lab/tapes/redact/config-section.ts"),
    ]);
  const cwd = process.cwd();
  const config = await findConfig(cwd, async () => configOptions((await import("../cli/commands.ts")).commands), [
    redactionSection,
  ]);
  const { values, origins } = resolveSettings(simOptions, {}, { cwd, env: process.env, config });
  const set = (Object.keys(names) as (keyof typeof names)[]).filter((name) => origins[name].source !== "default");
  return {
    ...Object.fromEntries(set.map((name) => [names[name], values[name]])),
    ...(config?.redaction && { redaction: config.redaction }),
  };
}

/** The sim of a test run that no other one has: with the options of its setup, else with what is configured. */
export async function startOwnSim(options: SimOptions): Promise<Sim> {
  const [{ startSim }, found] = await Promise.all([import("../sim/start-sim.ts"), configured()]);
  return startSim({ onNotice: printNotice, ...found, ...options });
}
