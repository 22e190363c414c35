import { readDuration } from "../kernel/time-text.ts";
import type {
  FaultEffect,
  FaultMatch,
  FaultOrder,
  FaultUse,
  PresetName,
  ShownFault,
} from "../model/fault.ts";
import { placeTest } from "../model/fault-route.ts";
import { describeFault, type Told } from "./describe.ts";
import type { CallFacts } from "./effect.ts";
import { presets } from "./presets.ts";
import { seededRandom } from "./random.ts";

/** A rule in force, or one that was. */
export interface Rule extends Told {
  readonly id: string;
  readonly name: string;
  readonly preset: PresetName | null;
  readonly seed: number;
  /** When it began, ms. */
  readonly since: number;
  readonly random: () => number;
  suits(facts: CallFacts): boolean;
  state: ShownFault["state"];
  used: number;
}

const orderOf = (use: FaultUse): FaultOrder => (typeof use === "string" ? { preset: use } : use);

function testOf({ project, ...place }: FaultMatch): Rule["suits"] {
  const suitsPlace = placeTest(place);
  return (facts) => suitsPlace(facts) && (project === undefined || facts.project() === project);
}

/** A time as it is authored, in ms. */
const msOf = (time: number | string): number => (typeof time === "number" ? time : (readDuration(time) ?? 0));

function effectOf({ latency, jitter, ...effect }: NonNullable<FaultOrder["effect"]>): FaultEffect {
  return {
    ...effect,
    ...(latency !== undefined && { latency: msOf(latency) }),
    ...(jitter !== undefined && { jitter: msOf(jitter) }),
  };
}

/** An effect that does nothing, for an order that is none (the schema refuses it). */
const nothing: FaultEffect = { latency: 0 };

/** Makes a rule of what was asked for. */
export function ruleOf(use: FaultUse, id: string, since: number): Rule {
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
    since,
    random: seededRandom(seed),
    suits: testOf(match),
    state: "active",
    used: 0,
  };
}

export const showRule = (rule: Rule): ShownFault => ({
  id: rule.id,
  name: rule.name,
  preset: rule.preset,
  match: rule.match,
  effect: rule.effect,
  rate: rule.rate,
  seed: rule.seed,
  times: rule.times,
  duration: rule.duration,
  state: rule.state,
  used: rule.used,
  since: new Date(rule.since).toISOString(),
  text: describeFault(rule),
});
