import { compileFlag } from "../../src/flags/compile.ts";
import type { Decision } from "../../src/flags/decision.ts";
import { evaluateFlag } from "../../src/flags/evaluate.ts";
import type { Subject, SubjectGroup } from "../../src/flags/subject.ts";
import { type JsonObject, own } from "../../src/kernel/json.ts";
import type { FeatureFlag } from "../../src/model/world.ts";

export const now = Date.UTC(2026, 2, 31, 12, 0, 0);

const aFlag = (more: Partial<FeatureFlag> = {}): FeatureFlag => ({
  id: 7,
  project: 1,
  key: "beta",
  name: "",
  active: true,
  deleted: false,
  version: 3,
  ensure_experience_continuity: false,
  has_encrypted_payloads: false,
  is_remote_configuration: false,
  evaluation_runtime: "all",
  bucketing_identifier: null,
  filters: { groups: [{ properties: [], rollout_percentage: 100 }] },
  ...more,
});

export interface Who {
  distinctId?: string;
  deviceId?: string;
  continuityKey?: string;
  properties?: JsonObject;
  groups?: Record<number, { key: string; properties?: JsonObject }>;
}

const aGroup = (group: { key: string; properties?: JsonObject } | undefined): SubjectGroup | undefined =>
  group && { key: group.key, property: (name) => own(group.properties ?? {}, name) };

const aSubject = ({ distinctId = "u1", deviceId, continuityKey, properties, groups }: Who = {}): Subject => ({
  distinctId,
  deviceId,
  now,
  continuityKey: () => continuityKey,
  property: (name) => own(properties ?? {}, name),
  group: (type) => aGroup(groups?.[type]),
});

export const decide = (flag: Partial<FeatureFlag>, who: Who = {}): Decision =>
  evaluateFlag(compileFlag(aFlag(flag)), aSubject(who));
