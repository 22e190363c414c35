import { type Json, own } from "../../base/json.ts";
import type { Field, FieldFacts, Language, State } from "./language.ts";
import { valuesAt } from "./property.ts";
import { arrivalFields, rowFields, rowStates } from "./row-fields.ts";
import { holdsText } from "./text-match.ts";
import type { EventSubject } from "./types.ts";

/** What posthog-js calls itself, and what people call it. */
const libOf = (lib: Json | undefined): Json | undefined => (lib === "web" ? ["web", "posthog-js"] : lib);

/** What an event has that a request only carries. */
export const carriedFields: readonly Field<EventSubject>[] = [
  {
    name: "event",
    aliases: ["name"],
    kind: "name",
    note: "the event's name",
    example: "event:$pageview",
    offers: "events",
    isLight: true,
    index: "event",
    of: ({ row }) => row.event,
  },
  {
    name: "distinct_id",
    aliases: ["id"],
    kind: "name",
    note: "the sender's id of the person",
    example: "distinct_id:user-1",
    offers: "distinctIds",
    isLight: true,
    index: "distinct_id",
    of: ({ row }) => row.distinct_id,
  },
  {
    name: "person",
    aliases: [],
    kind: "word",
    note: "the person's uuid at that moment",
    example: "person:0192*",
    isLight: true,
    of: ({ row }) => row.person,
  },
  {
    name: "seq",
    aliases: [],
    kind: "number",
    note: "the event's number, in order of arrival",
    example: "seq:>100",
    isLight: true,
    of: ({ row }) => row.seq,
  },
  {
    name: "lib",
    aliases: [],
    kind: "word",
    note: "the SDK ($lib)",
    example: "lib:posthog-node",
    offers: ["posthog-js", "posthog-node", "posthog-python", "posthog-android", "posthog-ios"],
    isLight: false,
    of: (subject) => libOf(own(subject.properties(), "$lib")),
  },
];

/** Why it was dropped, and what was odd. */
export const reasonsOf = ({ row }: EventSubject): string[] =>
  row.reason === null ? [...row.warnings] : [row.reason, ...row.warnings];

const eventFields: readonly Field<EventSubject>[] = [
  ...carriedFields,
  {
    name: "outcome",
    aliases: ["verdict"],
    kind: "word",
    note: "what became of it",
    example: "outcome:dropped",
    choices: ["kept", "dropped"],
    isLight: true,
    index: "outcome",
    of: ({ row }) => row.outcome,
  },
  {
    name: "reason",
    aliases: ["code"],
    kind: "word",
    note: "why it was dropped, or what was odd about it",
    example: "reason:missing_*",
    offers: "reasons",
    isLight: true,
    index: "reason",
    of: reasonsOf,
  },
  {
    name: "request",
    aliases: ["n"],
    kind: "number",
    note: "number of the request that carried it",
    example: "request:12",
    isLight: true,
    of: ({ row }) => row.n,
  },
  ...arrivalFields<EventSubject>(),
  ...rowFields.map(
    (field): Field<EventSubject> => ({
      ...field,
      isLight: true,
      of(subject) {
        const row = subject.request();
        return row && field.of(row);
      },
    }),
  ),
];

/** Was something odd about it? */
export const isWarned = ({ row }: EventSubject): boolean => row.warnings.length > 0;

const eventStates: readonly State<EventSubject>[] = [
  {
    name: "kept",
    note: "it was kept",
    isLight: true,
    indexed: { outcome: "kept" },
    test: ({ row }) => row.outcome === "kept",
  },
  {
    name: "dropped",
    note: "it was dropped",
    isLight: true,
    indexed: { outcome: "dropped" },
    test: ({ row }) => row.outcome === "dropped",
  },
  {
    name: "warned",
    note: "something was odd about it",
    isLight: true,
    indexed: { warned: true },
    test: isWarned,
  },
  ...rowStates.map(
    ({ name, note, test }): State<EventSubject> => ({
      name,
      note,
      isLight: true,
      test(subject) {
        const row = subject.request();
        return row !== undefined && test(row);
      },
    }),
  ),
];

/** Properties, whatever their names. */
export const propertyFacts: FieldFacts = {
  name: "prop.NAME",
  aliases: ["properties.NAME"],
  kind: "anything",
  note: 'a property; dots go into it, prop."a.b" is a name with a dot',
  example: "prop.amount:>10",
};

const eventProperty = (path: readonly string[]): Field<EventSubject> => ({
  ...propertyFacts,
  isLight: false,
  of: (subject) => valuesAt(subject.properties(), path),
});

/** What filters of events can say. */
export const eventLanguage: Language<EventSubject> = {
  fields: eventFields,
  states: eventStates,
  property: eventProperty,
  holds: (subject, lower) =>
    holdsText([subject.row.event, subject.row.distinct_id], lower) || holdsText(subject.properties(), lower),
};
