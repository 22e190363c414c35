import { PostHog } from "posthog-node";
import { type Sim, startSim } from "../../../../src/index.ts";
import { type Json, type JsonObject, own } from "../../../../src/kernel/base/json.ts";
import { loadScenario } from "../../../../src/lab/scenario/load.ts";
import { type Scenario, worldOf } from "../../../../src/lab/scenario/scenario.ts";
import type { Decision } from "../../../../src/service/flags/engine/decision.ts";
import { compileRuleset, evaluateRuleset } from "../../../../src/service/flags/engine/ruleset.ts";
import type { Subject, SubjectGroup } from "../../../../src/service/flags/engine/run.ts";
import { personalKey, projectKey } from "./documents.ts";
import { groupTypes, type Who } from "./subjects.ts";

/** What one side says about a flag and a subject. */
export interface Answer {
  /** undefined: it does not say. */
  readonly value: boolean | string | undefined;
  /** As the application gets it: parsed. undefined: none. */
  readonly payload: Json | undefined;
  /** Why the engine could not compute it. */
  readonly failure: string | undefined;
  /** The engine's reason otherwise. */
  readonly reason: string | undefined;
}

export const silence: Answer = { value: undefined, payload: undefined, failure: undefined, reason: undefined };

/** Answers by flag key. */
export type Answers = ReadonlyMap<string, Answer>;

/** Payloads that are no JSON are taken as text, as SDKs do. */
function parsed(payload: string | null): Json | undefined {
  if (payload === null) return undefined;
  try {
    return JSON.parse(payload) as Json;
  } catch {
    return payload;
  }
}

type Reported = Pick<Decision, "value" | "payload" | "failed"> & { readonly reason: { readonly code: string } };

const ourAnswer = ({ value, payload, failed, reason }: Reported): Answer =>
  failed
    ? { ...silence, failure: reason.code }
    : { ...silence, value, payload: value === false ? undefined : parsed(payload), reason: reason.code };

function groupOf(who: Who, type: number): SubjectGroup | undefined {
  const name = groupTypes[type];
  const group = name === undefined ? undefined : who.groups[name];
  if (!group?.key) return undefined;
  const { key, properties } = group;
  return { key, property: (wanted) => (wanted === "$group_key" ? key : own(properties, wanted)) };
}

function subjectOf(who: Who, now: number): Subject {
  const properties: JsonObject = { distinct_id: who.distinctId, ...who.properties };
  const device = own(properties, "$device_id");
  return {
    distinctId: who.distinctId,
    deviceId: typeof device === "string" && device !== "" ? device : undefined,
    anonymousId: undefined,
    now,
    continuityKey: () => who.distinctId,
    property: (name) => own(properties, name),
    metadata: () => undefined,
    personId: () => who.personId,
    group: (type) => groupOf(who, type),
  };
}

/** One side. */
export interface Side {
  /** What the flags are for a subject; only these flags where keys are given. */
  ask(who: Who, keys?: readonly string[]): Promise<Answers>;
}

/** The engine on the documents of a scenario. */
export async function engineOf(scenario: Scenario, now: number): Promise<Side> {
  const world = worldOf(await loadScenario(scenario));
  const [project] = world.projects;
  if (!project) throw new Error("the scenario has no project");
  const ruleset = compileRuleset({
    flags: world.feature_flags,
    cohorts: world.cohorts,
    groupTypes,
    propertyMatchingVersion: project.settings.property_matching_version === 2 ? 2 : 1,
    timezone: project.timezone,
  });
  return {
    async ask(who, keys) {
      const results = evaluateRuleset(ruleset, subjectOf(who, now), { keys: keys && new Set(keys) });
      return new Map(results.map(({ compiled, decision }) => [compiled.flag.key, ourAnswer(decision)]));
    },
  };
}

/** Makes the group types known, in their order. */
async function addGroupTypes(sim: Sim): Promise<void> {
  const batch = groupTypes.map((type) => ({
    event: "$groupidentify",
    distinct_id: "setup",
    properties: { $group_type: type, $group_key: "first" },
  }));
  const body = JSON.stringify({ api_key: projectKey, batch });
  const response = await sim.handle(new Request(`${sim.url}/batch/`, { method: "POST", body }));
  if (response.status !== 200) throw new Error(`the group types were refused: ${response.status}`);
}

async function askClient(client: PostHog, who: Who, keys: readonly string[] | undefined): Promise<Answers> {
  const groups = Object.entries(who.groups);
  const { featureFlags, featureFlagPayloads } = await client.getAllFlagsAndPayloads(who.distinctId, {
    onlyEvaluateLocally: true,
    // The client's types know text only; it takes any JSON.
    personProperties: who.properties as Record<string, string>,
    groups: Object.fromEntries(groups.map(([type, { key }]) => [type, key])),
    groupProperties: Object.fromEntries(
      groups.map(([type, { properties }]) => [type, properties as Record<string, string>]),
    ),
    ...(keys && { flagKeys: [...keys] }),
  });
  const values = Object.entries(featureFlags ?? {});
  return new Map(
    values.map(([key, value]) => [key, { ...silence, value, payload: featureFlagPayloads?.[key] as Json | undefined }]),
  );
}

/** A flag in the answer of `/flags?v=2`. */
interface Detail {
  readonly enabled: boolean;
  readonly variant: string | null;
  readonly failed?: boolean;
  readonly reason: { readonly code: string };
  readonly metadata: { readonly payload: string | null };
}

const serviceAnswer = ({ enabled, variant, failed = false, reason, metadata }: Detail): Answer =>
  ourAnswer({ value: variant ?? enabled, payload: metadata.payload, failed, reason });

async function askService(sim: Sim, who: Who, keys: readonly string[] | undefined): Promise<Answers> {
  const groups = Object.entries(who.groups);
  const body = JSON.stringify({
    token: projectKey,
    distinct_id: who.distinctId,
    person_properties: who.properties,
    groups: Object.fromEntries(groups.map(([type, { key }]) => [type, key])),
    group_properties: Object.fromEntries(groups.map(([type, { properties }]) => [type, properties])),
    evaluation_runtime: "all",
    ...(keys && { flag_keys_to_evaluate: keys }),
  });
  const response = await sim.handle(new Request(`${sim.url}/flags?v=2`, { method: "POST", body }));
  if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
  const { flags } = (await response.json()) as { flags: Record<string, Detail> };
  return new Map(Object.entries(flags).map(([key, detail]) => [key, serviceAnswer(detail)]));
}

/** A sim that holds a scenario, and who asks it. */
export interface OpenSim extends AsyncDisposable {
  /** An unmodified posthog-node, evaluating by itself what the sim's definitions endpoint reports it. */
  readonly client: Side;
  /** The sim's own answers, without anything stored about the subject. */
  readonly service: Side;
  /** Every error that the client reported. */
  readonly errors: readonly string[];
}

/** Starts a sim and a client of it that has its definitions. */
export async function openSim(scenario: Scenario): Promise<OpenSim> {
  const sim = await startSim({ scenario });
  await addGroupTypes(sim);
  const errors: string[] = [];
  const client = new PostHog(sim.apiKey, {
    host: sim.url,
    personalApiKey: personalKey,
    fetch: (url, options) => sim.handle(new Request(url, options as RequestInit)),
    featureFlagsPollingInterval: null,
  });
  client.on("error", (error: unknown) => errors.push(String(error)));
  await client.reloadFeatureFlags();
  return {
    client: { ask: (who, keys) => askClient(client, who, keys) },
    service: { ask: (who, keys) => askService(sim, who, keys) },
    errors,
    async [Symbol.asyncDispose]() {
      await client.shutdown();
      await sim.close();
    },
  };
}
