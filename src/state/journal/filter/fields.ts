import { eventLanguage, propertyFacts } from "./event-language.ts";
import type { FieldFacts, Language } from "./language.ts";
import { requestLanguage } from "./request-language.ts";
import type { FilterKind } from "./types.ts";

export type { FieldFacts } from "./language.ts";

const facts = <Subject>({ fields, states }: Language<Subject>): readonly FieldFacts[] => [
  ...fields,
  propertyFacts,
  { name: "has", kind: "name", note: "it has this: a property, or any of the fields", example: "has:prop.email" },
  {
    name: "is",
    kind: "word",
    note: states.map((it) => it.name).join(", "),
    example: "is:dropped",
    choices: states.map((it) => it.name),
  },
];

export const filterFields: Readonly<Record<FilterKind, readonly FieldFacts[]>> = {
  events: facts(eventLanguage),
  requests: facts(requestLanguage),
};
