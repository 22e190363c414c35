import { isObject, type Json, textOrNumber } from "../../kernel/base/json.ts";
import { getOrMake, RecentMap } from "../../kernel/base/recent-map.ts";
import type { LintEvent, LintRequest } from "./request.ts";
import type { Remarks, Rule, RuleContext } from "./rule.ts";

/** What a project's rules remember: uuids and spellings; names of events and properties of each; groups. */
const most = { uuids: 5_000, spellings: 5_000, names: 1_000, properties: 200, groups: 5_000 };

const gistOf = ({ event, distinct_id, timestamp }: LintEvent): string =>
  JSON.stringify([event, distinct_id, timestamp]);

/** `duplicate_uuid`, `retried_event`: for events whose first delivery is remembered. */
export function duplicateUuid(): Rule {
  const kept = new RecentMap<string, string>(most.uuids);
  return {
    onEvent(it, { report }) {
      if (it.uuid === null) return;
      if (it.dropped === undefined) kept.set(it.uuid, gistOf(it));
      const first = it.dropped === "duplicate_event_uuid" ? kept.get(it.uuid) : undefined;
      if (first === undefined) return;
      if (first === gistOf(it)) report("retried_event", it, "name, distinct_id and timestamp are the same");
      else report("duplicate_uuid", it, `uuid ${it.uuid}`);
    },
  };
}

const hour = 3_600_000;
const day = 24 * hour;

/** This many events of this age in one request are an import. */
const bulk = 10;
const oldAge = 2 * day;

const iso = /^[+-]?\d{4,6}-\d{2}(-\d{2}([T ]\d{2}:\d{2}(:\d{2}([.,]\d{1,9})?)?\s?(Z|[+-]\d{2}(:?\d{2})?)?)?)?$/i;

const spanText = (ms: number): string =>
  ms < 3 * day ? `${Math.round(ms / hour)} hours` : `${Math.round(ms / day)} days`;

function reportSkew({ at, isHistorical, isTimed, events }: LintRequest, { report }: Remarks): void {
  if (isHistorical || !isTimed) return;
  const timed = events.filter((it) => it.dropped === undefined && it.timestamp !== undefined);
  const old = timed.filter((it) => at - it.time > oldAge);
  const [first] = old;
  const isBulk = first !== undefined && old.length >= bulk;
  if (isBulk) {
    const detail = `${old.length} of ${events.length} events are older than two days`;
    report("historical_migration_missing", { event: null, seq: first.seq }, detail);
  }
  for (const it of timed) {
    const age = at - it.time;
    if (it.warnings.includes("timestamp_in_the_future")) report("timestamp_skew", it, "in the future");
    else if (!isBulk && age > day) report("timestamp_skew", it, `${spanText(age)} before it arrived`);
  }
}

/** `timestamp_not_iso`, `timestamp_skew`, `historical_migration_missing` */
export const times = (): Rule => ({
  onRequest(request, remarks) {
    for (const it of request.events) {
      if (it.timestamp === undefined || iso.test(it.timestamp.trim())) continue;
      const isIgnored = it.warnings.includes("ignored_invalid_timestamp");
      const detail = isIgnored ? "it cannot be read; the time of arrival is used" : "it was read anyway";
      remarks.report("timestamp_not_iso", it, detail);
    }
    reportSkew(request, remarks);
  },
});

const number = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

/** The type for the detail; undefined for null, which fits every type. */
function kindOf(value: Json): string | undefined {
  if (value === null) return undefined;
  if (Array.isArray(value)) return "list";
  return typeof value === "string" ? "text" : typeof value;
}

function describeKind(value: Json, kind: string): string {
  if (typeof value !== "string") return kind;
  if (number.test(value.slice(0, 40))) return "text that reads as a number";
  return value === "true" || value === "false" ? "text that reads as a boolean" : kind;
}

/** `property_type_flip`; properties of the service start with `$` and are not examined. */
export function typeFlip(): Rule {
  const names = new RecentMap<string, Map<string, { kind: string; description: string }>>(most.names);
  return {
    onKept(it, { report }) {
      const known = getOrMake(names, it.event, () => new Map());
      for (const name of Object.keys(it.properties)) {
        const value = it.properties[name] ?? null;
        const kind = name.startsWith("$") ? undefined : kindOf(value);
        if (kind === undefined) continue;
        const first = known.get(name);
        if (first === undefined) {
          if (known.size < most.properties) known.set(name, { kind, description: describeKind(value, kind) });
        } else if (first.kind !== kind) {
          const detail = `properties.${name} was ${first.description} first, then ${describeKind(value, kind)}`;
          report("property_type_flip", it, detail, name);
        }
      }
    },
  };
}

/** The name without case and separators; `step_1_1` and `step_11` differ. */
const coreOf = (name: string): string =>
  name
    .toLowerCase()
    .replace(/(\p{N})[^\p{L}\p{N}]+(?=\p{N})/gu, "$1.")
    .replace(/[^\p{L}\p{N}.]|(?<!\p{N})\.|\.(?!\p{N})/gu, "");

/** `similar_event_names`; names of the service start with `$` and are not examined. */
export function similarNames(): Rule {
  const spellings = new RecentMap<string, string>(most.spellings);
  return {
    onKept(it, { report }) {
      const core = it.event.startsWith("$") ? "" : coreOf(it.event);
      if (core === "") return;
      const first = getOrMake(spellings, core, () => it.event);
      if (first !== it.event) report("similar_event_names", it, `"${first}" came before`, first);
    },
  };
}

const groupSubject = (type: string, key: string): string => JSON.stringify([type, key]);

const groupsOf = ({ properties: { $groups } }: LintEvent): (readonly [string, string])[] =>
  isObject($groups)
    ? Object.entries($groups).flatMap(([type, value]) => {
        const key = textOrNumber(value) || undefined;
        return key === undefined ? [] : [[type, key] as const];
      })
    : [];

/** `group_without_identify`. Groups of the scenario or of an earlier run count as described. */
export function groupIdentify({ project, port }: RuleContext): Rule {
  const described = new RecentMap<string, true>(most.groups);
  return {
    onKept(it, { report, withdraw }) {
      const { $group_type: type, $group_key } = it.properties;
      const key = textOrNumber($group_key) || undefined;
      if (it.event === "$groupidentify" && typeof type === "string" && key !== undefined) {
        described.set(groupSubject(type, key), true);
        withdraw("group_without_identify", groupSubject(type, key));
        return;
      }
      for (const [type, key] of groupsOf(it)) {
        const subject = groupSubject(type, key);
        if (described.has(subject)) continue;
        if (port.hasGroup(project, type, key)) described.set(subject, true);
        else report("group_without_identify", it, `$groups.${type} is ${key}`, subject);
      }
    },
  };
}

const mebibyte = 1024 * 1024;
/** Bodies above this share of the limit are reported. */
const reportedShare = 0.8;

/** `large_body` */
export const largeBody = (): Rule => ({
  onRequest({ bytes, mostBytes = Number.POSITIVE_INFINITY, events }, { report }) {
    if (bytes <= reportedShare * mostBytes) return;
    const detail = `${(bytes / mebibyte).toFixed(1)} of ${mostBytes / mebibyte} MB`;
    report("large_body", { event: null, seq: events[0]?.seq ?? null }, detail);
  },
});
