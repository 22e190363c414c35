import type { PropertiesPattern, SimPerson } from "../client/api.ts";
import type { StoredEvent } from "../index.ts";
import type { JsonObject } from "../kernel/json.ts";
import { describePattern, describeValue } from "../match/describe.ts";
import { checkPattern, fits } from "../match/pattern.ts";
import { keyText, printable, quoted } from "../match/printable.ts";
import { type Asked, type Judged, told } from "./asked.ts";
import type { IdentityOptions } from "./types.ts";
import { until } from "./until.ts";

type Sent = Pick<StoredEvent, "seq" | "event" | "distinct_id" | "warnings" | "properties">;

interface Known {
  person: SimPerson | undefined;
  /** The events that were to link the id with others, or to name it, newest first. */
  links: readonly Sent[];
}

const linking = ["$identify", "$create_alias", "$merge_dangerously"];
const idKeys = ["$anon_distinct_id", "alias"];
/** How many events a failure shows. */
const shown = 5;

const names = (event: Sent, id: string): boolean =>
  event.distinct_id === id || idKeys.some((key) => event.properties[key] === id);

async function knownOf({ tenant }: Asked, id: string): Promise<Known> {
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
  const pair =
    other === undefined ? quoted(distinct_id) : `${quoted(distinct_id)} with ${quoted(String(other))}`;
  const refused = warnings.length === 0 ? "" : `: ${warnings.join(", ")}`;
  return `#${seq} ${event} ${pair}${refused}`;
}

const linkLines = (links: readonly Sent[]): string[] =>
  links.length === 0
    ? [`no ${linking.join(", ")} named it: was identify() called, and the client flushed?`]
    : ["events that link ids, newest first:", ...links.slice(0, shown).map((it) => `  ${linkLine(it)}`)];

/** Each property that is not as wanted, and as what it is. */
function differences(wanted: PropertiesPattern, actual: JsonObject): string[] {
  const wrong = Object.keys(wanted).filter((key) => !fits({ [key]: wanted[key] }, actual));
  return wrong.map((key) => {
    const value = Object.hasOwn(actual, key) ? describeValue(actual[key]) : "nothing";
    return `  ${keyText(key)}: wanted ${describePattern(wanted[key])}, is ${value}`;
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
  asked: Asked,
  id: string,
  properties?: PropertiesPattern,
  { timeoutMs }: IdentityOptions = {},
): Promise<Judged> {
  idGiven(asked, id);
  for (const { pointer, detail } of checkPattern(properties))
    throw new TypeError(`${asked.title}: ${detail}${pointer === "" ? "" : ` (${pointer})`}`);
  const holds = (known: Known): boolean =>
    isIdentified(id, known) && (properties === undefined || fits(properties, known.person?.properties));
  const known = await until(asked, timeoutMs, () => knownOf(asked, id), holds);
  if (holds(known)) return { pass: true, text: told(asked, personLine(id, known.person)) };
  const wrong = differences(properties ?? {}, known.person?.properties ?? {});
  const lines = isIdentified(id, known)
    ? ["its properties are not as wanted:", ...wrong]
    : linkLines(known.links);
  return { pass: false, text: told(asked, personLine(id, known.person), ...lines) };
}

function idGiven({ title }: Asked, id: unknown): void {
  if (typeof id !== "string" || id === "")
    throw new TypeError(`${title}: a distinct id is a text that is not empty, not ${describePattern(id)}`);
}

const areOne = ([a, b]: readonly [Known, Known]): boolean =>
  a.person !== undefined && a.person.project === b.person?.project && a.person.uuid === b.person.uuid;

export async function merged(
  asked: Asked,
  id: string,
  other: string,
  { timeoutMs }: IdentityOptions = {},
): Promise<Judged> {
  idGiven(asked, id);
  idGiven(asked, other);
  const look = async (): Promise<[Known, Known]> => [await knownOf(asked, id), await knownOf(asked, other)];
  const known = await until(asked, timeoutMs, look, areOne);
  if (areOne(known)) return { pass: true, text: told(asked, personLine(id, known[0].person)) };
  const links = new Map(known.flatMap(({ links }) => links).map((it) => [it.seq, it]));
  const newest = [...links.values()].sort((a, b) => b.seq - a.seq);
  const lines = [personLine(id, known[0].person), personLine(other, known[1].person), ...linkLines(newest)];
  return { pass: false, text: told(asked, ...lines) };
}
