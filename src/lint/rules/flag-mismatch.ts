import type { Json } from "../../kernel/json.ts";
import { madeIn, recentMap } from "../recent-map.ts";
import type { LintEvent, LintRequest, Rule } from "../types.ts";

const mostIds = 2_000;
/** Flags remembered per id. */
const mostFlags = 500;

/** An event so soon after the answer may have been made before it, ms. */
const slackMs = 50;

/** What an id was given, since when, in the words of the values. */
interface Given {
  since: number;
  flags: Map<string, Set<string>>;
  /** Was there an answer that cannot be read? Then nothing can be said. */
  isUnsure: boolean;
}

function note({ flags }: Given, flag: string, value: boolean | string): void {
  const values = flags.get(flag);
  if (values) values.add(String(value));
  else if (flags.size < mostFlags) flags.set(flag, new Set([String(value)]));
}

/** Both ids are one person's: what was given to one of them may show in events of the other. */
function joined(one: Given, other: Given): Given {
  for (const [flag, values] of other.flags) for (const value of values) note(one, flag, value);
  return {
    flags: one.flags,
    since: Math.max(one.since, other.since),
    isUnsure: one.isUnsure || other.isUnsure,
  };
}

type Claim = readonly [flag: string, value: Json, where: string];

const prefix = "$feature/";

/** What an event says of flags, where it says what was served. */
function claimsOf({ event, properties }: LintEvent): Claim[] {
  const claims: Claim[] = [];
  for (const [name, value] of Object.entries(properties)) {
    if (name.startsWith(prefix)) claims.push([name.slice(prefix.length), value, `properties.${name}`]);
  }
  const { $feature_flag: flag, $feature_flag_response: response } = properties;
  if (event === "$feature_flag_called" && typeof flag === "string" && response !== undefined)
    claims.push([flag, response, "properties.$feature_flag_response"]);
  return claims;
}

/** The SDK says itself that the value is not from an answer. */
const isOwnValue = ({ properties }: LintEvent): boolean =>
  properties.locally_evaluated === true ||
  properties.$used_bootstrap_value === true ||
  (properties.$feature_flag_error !== undefined && properties.$feature_flag_error !== null);

/** `web`, `posthog-js` and the mobile ones get their flags from the service; servers may compute them. */
const clients = /^(web|js|posthog-(js|react-native|ios|android|flutter))/;

const mayCompute = ({ properties: { $lib } }: LintEvent): boolean =>
  typeof $lib !== "string" || !clients.test($lib);

/** The other id of a person that an event names. */
function otherId({ event, properties }: LintEvent): string | undefined {
  const id =
    event === "$identify"
      ? properties.$anon_distinct_id
      : event === "$create_alias" || event === "$merge_dangerously"
        ? properties.alias
        : undefined;
  return typeof id === "string" ? id : undefined;
}

/**
 * `feature_flag_mismatch`. A client may still hold an older answer than the last one, or one for the id that it had
 * before: only a value that none of the person's ids was ever served is wrong.
 */
export function flagMismatch(): Rule {
  const ids = recentMap<string, Given>(mostIds);
  let isComputed = false;

  const givenTo = (id: string, since: number): Given =>
    madeIn(ids, id, () => ({ since, flags: new Map(), isUnsure: false }));

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
    const given = givenTo(distinctId, answeredAt);
    if (!values) given.isUnsure = true;
    for (const [flag, value] of values ?? []) note(given, flag, value);
    join(distinctId, anonymousId);
  }

  /** Who takes part in a flag's early access has its value from then on, without an answer. */
  function enroll({ distinct_id, time, properties }: LintEvent): void {
    const { $feature_flag: flag, $feature_enrollment: value } = properties;
    if (typeof flag === "string" && typeof value === "boolean") note(givenTo(distinct_id, time), flag, value);
  }

  function wrongClaims(it: LintEvent): Claim[] {
    const given = ids.get(it.distinct_id);
    if (!given || given.isUnsure || it.time <= given.since + slackMs) return [];
    if (isOwnValue(it) || (isComputed && mayCompute(it))) return [];
    return claimsOf(it).filter(([flag, value]) => {
      const served = given.flags.get(flag);
      const isValue = typeof value === "boolean" || typeof value === "string";
      return served !== undefined && isValue && !served.has(String(value));
    });
  }

  return {
    look(request, { tell }) {
      if (request.fetchesDefinitions) isComputed = true;
      remember(request);
      for (const it of request.events) {
        if (it.dropped !== undefined) continue;
        join(it.distinct_id, otherId(it));
        if (it.event === "$feature_enrollment_update") enroll(it);
        for (const [flag, value, where] of wrongClaims(it)) {
          const served = [...(ids.get(it.distinct_id)?.flags.get(flag) ?? [])].join(", ");
          const detail = `${where} is ${String(value)}; served: ${served}`;
          tell({ code: "feature_flag_mismatch", event: it.event, subject: flag, detail, seq: it.seq });
        }
      }
    },
  };
}
