import type { Json } from "../../kernel/base/json.ts";
import { getOrMake, RecentMap } from "../../kernel/base/recent-map.ts";
import { stringOf } from "../../kernel/base/text.ts";
import { isMinimalFlagCall } from "../../state/journal/sdk-properties.ts";
import type { LintEvent, LintRequest } from "./request.ts";
import type { Remarks, Rule, RuleContext } from "./rule.ts";

/** Ids remembered per project. */
const mostIds = 2_000;
/** Flags remembered per id. */
const mostFlags = 500;

/** An event this soon after the answer may be older than it, ms. */
const slackMs = 50;

/** Values that were served to an id, as strings, and since when. */
interface Served {
  since: number;
  flags: Map<string, Set<string>>;
  /** True after an answer that cannot be read: the rule is silent. */
  isUnsure: boolean;
}

function note({ flags }: Served, flag: string, value: boolean | string): void {
  const values = flags.get(flag);
  if (values) values.add(stringOf(value));
  else if (flags.size < mostFlags) flags.set(flag, new Set([stringOf(value)]));
}

function joined(one: Served, other: Served): Served {
  for (const [flag, values] of other.flags) for (const value of values) note(one, flag, value);
  return { flags: one.flags, since: Math.max(one.since, other.since), isUnsure: one.isUnsure || other.isUnsure };
}

type Claim = readonly [flag: string, value: Json, where: string];

export const featurePrefix = "$feature/";

function claimsOf({ event, properties }: LintEvent): Claim[] {
  const claims: Claim[] = [];
  for (const [name, value] of Object.entries(properties)) {
    if (name.startsWith(featurePrefix)) claims.push([name.slice(featurePrefix.length), value, `properties.${name}`]);
  }
  const { $feature_flag: flag, $feature_flag_response: response } = properties;
  if (event === "$feature_flag_called" && typeof flag === "string" && response !== undefined)
    claims.push([flag, response, "properties.$feature_flag_response"]);
  return claims;
}

/** True if the SDK marks the value as not from an answer, or left such a mark out. */
const isOwnValue = (it: LintEvent): boolean =>
  isMarked(it) || (!mayCompute(it) && isMinimalFlagCall(it.event, it.properties));

const isMarked = ({ properties }: LintEvent): boolean =>
  properties.locally_evaluated === true ||
  properties.$used_bootstrap_value === true ||
  (properties.$feature_flag_error !== undefined && properties.$feature_flag_error !== null);

/** `web`, `posthog-js` and the mobile SDKs get their flags from the service; servers may compute them. */
const clients = /^(web|js|posthog-(js|react-native|ios|android|flutter))/;

export const mayCompute = ({ properties: { $lib } }: LintEvent): boolean =>
  typeof $lib !== "string" || !clients.test($lib);

export function otherId({ event, properties }: LintEvent): string | undefined {
  const id =
    event === "$identify"
      ? properties.$anon_distinct_id
      : event === "$create_alias" || event === "$merge_dangerously"
        ? properties.alias
        : undefined;
  return typeof id === "string" ? id : undefined;
}

/**
 * `feature_flag_mismatch`. A client may hold an older answer, or one for an earlier id: a value is wrong only if it was
 * never served to any of the person's ids.
 */
export function flagMismatch(): Rule {
  const ids = new RecentMap<string, Served>(mostIds);
  let isComputed = false;

  const servedTo = (id: string, since: number): Served =>
    getOrMake(ids, id, () => ({ since, flags: new Map(), isUnsure: false }));

  function join(id: string, other: string | undefined): void {
    if (other === undefined || other === id) return;
    const [one, two] = [ids.get(id), ids.get(other)];
    const both = one && two && one !== two ? joined(one, two) : (one ?? two);
    if (!both) return;
    ids.set(id, both);
    ids.set(other, both);
  }

  function remember({ serving, answeredAt }: LintRequest): void {
    if (!serving) return;
    const { distinctId, anonymousId, values } = serving;
    const served = servedTo(distinctId, answeredAt);
    if (!values) served.isUnsure = true;
    for (const [flag, value] of values ?? []) note(served, flag, value);
    join(distinctId, anonymousId);
  }

  /** Early access enrolment sets a flag's value without an answer. */
  function enroll({ distinct_id, time, properties }: LintEvent): void {
    const { $feature_flag: flag, $feature_enrollment: value } = properties;
    if (typeof flag === "string" && typeof value === "boolean") note(servedTo(distinct_id, time), flag, value);
  }

  function wrongClaims(it: LintEvent): Claim[] {
    const served = ids.get(it.distinct_id);
    if (!served || served.isUnsure || it.time <= served.since + slackMs) return [];
    if (isOwnValue(it) || (isComputed && mayCompute(it))) return [];
    return claimsOf(it).filter(([flag, value]) => {
      const values = served.flags.get(flag);
      const isValue = typeof value === "boolean" || typeof value === "string";
      return values !== undefined && isValue && !values.has(stringOf(value));
    });
  }

  return {
    onRequest(request) {
      if (request.fetchesDefinitions) isComputed = true;
      remember(request);
    },
    onKept(it, { report }) {
      join(it.distinct_id, otherId(it));
      if (it.event === "$feature_enrollment_update") enroll(it);
      for (const [flag, value, where] of wrongClaims(it)) {
        const served = [...(ids.get(it.distinct_id)?.flags.get(flag) ?? [])].join(", ");
        report("feature_flag_mismatch", it, `${where} is ${stringOf(value)}; served: ${served}`, flag);
      }
    },
  };
}

/** Flags remembered per id. */
const mostRequested = 100;

interface Known {
  called: Set<string>;
  requested: Map<string, { sender: string; at: number }>;
}

const blank = (): Known => ({ called: new Set(), requested: new Map() });

/** Events that identify, and do not stand for an action. */
const aboutPersons: ReadonlySet<string> = new Set(["$identify", "$create_alias", "$set", "$groupidentify"]);

export const personSubject = (flag: string, id: string): string => JSON.stringify([flag, id]);

/**
 * `feature_flag_called_missing`. Browsers get all flags at once, so only flags that a server's SDK requested by name
 * count, and only later events of the same SDK. SDKs report each call once: the rule is silent if part of the traffic
 * was not examined.
 */
export function flagCalled({ isWhole }: RuleContext): Rule {
  const ids = new RecentMap<string, Known>(mostIds);

  function remember({ serving, sender, answeredAt }: LintRequest): void {
    if (!serving || sender === undefined) return;
    const { requested } = getOrMake(ids, serving.distinctId, blank);
    for (const flag of serving.requested) {
      const value = serving.values?.get(flag);
      if (value === undefined || value === false || requested.has(flag) || requested.size >= mostRequested) continue;
      requested.set(flag, { sender, at: answeredAt });
    }
  }

  function noteCall({ distinct_id, properties }: LintEvent, { withdraw }: Remarks): void {
    const flag = properties.$feature_flag;
    const { called } = getOrMake(ids, distinct_id, blank);
    if (typeof flag !== "string" || called.size >= mostRequested) return;
    called.add(flag);
    withdraw("feature_flag_called_missing", personSubject(flag, distinct_id));
  }

  function reportMissing(it: LintEvent, { report }: Remarks): void {
    const known = ids.get(it.distinct_id);
    if (!known || aboutPersons.has(it.event)) return;
    for (const [flag, { sender, at }] of known.requested) {
      if (known.called.has(flag) || it.properties.$lib !== sender || it.time < at) continue;
      const detail = `${flag} was served to ${it.distinct_id}, and ${sender} reported no call`;
      report("feature_flag_called_missing", it, detail, personSubject(flag, it.distinct_id));
    }
  }

  return {
    onRequest: (request) => void remember(request),
    onKept(it, remarks) {
      if (it.event === "$feature_flag_called") noteCall(it, remarks);
      else if (isWhole()) reportMissing(it, remarks);
    },
  };
}
