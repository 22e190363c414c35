import { isObject, type Json, textOrNumber } from "../../kernel/base/json.ts";
import { getOrMake, RecentMap } from "../../kernel/base/recent-map.ts";
import { itemsPerStep } from "../../kernel/base/work.ts";
import type { LintEvent, LintRequest, Remark, Rule, RuleContext } from "./rule.ts";

const mostUuids = 5_000;

/** Distinguishes events with the same uuid. */
const gistOf = ({ event, distinct_id, timestamp }: LintEvent): string =>
  JSON.stringify([event, distinct_id, timestamp]);

/** `duplicate_uuid`, `retried_event`: for events whose first delivery is remembered. */
export function duplicateUuid(): Rule {
  const kept = new RecentMap<string, string>(mostUuids);
  return {
    *examine({ events }, { report }) {
      for (const [i, it] of events.entries()) {
        if (i % itemsPerStep === 0) yield;

        if (it.uuid === null) continue;
        if (it.dropped === undefined) kept.set(it.uuid, gistOf(it));
        const first = it.dropped === "duplicate_event_uuid" ? kept.get(it.uuid) : undefined;
        if (first === undefined) continue;
        const { event, seq } = it;
        const isSame = first === gistOf(it);
        const code = isSame ? "retried_event" : "duplicate_uuid";
        const detail = isSame ? "name, distinct_id and timestamp are the same" : `uuid ${it.uuid}`;
        report({ code, event, subject: "", detail, seq });
      }
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

const remark = (code: Remark["code"], { event, seq }: LintEvent, detail: string): Remark => ({
  code,
  event,
  subject: "",
  detail,
  seq,
});

const isInFuture = ({ warnings }: LintEvent): boolean => warnings.includes("timestamp_in_the_future");

function skewOf(it: LintEvent, at: number): Remark | undefined {
  if (isInFuture(it)) return remark("timestamp_skew", it, "in the future");
  const age = at - it.time;
  return age > day ? remark("timestamp_skew", it, `${spanText(age)} before it arrived`) : undefined;
}

function skews({ at, isHistorical, isTimed, events }: LintRequest): Remark[] {
  if (isHistorical || !isTimed) return [];
  const timed = events.filter((it) => it.dropped === undefined && it.timestamp !== undefined);
  const old = timed.filter((it) => at - it.time > oldAge);
  const [first] = old;
  const isBulk = first !== undefined && old.length >= bulk;
  const missing = isBulk
    ? [
        {
          ...remark(
            "historical_migration_missing",
            first,
            `${old.length} of ${events.length} events are older than two days`,
          ),
          event: null,
        },
      ]
    : [];
  return [...missing, ...timed.flatMap((it) => (isBulk && !isInFuture(it) ? [] : (skewOf(it, at) ?? [])))];
}

const isOdd = ({ timestamp }: LintEvent): boolean => timestamp !== undefined && !iso.test(timestamp.trim());

/** `timestamp_not_iso`, `timestamp_skew`, `historical_migration_missing` */
export const times = (): Rule => ({
  examine(request, { report }) {
    for (const it of request.events) {
      if (isOdd(it))
        report(
          remark(
            "timestamp_not_iso",
            it,
            it.warnings.includes("ignored_invalid_timestamp")
              ? "it cannot be read; the time of arrival is used"
              : "it was read anyway",
          ),
        );
    }
    for (const it of skews(request)) report(it);
  },
});

/** Event names remembered. */
const mostNames = 1_000;
const mostProperties = 200;

const number = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

/** The type for the detail; undefined for null, which fits every type. */
function kindOf(value: Json): string | undefined {
  if (value === null) return undefined;
  if (Array.isArray(value)) return "list";
  return typeof value === "string" ? "text" : typeof value;
}

/** Names the usual mistake: a number or a boolean as text. */
function describeKind(value: Json, kind: string): string {
  if (typeof value !== "string") return kind;
  if (number.test(value.slice(0, 40))) return "text that reads as a number";
  return value === "true" || value === "false" ? "text that reads as a boolean" : kind;
}

interface First {
  kind: string;
  description: string;
}

/** `property_type_flip`; properties of the service start with `$` and are not examined. */
export function typeFlip(): Rule {
  const names = new RecentMap<string, Map<string, First>>(mostNames);
  return {
    *examine({ events }, { report }) {
      for (const [i, { event, properties, seq, dropped }] of events.entries()) {
        if (i % itemsPerStep === 0) yield;

        if (dropped !== undefined) continue;
        const known = getOrMake(names, event, () => new Map<string, First>());
        for (const name of Object.keys(properties)) {
          const value = properties[name] ?? null;
          const kind = name.startsWith("$") ? undefined : kindOf(value);
          if (kind === undefined) continue;
          const first = known.get(name);
          if (first === undefined) {
            if (known.size < mostProperties) known.set(name, { kind, description: describeKind(value, kind) });
          } else if (first.kind !== kind) {
            const detail = `properties.${name} was ${first.description} first, then ${describeKind(value, kind)}`;
            report({ code: "property_type_flip", event, subject: name, detail, seq });
          }
        }
      }
    },
  };
}

const mostSpellings = 5_000;

/** The name without case and separators; `step_1_1` and `step_11` differ. */
const coreOf = (name: string): string =>
  name
    .toLowerCase()
    .replace(/(\p{N})[^\p{L}\p{N}]+(?=\p{N})/gu, "$1.")
    .replace(/[^\p{L}\p{N}.]|(?<!\p{N})\.|\.(?!\p{N})/gu, "");

/** `similar_event_names`; names of the service start with `$` and are not examined. */
export function similarNames(): Rule {
  const spellings = new RecentMap<string, string>(mostSpellings);
  return {
    *examine({ events }, { report }) {
      for (const [i, { event, seq, dropped }] of events.entries()) {
        if (i % itemsPerStep === 0) yield;

        if (dropped !== undefined || event.startsWith("$")) continue;
        const core = coreOf(event);
        if (core === "") continue;
        const first = spellings.get(core);
        if (first === undefined) spellings.set(core, event);
        else if (first !== event)
          report({ code: "similar_event_names", event, subject: first, detail: `"${first}" came before`, seq });
      }
    },
  };
}

const mostGroups = 5_000;

const groupSubject = (type: string, key: string): string => JSON.stringify([type, key]);

/** Type and key of each group that an event belongs to. */
const groupsOf = ({ properties: { $groups } }: LintEvent): (readonly [string, string])[] =>
  isObject($groups)
    ? Object.entries($groups).flatMap(([type, value]) => {
        const key = textOrNumber(value) || undefined;
        return key === undefined ? [] : [[type, key] as const];
      })
    : [];

/** `group_without_identify`. Groups of the scenario or of an earlier run count as described. */
export function groupIdentify({ project, port }: RuleContext): Rule {
  const described = new RecentMap<string, true>(mostGroups);
  return {
    *examine({ events }, { report, withdraw }) {
      for (const [i, it] of events.entries()) {
        if (i % itemsPerStep === 0) yield;

        if (it.dropped !== undefined) continue;
        const { $group_type: type, $group_key } = it.properties;
        const key = textOrNumber($group_key) || undefined;
        if (it.event === "$groupidentify" && typeof type === "string" && key !== undefined) {
          described.set(groupSubject(type, key), true);
          withdraw("group_without_identify", groupSubject(type, key));
          continue;
        }
        for (const [type, key] of groupsOf(it)) {
          const subject = groupSubject(type, key);
          if (described.has(subject)) continue;
          if (port.hasGroup(project, type, key)) described.set(subject, true);
          else {
            const detail = `$groups.${type} is ${key}`;
            report({ code: "group_without_identify", event: it.event, subject, detail, seq: it.seq });
          }
        }
      }
    },
  };
}

const mebibyte = 1024 * 1024;
/** Bodies above this share of the limit are reported. */
const reportedShare = 0.8;

/** `large_body` */
export const largeBody = (): Rule => ({
  examine({ bytes, mostBytes = Number.POSITIVE_INFINITY, events }, { report }) {
    if (bytes <= reportedShare * mostBytes) return;
    const detail = `${(bytes / mebibyte).toFixed(1)} of ${mostBytes / mebibyte} MB`;
    report({ code: "large_body", event: null, subject: "", detail, seq: events[0]?.seq ?? null });
  },
});
