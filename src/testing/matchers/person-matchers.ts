import { isObject, type JsonObject } from "../../kernel/base/json.ts";
import { didYouMean } from "../../kernel/base/nearest.ts";
import { performance } from "../../kernel/base/real-time.ts";
import { assertionsOf } from "../../lab/assert/client-assertions.ts";
import { notOptions, problemText } from "../../lab/assert/client-pattern.ts";
import type { PropertiesPattern } from "../../lab/assert/events-api.ts";
import { describePattern, describeValue } from "../../lab/assert/match/describe.ts";
import { checkAsserted } from "../../lab/assert/match/event-pattern.ts";
import { fits } from "../../lab/assert/match/pattern.ts";
import { keyText, nameText, printable, quoted } from "../../lab/assert/match/printable.ts";
import type { SimPerson } from "../../lab/person-history/client.ts";
import type { FlagServing, FlagServings } from "../../service/flags/client.ts";
import type { StoredEvent } from "../../state/journal/event.ts";
import {
  causesOr,
  type IdentityOptions,
  type MatcherCall,
  type MatcherOutcome,
  messageOf,
  type ServedFlagOptions,
} from "./matcher.ts";

type Sent = Pick<StoredEvent, "seq" | "event" | "distinct_id" | "warnings" | "properties">;

interface Known {
  person: SimPerson | undefined;
  /** The events that link the id with others, or identify it, newest first. */
  links: readonly Sent[];
}

const linking = ["$identify", "$create_alias", "$merge_dangerously"];
const idKeys = ["$anon_distinct_id", "alias"];
const shown = 5;

const names = (event: Sent, id: string): boolean =>
  event.distinct_id === id || idKeys.some((key) => event.properties[key] === id);

async function knownOf({ tenant }: MatcherCall, id: string): Promise<Known> {
  const where = { event: { "@in": linking } };
  const links = await tenant.events.list({ where, outcome: "kept", order: "desc", limit: 1_000 });
  return { person: await tenant.persons.get(id), links: links.filter((it) => names(it, id)) };
}

function personLine(id: string, person: SimPerson | undefined): string {
  if (!person) return `${quoted(id)}: no person has this id`;
  const ids = person.distinct_ids.map((it) => quoted(it)).join(", ");
  const state = person.is_identified ? "identified" : "not identified by a merge";
  return `${quoted(id)}: person ${person.uuid}, ids ${printable(ids, 300)}, ${state}`;
}

function linkLine({ seq, event, distinct_id, properties, warnings }: Sent): string {
  const other = idKeys.map((key) => properties[key]).find((it) => typeof it === "string");
  const pair = other === undefined ? quoted(distinct_id) : `${quoted(distinct_id)} with ${quoted(String(other))}`;
  const refused = warnings.length === 0 ? "" : `: ${warnings.join(", ")}`;
  return `#${seq} ${event} ${pair}${refused}`;
}

async function linkLines(call: MatcherCall, links: readonly Sent[]): Promise<string[]> {
  if (links.length > 0)
    return ["events that link ids, newest first:", ...links.slice(0, shown).map((it) => `  ${linkLine(it)}`)];
  const causes = await causesOr(call, "check that identify() is called, and the client flushed");
  return [`no ${linking.join(", ")} event has this id`, ...causes.map((it) => `  ${it}`)];
}

function differences(wanted: PropertiesPattern, actual: JsonObject): string[] {
  const wrong = Object.keys(wanted).filter((key) => !fits({ [key]: wanted[key] }, actual));
  return wrong.map((key) => {
    const value = Object.hasOwn(actual, key) ? describeValue(actual[key]) : "nothing";
    return `  ${keyText(key)}: expected ${describePattern(wanted[key])}, got ${value}`;
  });
}

const isIdentified = (id: string, { person, links }: Known): boolean =>
  person !== undefined &&
  (person.is_identified || links.some((it) => it.event === "$identify" && it.distinct_id === id));

/**
 * Identified: `$identify` was kept for the id, or a merge has identified its person. (Server SDKs send `$identify`
 * without an anonymous id; the service then sets properties and merges nothing.)
 */
export async function identified(
  call: MatcherCall,
  id: string,
  properties?: PropertiesPattern,
  { timeoutMs }: IdentityOptions = {},
): Promise<MatcherOutcome> {
  idGiven(call, id);
  if (properties !== undefined) checkPersonProperties(call, properties);
  const holds = (known: Known): boolean =>
    isIdentified(id, known) && (properties === undefined || fits(properties, known.person?.properties));
  const known = await until(call, timeoutMs, () => knownOf(call, id), holds);
  if (holds(known)) return { pass: true, text: messageOf(call, personLine(id, known.person)) };
  const wrong = differences(properties ?? {}, known.person?.properties ?? {});
  const lines = isIdentified(id, known) ? ["its properties differ:", ...wrong] : await linkLines(call, known.links);
  return { pass: false, text: messageOf(call, personLine(id, known.person), ...lines) };
}

/** @throws TypeError for a pattern that no person's properties fit, whatever the app does */
function checkPersonProperties({ title, isNot }: MatcherCall, properties: PropertiesPattern): void {
  const [problem] = checkAsserted({ properties });
  if (problem) throw new TypeError(`${title}: ${problemText(problem)}`);
  notOptions(properties);
  const { $set: nested } = properties;
  if (isObject(nested))
    throw new TypeError(
      `${title}: a person has the properties themselves: ${describePattern(nested)}, not ${describePattern(properties)}`,
    );
  const missing = isNot && Object.keys(properties).find((key) => properties[key] === undefined);
  if (missing)
    throw new TypeError(
      `${title}: ${keyText(missing)} is undefined, which fits only a person without it; write {"@exists": false} if that is meant`,
    );
}

function idGiven({ title }: MatcherCall, id: unknown): void {
  if (typeof id !== "string" || id === "")
    throw new TypeError(`${title}: a distinct id is a string that is not empty, got ${describePattern(id)}`);
}

const areOne = ([a, b]: readonly [Known, Known]): boolean =>
  a.person !== undefined && a.person.project === b.person?.project && a.person.uuid === b.person.uuid;

export async function merged(
  call: MatcherCall,
  id: string,
  other: string,
  { timeoutMs }: IdentityOptions = {},
): Promise<MatcherOutcome> {
  idGiven(call, id);
  idGiven(call, other);
  if (id === other)
    throw new TypeError(`${call.title}: both ids are the same; give the two ids that one person should have`);
  const look = async (): Promise<[Known, Known]> => [await knownOf(call, id), await knownOf(call, other)];
  const known = await until(call, timeoutMs, look, areOne);
  if (areOne(known)) return { pass: true, text: messageOf(call, personLine(id, known[0].person)) };
  const links = new Map(known.flatMap(({ links }) => links).map((it) => [it.seq, it]));
  const newest = [...links.values()].sort((a, b) => b.seq - a.seq);
  const lines = [
    personLine(id, known[0].person),
    personLine(other, known[1].person),
    ...(await linkLines(call, newest)),
  ];
  return { pass: false, text: messageOf(call, ...lines) };
}

/** Fake timers of a test must not stop it. */
const now = performance.now.bind(performance);

/**
 * Checks now and after each event until it holds or the time is over; with `.not` once, when the sim is quiet. Returns
 * the last state.
 * @param everyMs It is checked after this time without an event, too
 */
export async function until<T>(
  call: MatcherCall,
  timeoutMs: number | undefined,
  look: () => Promise<T>,
  holds: (seen: T) => boolean,
  everyMs = Infinity,
): Promise<T> {
  const { tenant, isNot } = call;
  const assertions = assertionsOf(tenant);
  if (isNot) await tenant.settle({ timeoutMs });
  const end = now() + (isNot ? 0 : assertions.within(timeoutMs));
  for (;;) {
    const since = await tenant.events.mark();
    const seen = await look();
    const rest = Math.ceil(end - now());
    if (holds(seen) || rest <= 0) return seen;
    await assertions.arrival(since, Math.min(rest, everyMs));
  }
}

const ways: Readonly<Record<FlagServing["by"], string>> = {
  answer: "answered",
  local_evaluation: "evaluated by the SDK itself",
};

function servingLine({ by, request, distinct_id, value, status, fault }: FlagServing): string {
  const subject = distinct_id === null ? "a request without a distinct id" : quoted(distinct_id);
  const what = value === null ? "without the flag" : describePattern(value);
  const http = status === 200 ? "" : `, HTTP ${status}`;
  return `  request #${request} to ${subject}: ${what} (${ways[by]}${http}${fault === null ? "" : `, fault ${nameText(fault)}`})`;
}

async function servingLines(call: MatcherCall, { served }: FlagServings): Promise<string[]> {
  if (served.length > 0) return ["what was served, newest first:", ...served.slice(0, shown).map(servingLine)];
  const causes = await causesOr(call, "check the client's host and key, and that a flag is read");
  return ["no flags were requested", ...causes.map((it) => `  ${it}`)];
}

function noFlag(key: string, error: unknown): string[] {
  const body = error instanceof Error && "body" in error ? error.body : undefined;
  const hint = isObject(body) && typeof body.hint === "string" ? `: ${body.hint}` : "";
  return [`there is no flag ${quoted(key)} here${hint}`];
}

async function reasons({ tenant }: MatcherCall, key: string, distinctId: string | undefined): Promise<string[]> {
  const flag = await tenant.flags.get(key).catch((error: unknown) => noFlag(key, error));
  if (!("overrides" in flag)) return flag;
  const overrides = flag.overrides.map(
    ({ value, distinct_id }) =>
      `overridden: ${describePattern(value)} for ${distinct_id === null ? "all users" : quoted(distinct_id)}`,
  );
  const why = distinctId === undefined ? undefined : await tenant.flags.explain(key, { distinctId });
  if (!why) return overrides;
  const explained = `now it would be ${describePattern(why.value)} for ${quoted(distinctId ?? "")}: ${why.reason.description}`;
  return [...overrides, explained, ...(why.hint === null ? [] : [why.hint])];
}

async function faultLines({ tenant }: MatcherCall): Promise<string[]> {
  const active = (await tenant.faults.list()).filter((it) => it.state === "active");
  return active.length === 0 ? [] : [`faults in force: ${active.map((it) => nameText(it.name)).join(", ")}`];
}

/** Why the flag cannot have been served with this value; undefined if it can. Without it, `.not` would always hold. */
async function neverServed(
  { tenant }: MatcherCall,
  key: string,
  value: boolean | string | undefined,
): Promise<string | undefined> {
  const flag = await tenant.flags.get(key).catch((error: unknown) => noFlag(key, error));
  if (!("overrides" in flag)) return flag.join("; ");
  const { variants, words } = flag;
  // rules of version 2 can have any value
  const isOther = typeof value === "string" && !variants.includes(value) && words?.otherwise === undefined;
  if (!isOther || flag.overrides.some((it) => it.value === value)) return undefined;
  const known = ["true", "false", ...variants.map((it) => quoted(it))].join(", ");
  return `the flag ${quoted(key)} has no variant ${quoted(value)}${didYouMean(value, variants, quoted)}; its values: ${known}`;
}

export async function servedFlag(
  call: MatcherCall,
  key: string,
  value?: boolean | string,
  { distinctId, timeoutMs }: ServedFlagOptions = {},
): Promise<MatcherOutcome> {
  if (typeof key !== "string" || key === "")
    throw new TypeError(`${call.title}: a flag's key is a string that is not empty`);
  if (value !== undefined && typeof value !== "boolean" && typeof value !== "string")
    throw new TypeError(`${call.title}: a flag's value is true, false or a variant's name`);
  const { tenant, isNot } = call;
  if (isNot) await tenant.settle({ timeoutMs });
  const servings = await tenant.flags.served(key, {
    waitMs: isNot ? 0 : assertionsOf(tenant).within(timeoutMs),
    ...{ distinctId, value },
  });
  const lines = await servingLines(call, servings);
  if (servings.fits) return { pass: true, text: messageOf(call, ...lines) };
  const never = isNot && servings.served.length === 0 ? await neverServed(call, key, value) : undefined;
  if (never !== undefined) return { pass: true, text: messageOf(call, never) };
  const more = [...(await reasons(call, key, distinctId)), ...(await faultLines(call))];
  return { pass: false, text: messageOf(call, ...lines, ...more) };
}
