import type { Clock } from "../kernel/clock.ts";
import type { FaultUse, ShownFault } from "../model/fault.ts";
import { type Blow, blowOf, type CallFacts, delayOf } from "./effect.ts";
import { type Rule, ruleOf, showRule } from "./rule.ts";

/** What is to go wrong with one call. */
export interface Taken extends Blow {
  /** Names of the rules that hit it. */
  readonly name: string;
  /** ms. */
  readonly delay: number;
}

/** The faults of a sim. */
export interface Faults {
  /** Is any rule in force? */
  readonly active: boolean;
  /** All rules in the order they were applied; those that are over stay until they are cleared. */
  list(): ShownFault[];
  /** Puts a rule in force. */
  apply(use: FaultUse): ShownFault;
  /** Ends and forgets rules by id or name, or all; returns how many there were. */
  clear(which?: string): number;
  /** These and no others. */
  replace(uses: readonly FaultUse[]): void;
  /**
   * Decides about a call, and counts it: latencies of all rules that hit it add up, and of the other effects the
   * first rule's counts. The same calls in the same order meet the same faults.
   */
  take(facts: CallFacts): Taken | undefined;
}

export interface FaultsOptions {
  readonly clock: Clock;
  /** Told when a rule begins or ends, in words. */
  readonly onChange?: (text: string) => void;
}

/** Rules that are over are forgotten beyond this many, the oldest first. */
const endedKept = 100;

const endings = { used_up: "used up", expired: "its time is over" } as const;

/** Rules that decide which requests go wrong, and how. */
export function createFaults({ clock, onChange = () => {} }: FaultsOptions): Faults {
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
    onChange(`fault ${rule.name} is over: ${endings[state]}; requests touched: ${rule.used}`);
    settle();
  }

  /** Ends what the clock has ended. */
  function look(): void {
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

  /** The dice are thrown only for calls that the rule is about. */
  const hits = (rule: Rule): boolean => rule.rate >= 1 || rule.random() < rule.rate;

  function count(rule: Rule): void {
    rule.used++;
    if (rule.times !== null && rule.used >= rule.times) end(rule, "used_up");
  }

  return {
    get active() {
      return active;
    },
    list() {
      look();
      return rules.map(showRule);
    },
    apply: (use) => showRule(add(use)),
    clear,
    replace(uses) {
      clear();
      for (const use of uses) add(use);
    },
    take(facts) {
      look();
      const names: string[] = [];
      let delay = 0;
      let blow: Blow | undefined;
      for (const rule of rules.filter(isOn)) {
        const own = rule.suits(facts) ? blowOf(rule.effect, facts) : undefined;
        if (own === undefined || !hits(rule)) continue;
        const isWaitOnly = Object.keys(own).length === 0;
        if (!isWaitOnly && blow !== undefined) continue;
        if (!isWaitOnly) blow = own;
        delay += delayOf(rule.effect, rule.random);
        names.push(rule.name);
        count(rule);
      }
      return names.length === 0 ? undefined : { ...blow, name: names.join(", "), delay };
    },
  };
}
