import { type Json, own } from "../../../kernel/base/json.ts";
import { eventKind } from "../event-kinds.ts";
import { outcomeOf } from "../outcomes.ts";
import type { Field, FieldFacts, Language, State } from "./language.ts";
import { arrivalFields, rowFields, rowStates } from "./row-fields.ts";
import type { EventSubject } from "./types.ts";
import { holdsText, valuesAt } from "./values.ts";

/** posthog-js calls itself "web". */
const libOf = (lib: Json | undefined): Json | undefined => (lib === "web" ? ["web", "posthog-js"] : lib);

export const carriedFields: readonly Field<EventSubject>[] = [
  {
    name: "event",
    aliases: ["name"],
    kind: "name",
    note: "the event's name",
    example: "event:$pageview",
    offers: "events",
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
    index: "distinct_id",
    of: ({ row }) => row.distinct_id,
  },
  {
    name: "person",
    kind: "word",
    note: "the person's uuid at that moment",
    example: "person:0192*",
    of: ({ row }) => row.person,
  },
  {
    name: "seq",
    kind: "number",
    note: "the event's number, in order of arrival",
    example: "seq:>100",
    of: ({ row }) => row.seq,
  },
  {
    name: "lib",
    kind: "word",
    note: "the SDK ($lib)",
    example: "lib:posthog-node",
    offers: ["posthog-js", "posthog-node", "posthog-python", "posthog-android", "posthog-ios"],
    isHeavy: true,
    of: (subject) => libOf(own(subject.properties(), "$lib")),
  },
];

export const reasonsOf = ({ row }: EventSubject): string[] =>
  row.reason === null ? [...row.warnings] : [row.reason, ...row.warnings];

const eventFields: readonly Field<EventSubject>[] = [
  ...carriedFields,
  {
    name: "outcome",
    aliases: ["verdict"],
    kind: "word",
    note: "its outcome",
    example: "outcome:dropped",
    choices: ["kept", "dropped"],
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
    index: "reason",
    of: reasonsOf,
  },
  {
    name: "request",
    aliases: ["n"],
    kind: "number",
    note: "number of the request that carried it",
    example: "request:12",
    of: ({ row }) => row.n,
  },
  {
    name: "exception",
    kind: "word",
    note: "the group of equal exceptions",
    example: "exception:4f1c09ab*",
    isHeavy: true,
    of: (subject) => subject.exceptionGroup(),
  },
  ...arrivalFields<EventSubject>(),
  ...rowFields.map(
    (field): Field<EventSubject> => ({
      ...field,
      of(subject) {
        const row = subject.request();
        return row && field.of(row);
      },
    }),
  ),
];

export const isWarned = ({ row }: EventSubject): boolean => outcomeOf(row) === "warned";

const eventStates: readonly State<EventSubject>[] = [
  {
    name: "kept",
    note: "it was kept as sent",
    indexed: { outcome: "kept", warned: false },
    test: ({ row }) => outcomeOf(row) === "kept",
  },
  {
    name: "dropped",
    note: "it was dropped",
    indexed: { outcome: "dropped" },
    test: ({ row }) => row.outcome === "dropped",
  },
  {
    name: "warned",
    note: "it was kept, and something was odd about it",
    indexed: { outcome: "kept", warned: true },
    test: isWarned,
  },
  { name: "own", note: "the app sent it by name", test: ({ row }) => eventKind(row.event) === "own" },
  {
    name: "sdk",
    note: "an SDK sends it by itself, or has a name for it",
    test: ({ row }) => eventKind(row.event) !== "own",
  },
  ...rowStates.map(
    ({ name, note, test }): State<EventSubject> => ({
      name,
      note,
      test(subject) {
        const row = subject.request();
        return row !== undefined && test(row);
      },
    }),
  ),
];

export const propertyFacts: FieldFacts = {
  name: "prop.NAME",
  aliases: ["properties.NAME"],
  kind: "anything",
  note: 'a property; dots go into it, prop."a.b" is a name with a dot',
  example: "prop.amount:>10",
};

const eventProperty = (path: readonly string[]): Field<EventSubject> => ({
  ...propertyFacts,
  isHeavy: true,
  of: (subject) => valuesAt(subject.properties(), path),
});

export const eventLanguage: Language<EventSubject> = {
  fields: eventFields,
  states: eventStates,
  property: eventProperty,
  holds: (subject, lower) =>
    holdsText([subject.row.event, subject.row.distinct_id], lower) || holdsText(subject.properties(), lower),
};
