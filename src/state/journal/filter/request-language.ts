import type { Json } from "../../../kernel/base/json.ts";
import { containsText } from "../../../kernel/base/wildcard.ts";
import { carriedFields, eventLanguage, isWarned, reasonsOf } from "./event-language.ts";
import type { Field, Language, State } from "./language.ts";
import { arrivalFields, rowFields, rowStates } from "./row-fields.ts";
import type { EventSubject, RequestSubject } from "./types.ts";
import { holdsText } from "./values.ts";

function ofAny(subject: RequestSubject, of: (event: EventSubject) => Json | undefined): Json | undefined {
  const found = subject.events().flatMap((event) => {
    const value = of(event);
    return value === undefined ? [] : [value];
  });
  return found.length === 0 ? undefined : found;
}

const carriedBy = ({ index: _, ...field }: Field<EventSubject>): Field<RequestSubject> => ({
  ...field,
  note: `${field.note}, of an event that it carried`,
  isHeavy: true,
  of: (subject) => ofAny(subject, field.of),
});

const requestFields: readonly Field<RequestSubject>[] = [
  ...rowFields.map((field): Field<RequestSubject> => ({ ...field, of: ({ row }) => field.of(row) })),
  {
    name: "n",
    aliases: ["request"],
    kind: "number",
    note: "the request's number, in order of arrival",
    example: "n:>100",
    of: ({ row }) => row.n,
  },
  {
    name: "outcome",
    aliases: ["verdict"],
    kind: "word",
    note: "its outcome",
    example: "outcome:rejected",
    choices: ["answered", "rejected"],
    of: ({ row }) => row.outcome,
  },
  {
    name: "reason",
    aliases: ["code"],
    kind: "word",
    note: "why it was rejected, or an event of it dropped or odd",
    example: "reason:not_found",
    offers: "reasons",
    isHeavy: true,
    of: (subject) => [subject.row.reason, ofAny(subject, reasonsOf) ?? null],
  },
  {
    name: "events",
    kind: "number",
    note: "how many events it carried",
    example: "events:>0",
    of: ({ row }) => row.events,
  },
  {
    name: "dropped",
    kind: "number",
    note: "how many of them were dropped",
    example: "dropped:>0",
    of: ({ row }) => row.dropped,
  },
  ...arrivalFields<RequestSubject>(),
  ...carriedFields.map(carriedBy),
];

const requestStates: readonly State<RequestSubject>[] = [
  {
    name: "answered",
    note: "it was not rejected",
    indexed: { rejected: false },
    test: ({ row }) => row.outcome === "answered",
  },
  ...rowStates.map(({ test, ...state }): State<RequestSubject> => ({ ...state, test: ({ row }) => test(row) })),
  { name: "kept", note: "events of it were kept", test: ({ row }) => row.events > row.dropped },
  { name: "dropped", note: "events of it were dropped", test: ({ row }) => row.dropped > 0 },
  {
    name: "warned",
    note: "something was odd about an event of it",
    isHeavy: true,
    test: (subject) => subject.events().some(isWarned),
  },
];

/** Also matches the text as JSON has it, with escaped quotes and backslashes. */
function textHolds(all: string, lower: string): boolean {
  const escaped = JSON.stringify(lower).slice(1, -1);
  return containsText(all, lower) || (escaped !== lower && containsText(all, escaped));
}

export const requestLanguage: Language<RequestSubject> = {
  fields: requestFields,
  states: requestStates,
  property: (path) => carriedBy(eventLanguage.property(path)),
  holds: (subject, lower) =>
    holdsText([subject.row.target, subject.row.reason, subject.row.detail], lower) || textHolds(subject.text(), lower),
};
