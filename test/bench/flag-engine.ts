import { performance } from "node:perf_hooks";
import { type Json, type JsonObject, own } from "../../src/kernel/base/json.ts";
import { worldOf } from "../../src/lab/scenario/scenario.ts";
import { compileRuleset, evaluateRuleset } from "../../src/service/flags/engine/ruleset.ts";
import type { Subject } from "../../src/service/flags/engine/run.ts";
import { flagScenario, flagUser } from "./flag-world.ts";

/**
 * The engine alone, in a process of its own: flags, ms to warm up and ms to measure as arguments; prints
 * `{decisions, ms}`.
 */

function subjectAt(i: number): Subject {
  const { distinct_id: distinctId, person_properties } = flagUser(i);
  const properties: JsonObject = person_properties;
  return {
    distinctId,
    deviceId: undefined,
    anonymousId: undefined,
    now: Date.UTC(2026, 0, 1),
    continuityKey: () => distinctId,
    property: (name): Json | undefined => own(properties, name),
    metadata: () => undefined,
    personId: () => undefined,
    group: () => undefined,
  };
}

const [count = 20, warmupMs = 1000, measureMs = 1000] = process.argv.slice(2).map(Number);
const world = worldOf(flagScenario(count));
const ruleset = compileRuleset({
  flags: world.feature_flags,
  cohorts: [],
  propertyMatchingVersion: 1,
  timezone: "UTC",
});
const subjects = Array.from({ length: 1000 }, (_, i) => subjectAt(i));

/** Asks for all flags of one user after the other. */
function run(duration: number): { decisions: number; ms: number } {
  const startedAt = performance.now();
  let decisions = 0;
  while (performance.now() - startedAt < duration) {
    for (const subject of subjects) decisions += evaluateRuleset(ruleset, subject).length;
  }
  return { decisions, ms: performance.now() - startedAt };
}

run(warmupMs);
process.stdout.write(JSON.stringify(run(measureMs)));
