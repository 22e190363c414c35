import { type JsonObject, own } from "../../../../src/kernel/base/json.ts";
import { compileFlag } from "../../../../src/service/flags/engine/compile.ts";
import type { Decision } from "../../../../src/service/flags/engine/decision.ts";
import { evaluateFlag } from "../../../../src/service/flags/engine/evaluate.ts";
import {
  compileRuleset,
  evaluateRuleset,
  type Ruleset,
  type RulesetSource,
  type Selection,
} from "../../../../src/service/flags/engine/ruleset.ts";
import type { Subject, SubjectGroup } from "../../../../src/service/flags/engine/run.ts";
import type { FeatureFlag } from "../../../../src/state/documents/world.ts";
import { aFlag } from "../../../support/documents.ts";

export const now = Date.UTC(2026, 2, 31, 12, 0, 0);

export interface Who {
  distinctId?: string;
  deviceId?: string;
  anonymousId?: string;
  continuityKey?: string;
  properties?: JsonObject;
  metadata?: JsonObject;
  personId?: string;
  groups?: Partial<Record<number, { key: string; properties?: JsonObject }>>;
}

const aGroup = (group: { key: string; properties?: JsonObject } | undefined): SubjectGroup | undefined =>
  group && { key: group.key, property: (name) => own(group.properties ?? {}, name) };

export const aSubject = (who: Who = {}): Subject => ({
  distinctId: who.distinctId ?? "u1",
  deviceId: who.deviceId,
  anonymousId: who.anonymousId,
  now,
  continuityKey: () => who.continuityKey,
  property: (name) => own(who.properties ?? {}, name),
  metadata: (name) => own(who.metadata ?? {}, name),
  personId: () => who.personId,
  group: (type) => aGroup(who.groups?.[type]),
});

export const decide = (flag: Partial<FeatureFlag>, who: Who = {}): Decision =>
  evaluateFlag(compileFlag(aFlag("beta", flag)), aSubject(who));

export const aRuleset = (source: Partial<RulesetSource>, previous?: Ruleset): Ruleset =>
  compileRuleset({ flags: [], cohorts: [], propertyMatchingVersion: 1, timezone: "UTC", ...source }, previous);

/** What the flags of a ruleset are, as `[key, value or failure]` in the answer's order. */
export const valuesOf = (ruleset: Ruleset, who: Who = {}, selection?: Selection): [string, boolean | string][] =>
  evaluateRuleset(ruleset, aSubject(who), selection).map(({ compiled, decision }) => [
    compiled.flag.key,
    decision.failed ? decision.reason.code : decision.value,
  ]);
