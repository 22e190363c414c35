import { isoOf } from "../../kernel/base/clock.ts";
import { fnv1a } from "../../kernel/base/hash.ts";
import { uuidV7 } from "../../kernel/base/ids.ts";
import type { Json, JsonObject } from "../../kernel/base/json.ts";
import { seededRandom } from "../../kernel/base/seeded-random.ts";
import { counted } from "../../kernel/base/text.ts";
import { readDuration } from "../../kernel/base/time-text.ts";
import { bucketOf } from "../../service/flags/engine/bucket-hash.ts";
import { GenerationCalendar, type Period } from "./calendar.ts";
import { countOf, type DrawAll, drawerOf, type Random, spanOf, weighted } from "./draws.ts";
import { FigureCounter, type TrafficFigures, type UserTally } from "./figures.ts";
import { Queue } from "./queue.ts";
import type { Exposure, Persona, PersonaStep } from "./shapes.ts";

export interface GeneratedEvent {
  uuid: string;
  event: string;
  distinct_id: string;
  /** ISO 8601. */
  timestamp: string;
  properties: JsonObject;
  $set?: JsonObject;
}

/** Traffic of one persona, with every default filled in. */
export interface GenerationPlan extends Period {
  readonly persona: Persona;
  readonly users: number;
  readonly seed: number;
}

interface Group {
  readonly key: string;
  readonly properties: JsonObject;
  isDescribed: boolean;
}

interface User {
  readonly number: number;
  readonly anonymousId: string;
  readonly id: string;
  readonly firstWeek: number;
  readonly person: JsonObject;
  /** Properties of all its events, chosen once. */
  readonly own: JsonObject;
  /** By type. */
  readonly groups: Readonly<Record<string, Group>>;
  readonly groupKeys: JsonObject;
  /** Keys of flags that were not called yet. */
  readonly uncalled: Set<string>;
  readonly flags: Readonly<Record<string, boolean | string>>;
  readonly tally: UserTally;
  isIdentified: boolean;
  /** True once its events have its groups. */
  isInGroups: boolean;
  /** True once the event that returns depend on has occurred. */
  mayReturn: boolean;
  lastTime: number;
  session: JsonObject;
}

/** Something that is due: the next event of a user, or the beginning of a week in which it may return. */
interface Due {
  readonly user: User;
  /** Undefined for a week. */
  readonly steps: readonly CompiledStep[] | undefined;
  /** Index of the step, or of the week. */
  index: number;
  /** How many events of the step are left, this one included. */
  left: number;
}

interface CompiledStep {
  readonly event: string;
  readonly rate: number;
  readonly isIdentifying: boolean;
  readonly span: (random: Random) => number;
  readonly count: (random: Random) => number;
  readonly draw: DrawAll;
  readonly set: DrawAll | undefined;
}

interface CompiledGroup {
  readonly type: string;
  readonly members: (random: Random) => number;
  readonly draw: DrawAll;
}

/** A pause that ends a session, ms. */
const sessionPause = 30 * 60_000;

const compiled = (steps: readonly PersonaStep[]): CompiledStep[] =>
  steps.map((it) => ({
    event: it.event,
    rate: it.rate ?? 1,
    isIdentifying: it.identify ?? false,
    span: spanOf(it.after),
    count: countOf(it.times),
    draw: drawerOf(it.properties),
    set: it.set && drawerOf(it.set),
  }));

/** The value of a flag for an id: that of the service, if the flag has these percentages and no condition. */
function flagValue(key: string, { rollout = 100, variants }: Exposure, id: string): boolean | string {
  if (bucketOf(key, id, "") > rollout / 100) return false;
  let end = 0;
  const bucket = bucketOf(key, id, "variant");
  for (const [variant, share] of Object.entries(variants ?? {})) {
    end += share / 100;
    if (bucket < end) return variant;
  }
  return variants === undefined;
}

const utmKeys = ["source", "medium", "campaign"] as const;

export function eventNamesOf({ steps, returns, flags, groups }: Persona): string[] {
  const all = [...steps, ...(returns?.steps ?? [])];
  const special = [
    ...(all.some((it) => it.identify) ? ["$identify"] : []),
    ...(groups ? ["$groupidentify"] : []),
    ...(flags ? ["$feature_flag_called"] : []),
  ];
  return [...new Set([...special, ...all.map((it) => it.event)])];
}

const defaultWindow = "14d";

/** Why a plan cannot be followed; undefined if it can. @param now A sim's time: it changes times of later events */
export function unusablePlan(plan: GenerationPlan, now?: number): string | undefined {
  const { persona, days, until } = plan;
  const calendar = new GenerationCalendar(plan, persona);
  if (now !== undefined && until > now) return `the end, ${isoOf(until)}, is after the sim's time, ${isoOf(now)}`;
  if (calendar.from < 0) return `the ${counted(days, "day")} until ${isoOf(until)} begin before 1970`;
  if (calendar.hasTime) return undefined;
  const period = `the last ${counted(days, "day")}`;
  return `${persona.name} has no hour with a weight in ${period}; change hours, weekdays or days`;
}

/**
 * The events of a plan, in order of time: the same plan gives the same events. It holds the users who may still come
 * back, never their events.
 */
export class EventGenerator implements Iterable<GeneratedEvent> {
  readonly plan: GenerationPlan;
  readonly #calendar: GenerationCalendar;
  readonly #random: Random;
  readonly #queue = new Queue<Due>();
  readonly #counter: FigureCounter;
  readonly #steps: readonly CompiledStep[];
  readonly #laterSteps: readonly CompiledStep[];
  readonly #visits: (random: Random) => number;
  readonly #source: (random: Random) => number;
  readonly #draw: { readonly person: DrawAll; readonly own: DrawAll; readonly session: DrawAll };
  readonly #flags: readonly (readonly [key: string, exposure: Exposure])[];
  readonly #groupTypes: readonly CompiledGroup[];
  /** By type: the group that gets the next users, and how many. */
  readonly #open = new Map<string, { group: Group; left: number; number: number }>();
  readonly #identifies: boolean;
  #arrived = 0;
  #share = 0;
  #nextArrival = 0;
  #started = false;

  constructor(plan: GenerationPlan) {
    const { persona, seed } = plan;
    const { steps, returns, funnel, revenue } = persona;
    this.plan = plan;
    this.#calendar = new GenerationCalendar(plan, persona);
    this.#random = seededRandom(fnv1a(`${seed}:${persona.name}`));
    this.#steps = compiled(steps);
    this.#laterSteps = returns?.steps ? compiled(returns.steps) : this.#steps;
    this.#visits = countOf(returns?.visits);
    this.#source = weighted(persona.utm?.map((it) => it.weight) ?? []);
    this.#draw = {
      person: drawerOf(persona.person),
      own: drawerOf(persona.properties),
      session: drawerOf(persona.session),
    };
    this.#flags = Object.entries(persona.flags ?? {});
    this.#groupTypes = Object.entries(persona.groups ?? {}).map(([type, it]) => ({
      type,
      members: countOf(it.members),
      draw: drawerOf(it.properties),
    }));
    this.#identifies = [...steps, ...(returns?.steps ?? [])].some((it) => it.identify);
    this.#counter = new FigureCounter(this.#calendar, {
      names: eventNamesOf(persona),
      funnel: {
        steps: funnel?.steps ?? steps.map((it) => it.event),
        windowMs: readDuration(funnel?.window ?? defaultWindow) ?? 0,
      },
      retained: persona.retention?.event ?? steps[0]?.event ?? "",
      revenue: revenue ?? null,
    });
  }

  /** The events. They can be read once. */
  *[Symbol.iterator](): Generator<GeneratedEvent, void> {
    if (this.#started) throw new Error("traffic can be read once: make it again for the same events");
    this.#started = true;
    this.#drawArrival();
    for (;;) {
      const next = this.#queue.nextTime ?? Number.POSITIVE_INFINITY;
      if (this.#arrived < this.plan.users && this.#nextArrival <= next) this.#arrive();
      else {
        const due = this.#queue.take();
        if (!due) return;
        if (due.steps) yield* this.#happen(due, due.steps, next);
        else this.#decideWeek(due);
      }
    }
  }

  figures(): TrafficFigures {
    const { persona, seed, timeZone, weekStart } = this.plan;
    return {
      persona: persona.name,
      seed,
      time_zone: timeZone,
      week_start: weekStart,
      from: isoOf(this.#calendar.from),
      until: isoOf(this.#calendar.until),
      ...this.#counter.figures(),
    };
  }

  /** Sorted random numbers one by one: each is the least of those that are left. */
  #drawArrival(): void {
    const left = this.plan.users - this.#arrived;
    this.#share = 1 - (1 - this.#share) * (1 - this.#random()) ** (1 / left);
    this.#nextArrival = this.#calendar.timeAt(this.#share);
  }

  #arrive(): void {
    const time = this.#nextArrival;
    const { name, returns } = this.plan.persona;
    const random = this.#random;
    const number = ++this.#arrived;
    const id = `${name}-${this.plan.seed}-${number}`;
    const anonymousId = uuidV7(time, random);
    const flags = Object.fromEntries(
      this.#flags.map(([key, exposure]) => [key, flagValue(key, exposure, anonymousId)]),
    );
    const own: JsonObject = {};
    this.#draw.own(own, random, number);
    for (const [key, value] of Object.entries(flags)) own[`$feature/${key}`] = value;
    if (this.#flags.length > 0) own.$active_feature_flags = Object.keys(flags).filter((it) => flags[it] !== false);
    const person: JsonObject = {};
    this.#draw.person(person, random, number);
    const groups = Object.fromEntries(this.#groupTypes.map((it) => [it.type, this.#groupFor(it)]));
    const user: User = {
      number,
      anonymousId,
      id,
      firstWeek: this.#calendar.weekOf(this.#calendar.dayOf(time)),
      person,
      own,
      groups,
      groupKeys: Object.fromEntries(Object.entries(groups).map(([type, { key }]) => [type, key])),
      uncalled: new Set(Object.keys(flags)),
      flags,
      tally: this.#counter.newUser(),
      isIdentified: false,
      isInGroups: false,
      mayReturn: returns?.only_after === undefined,
      lastTime: Number.NEGATIVE_INFINITY,
      session: {},
    };
    this.#begin(user, this.#steps, time);
    if (returns) this.#addWeek({ user, steps: undefined, index: user.firstWeek + 1, left: 0 });
    if (this.#arrived < this.plan.users) this.#drawArrival();
  }

  #groupFor({ type, members, draw }: CompiledGroup): Group {
    let open = this.#open.get(type);
    if (!open || open.left === 0) {
      const number = (open?.number ?? 0) + 1;
      const properties: JsonObject = {};
      draw(properties, this.#random, number);
      const group = { key: `${type}-${this.plan.seed}-${number}`, properties, isDescribed: false };
      open = { group, left: members(this.#random), number };
      this.#open.set(type, open);
    }
    open.left--;
    return open.group;
  }

  /** Begins the first step of a visit, if the user gets there. */
  #begin(user: User, steps: readonly CompiledStep[], time: number): void {
    this.#addStep({ user, steps, index: 0, left: 0 }, steps[0], time);
  }

  #addStep(due: Due, step: CompiledStep | undefined, time: number): void {
    if (!step || time > this.plan.until || (step.rate < 1 && this.#random() >= step.rate)) return;
    due.left = step.count(this.#random);
    this.#queue.add(time, due);
  }

  #addWeek(due: Due): void {
    const start = this.#calendar.startOfWeek(due.index);
    if (start !== undefined) this.#queue.add(start, due);
  }

  #decideWeek(due: Due): void {
    const { user, index } = due;
    const { weeks = [] } = this.plan.persona.returns ?? {};
    const chance = weeks[Math.min(index - user.firstWeek, weeks.length) - 1] ?? 0;
    const returns = this.#random() < chance && user.mayReturn;
    for (let visits = returns ? this.#visits(this.#random) : 0; visits > 0; visits--) {
      const time = this.#calendar.timeInWeek(index, this.#random());
      if (time !== undefined) this.#begin(user, this.#laterSteps, time);
    }
    due.index++;
    this.#addWeek(due);
  }

  /** The event that is due, after those that it needs; then the next one is due. */
  #happen(due: Due, steps: readonly CompiledStep[], time: number): readonly GeneratedEvent[] {
    const { user, index } = due;
    const step = steps[index];
    if (!step) return [];
    // two visits of a user may meet: no two steps are at the same time
    if (time <= user.lastTime) {
      if (user.lastTime < this.plan.until) this.#queue.add(user.lastTime + 1, due);
      return [];
    }
    if (time - user.lastTime > sessionPause) user.session = this.#newSession(user, time);
    user.lastTime = time;
    const events: GeneratedEvent[] = [];
    if (step.isIdentifying && !user.isIdentified) events.push(this.#identify(user, time));
    if (!user.isInGroups && (user.isIdentified || !this.#identifies)) this.#joinGroups(user, time, events);
    if (user.uncalled.size > 0) this.#callFlags(user, step.event, time, events);
    events.push(this.#eventOf(user, step, time));
    if (step.event === this.plan.persona.returns?.only_after) user.mayReturn = true;
    due.left--;
    if (due.left > 0) {
      const next = time + step.span(this.#random);
      if (next <= this.plan.until) this.#queue.add(next, due);
    } else {
      due.index++;
      const next = steps[due.index];
      if (next) this.#addStep(due, next, time + next.span(this.#random));
    }
    return events;
  }

  #newSession(user: User, time: number): JsonObject {
    const random = this.#random;
    const session: JsonObject = {
      $lib: "phx-sim",
      $device_id: user.anonymousId,
      $session_id: uuidV7(time, random),
      $window_id: uuidV7(time, random),
      ...user.own,
    };
    const source = this.plan.persona.utm?.[this.#source(random)];
    for (const key of utmKeys) if (source?.[key] !== undefined) session[`utm_${key}`] = source[key];
    this.#draw.session(session, random, user.number);
    return session;
  }

  #event(user: User, event: string, time: number, properties: JsonObject, set?: JsonObject): GeneratedEvent {
    const hasPerson = user.isIdentified || this.plan.persona.person_profiles === "always";
    const all: JsonObject = { $is_identified: user.isIdentified, $process_person_profile: hasPerson };
    // twice as fast as spreading them
    Object.assign(all, user.session, properties);
    if (user.isInGroups) all.$groups = user.groupKeys;
    const { revenue } = this.plan.persona;
    const sum: Json | undefined = event === revenue?.event ? all[revenue.property] : undefined;
    this.#counter.add(user.tally, event, time, sum);
    return {
      uuid: uuidV7(time, this.#random),
      event,
      distinct_id: user.isIdentified ? user.id : user.anonymousId,
      timestamp: isoOf(time),
      properties: all,
      ...(set && { $set: set }),
    };
  }

  #eventOf(user: User, { event, draw, set }: CompiledStep, time: number): GeneratedEvent {
    const properties: JsonObject = {};
    draw(properties, this.#random, user.number);
    if (!set) return this.#event(user, event, time, properties);
    const changes: JsonObject = {};
    set(changes, this.#random, user.number);
    return this.#event(user, event, time, properties, changes);
  }

  #identify(user: User, time: number): GeneratedEvent {
    user.isIdentified = true;
    return this.#event(user, "$identify", time, { $anon_distinct_id: user.anonymousId }, { ...user.person });
  }

  /** From now on the user's events have its groups; each group is described once. */
  #joinGroups(user: User, time: number, events: GeneratedEvent[]): void {
    user.isInGroups = this.#groupTypes.length > 0;
    for (const [type, group] of Object.entries(user.groups)) {
      if (group.isDescribed) continue;
      group.isDescribed = true;
      const properties = { $group_type: type, $group_key: group.key, $group_set: { ...group.properties } };
      events.push(this.#event(user, "$groupidentify", time, properties));
    }
  }

  #callFlags(user: User, event: string, time: number, events: GeneratedEvent[]): void {
    for (const [key, { at }] of this.#flags) {
      if ((at !== undefined && at !== event) || !user.uncalled.delete(key)) continue;
      const properties = { $feature_flag: key, $feature_flag_response: user.flags[key] ?? false };
      events.push(this.#event(user, "$feature_flag_called", time, properties));
    }
  }
}
