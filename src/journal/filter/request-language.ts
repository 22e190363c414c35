import type { Json } from "../../base/json.ts";
import { carriedFields, eventLanguage, isWarned, reasonsOf } from "./event-language.ts";
import type { Field, Language, State } from "./language.ts";
import { arrivalFields, rowFields, rowStates } from "./row-fields.ts";
import { holdsText } from "./text-match.ts";
import type { EventSubject, RequestSubject } from "./types.ts";

/** What any of a request's events has. */
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
  isLight: false,
  of: (subject) => ofAny(subject, field.of),
});

const requestFields: readonly Field<RequestSubject>[] = [
  ...rowFields.map(
    (field): Field<RequestSubject> => ({ ...field, isLight: true, of: ({ row }) => field.of(row) }),
  ),
  {
    name: "n",
    aliases: ["request"],
    kind: "number",
    note: "the request's number, in order of arrival",
    example: "n:>100",
    isLight: true,
    of: ({ row }) => row.n,
  },
  {
    name: "outcome",
    aliases: ["verdict"],
    kind: "word",
    note: "what became of it",
    example: "outcome:rejected",
    choices: ["answered", "rejected"],
    isLight: true,
    of: ({ row }) => row.outcome,
  },
  {
    name: "reason",
    aliases: ["code"],
    kind: "word",
    note: "why it was rejected, or an event of it dropped or odd",
    example: "reason:not_found",
    offers: "reasons",
    isLight: false,
    of: (subject) => [subject.row.reason, ofAny(subject, reasonsOf) ?? null],
  },
  {
    name: "events",
    aliases: [],
    kind: "number",
    note: "how many events it carried",
    example: "events:>0",
    isLight: true,
    of: ({ row }) => row.events,
  },
  {
    name: "dropped",
    aliases: [],
    kind: "number",
    note: "how many of them were dropped",
    example: "dropped:>0",
    isLight: true,
    of: ({ row }) => row.dropped,
  },
  ...arrivalFields<RequestSubject>(),
  ...carriedFields.map(carriedBy),
];

const requestStates: readonly State<RequestSubject>[] = [
  {
    name: "answered",
    note: "it was not rejected",
    isLight: true,
    indexed: { rejected: false },
    test: ({ row }) => row.outcome === "answered",
  },
  ...rowStates.map(
    ({ test, ...state }): State<RequestSubject> => ({
      ...state,
      isLight: true,
      test: ({ row }) => test(row),
    }),
  ),
  {
    name: "kept",
    note: "events of it were kept",
    isLight: true,
    test: ({ row }) => row.events > row.dropped,
  },
  { name: "dropped", note: "events of it were dropped", isLight: true, test: ({ row }) => row.dropped > 0 },
  {
    name: "warned",
    note: "something was odd about an event of it",
    isLight: false,
    test: (subject) => subject.events().some(isWarned),
  },
];

/** As it stands in JSON, too: quotes and backslashes of a body are escaped there. */
function textHolds(text: string, lower: string): boolean {
  const [all, escaped] = [text.toLowerCase(), JSON.stringify(lower).slice(1, -1)];
  return all.includes(lower) || (escaped !== lower && all.includes(escaped));
}

/** What filters of requests can say. */
export const requestLanguage: Language<RequestSubject> = {
  fields: requestFields,
  states: requestStates,
  property: (path) => carriedBy(eventLanguage.property(path)),
  holds: (subject, lower) =>
    holdsText([subject.row.target, subject.row.reason, subject.row.detail], lower) ||
    textHolds(subject.text(), lower),
};
