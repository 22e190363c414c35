import type { TimeSource } from "../../kernel/base/clock.ts";
import { isoOf } from "../../kernel/base/clock.ts";
import { seededRandom } from "../../kernel/base/seeded-random.ts";
import { readDuration } from "../../kernel/base/time-text.ts";
import type { CallFacts } from "./call-facts.ts";
import { type Effect, effectFor } from "./effect.ts";
import { presets } from "./presets.ts";
import { placeTest } from "./routes.ts";
import type { Fault, FaultEffect, FaultMatch, FaultOrder, FaultUse } from "./shapes.ts";

export interface Taken extends Effect {
  readonly name: string;
  /** ms. */
  readonly delay: number;
}

export type FaultRules = ReturnType<typeof createFaults>;

export interface FaultsOptions {
  readonly clock: TimeSource;
  /** Called with a sentence when a rule begins or ends. */
  readonly onChange?: (text: string) => void;
}

/** Ended rules beyond this many are forgotten, the oldest first. */
const endedKept = 100;

const endings = { used_up: "used up", expired: "its time has passed" } as const;

export function createFaults({ clock, onChange = () => {} }: FaultsOptions) {
  let rules: Rule[] = [];
  let active = false;
  let made = 0;

  const isOn = (rule: Rule): boolean => rule.state === "active";

  function settle(): void {
    active = rules.some(isOn);
    const over = rules.filter((it) => !isOn(it)).slice(0, -endedKept);
    if (over.length > 0) rules = rules.filter((it) => !over.includes(it));
  }

  function end(rule: Rule, state: keyof typeof endings): void {
    rule.state = state;
    onChange(`fault ${rule.name} ended: ${endings[state]}; requests affected: ${rule.used}`);
    settle();
  }

  function expire(): void {
    const now = clock.now();
    for (const rule of rules.filter(isOn)) {
      if (rule.duration !== null && now >= rule.since + rule.duration) end(rule, "expired");
    }
  }

  function add(use: FaultUse): Rule {
    made++;
    const rule = ruleOf(use, `fault-${made}`, clock.now());
    rules.push(rule);
    active = true;
    onChange(`fault ${rule.name} is on: ${showRule(rule).text}`);
    return rule;
  }

  function clear(which?: string): number {
    const gone = which === undefined ? rules : rules.filter((it) => it.id === which || it.name === which);
    rules = rules.filter((it) => !gone.includes(it));
    settle();
    for (const rule of gone.filter(isOn)) onChange(`fault ${rule.name} is cleared`);
    return gone.length;
  }

  /** Random numbers are drawn only for matching calls. */
  const isAffected = (rule: Rule): boolean => rule.rate >= 1 || rule.random() < rule.rate;

  function count(rule: Rule): void {
    rule.used++;
    if (rule.times !== null && rule.used >= rule.times) end(rule, "used_up");
  }

  function list(): Fault[] {
    expire();
    return rules.map(showRule);
  }

  return {
    get active() {
      return active;
    },
    list,
    names: () => list().flatMap(({ state, name }) => (state === "active" ? [name] : [])),
    apply: (use: FaultUse): Fault => showRule(add(use)),
    clear,
    replace(uses: readonly FaultUse[]) {
      clear();
      for (const use of uses) add(use);
    },
    /**
     * Decides about a call, and counts it. Latencies of all matching rules add up; of the other effects the first
     * rule's applies. The same calls in the same order get the same faults.
     */
    take(facts: CallFacts): Taken | undefined {
      expire();
      const names: string[] = [];
      let delay = 0;
      let effect: Effect | undefined;
      for (const rule of rules.filter(isOn)) {
        const own = rule.matches(facts) ? effectFor(rule.effect, facts) : undefined;
        if (own === undefined || !isAffected(rule)) continue;
        const isWaitOnly = Object.keys(own).length === 0;
        if (!isWaitOnly && effect !== undefined) continue;
        if (!isWaitOnly) effect = own;
        delay += delayOf(rule.effect, rule.random);
        names.push(rule.name);
        count(rule);
      }
      return names.length === 0 ? undefined : { ...effect, name: names.join(", "), delay };
    },
  };
}

interface Rule extends Omit<Fault, "since" | "text"> {
  /** When it began, in ms. */
  readonly since: number;
  readonly random: () => number;
  matches(facts: CallFacts): boolean;
}

const orderOf = (use: FaultUse): FaultOrder => (typeof use === "string" ? { preset: use } : use);

function testOf({ project, ...place }: FaultMatch): Rule["matches"] {
  const isPlace = placeTest(place);
  return (facts) => isPlace(facts) && (project === undefined || facts.project() === project);
}

/** How long a fault delays an answer, in ms. The layer of faults waits that long (`delivering` of kernel/http). */
function delayOf({ latency = 0, jitter = 0 }: FaultEffect, random: () => number): number {
  return jitter === 0 ? latency : Math.max(0, Math.round(latency + (random() * 2 - 1) * jitter));
}

/** A time as written, in ms. */
const msOf = (time: number | string): number => (typeof time === "number" ? time : (readDuration(time) ?? 0));

function effectOf({ latency, jitter, ...effect }: NonNullable<FaultOrder["effect"]>): FaultEffect {
  return {
    ...effect,
    ...(latency !== undefined && { latency: msOf(latency) }),
    ...(jitter !== undefined && { jitter: msOf(jitter) }),
  };
}

/** For an order without an effect, which the shape rejects. */
const nothing: FaultEffect = { latency: 0 };

function ruleOf(use: FaultUse, id: string, since: number): Rule {
  const order = orderOf(use);
  const { preset = null, seed = 1, rate = 1, times = null, duration } = order;
  const base = preset === null ? undefined : presets[preset];
  const match: FaultMatch = { ...base?.match, ...order.match };
  return {
    id,
    name: order.name ?? preset ?? id,
    preset,
    match,
    effect: order.effect === undefined ? (base?.effect ?? nothing) : effectOf(order.effect),
    rate,
    seed,
    times,
    duration: duration === undefined ? null : msOf(duration),
    state: "active",
    used: 0,
    since,
    random: seededRandom(seed),
    matches: testOf(match),
  };
}

const showRule = ({ random, matches, since, ...rule }: Rule): Fault => ({
  ...rule,
  since: isoOf(since),
  text: describeFault(rule),
});

const seconds = (ms: number): string => (ms % 1000 === 0 ? `${ms / 1000} s` : `${ms} ms`);

const socketTexts = { reset: "a connection reset", hang: "no response" } as const;

const texts: readonly ((effect: FaultEffect) => string | undefined)[] = [
  ({ status }) => (status === undefined ? undefined : `status ${status}`),
  ({ socket, after }) => socket && `${socketTexts[socket]}${after ? " after the request was handled" : ""}`,
  ({ body, status }) => (status === undefined && body === "garbage" ? "responses that are not JSON" : undefined),
  ({ body, status }) => (status === undefined && body === "truncate" ? "responses cut off half way" : undefined),
  ({ flags }) => flags && (flags === "partial" ? "every second flag failing" : `failing flags ${flags.join(", ")}`),
  ({ quota }) => quota && `used up: ${quota.join(", ")}`,
  ({ results }) => results && `the result ${results.result} (${results.details}) for each event of capture v1`,
];

function effectText(effect: FaultEffect): string {
  const { latency, jitter } = effect;
  const wait = latency && `${seconds(latency)}${jitter ? ` ± ${seconds(jitter)}` : ""} of latency`;
  const what = texts.map((text) => text(effect)).find((it) => it);
  return [wait, what].filter((it) => it).join(", then ") || "no latency";
}

function matchText({ method, route, project }: FaultMatch): string {
  const where = [method, route].filter((it) => it !== undefined).join(" ") || "all requests";
  return project === undefined ? where : `${where} of project ${project}`;
}

/** A rule in words: what, where, how often, for how long. */
function describeFault({ match, effect, rate, times, duration }: Omit<Fault, "since" | "text">): string {
  const parts = [
    `${effectText(effect)} on ${matchText(match)}`,
    rate < 1 && `for ${Number((rate * 100).toFixed(3))} % of them`,
    times !== null && (times === 1 ? "once" : `${times} times`),
    duration !== null && `for ${seconds(duration)}`,
  ];
  return parts.filter((part) => part !== false).join(", ");
}
