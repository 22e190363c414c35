import { z } from "zod";
import { safeParse } from "../../kernel/base/safe-parse.ts";
import { phraseOf } from "../../kernel/http/schema-messages.ts";
import type { ResourceKind } from "../../service/management/resources/kind.ts";
import { resourceKinds } from "../../service/management/resources/kinds.ts";
import { referenceFields, resourceLists } from "../../state/documents/resources.ts";

const authoredKinds = resourceLists.flatMap((name) => resourceKinds.filter(({ kind }) => kind === name));

const references: Readonly<Record<string, string>> = referenceFields;
const identities: Readonly<Record<string, string>> = {
  insights: "the name or id of an insight",
  dashboards: "the name or id of a dashboard",
  flags: "the key or id of a flag",
  users: "the e-mail address or id of a user",
};

/** Names of insights, dashboards, flags and users are replaced by their ids. */
function named(name: string, field: z.core.$ZodType): z.core.$ZodType {
  const collection = references[name];
  if (collection === undefined) return field;
  const one = identities[collection] ?? collection;
  return z.safeParse(field, []).success
    ? z.union([z.array(z.string()), field], `a list, each ${one}`)
    : z.union([z.string(), field], one);
}

function authoredShape({ fields, writable, isLoose }: ResourceKind): z.ZodType {
  const own = Object.entries(writable).map(([name, it]) => [name, named(name, it)]);
  const authored = Object.entries(fields).flatMap(([name, { author }]) => (author ? [[name, author]] : []));
  return (isLoose ? z.looseObject : z.strictObject)({
    id: z.union([z.string().min(1), z.int().positive()]).optional(),
    created_at: z.string().optional(),
    created_by: z.string().nullable().optional(),
    ...Object.fromEntries(own),
    ...Object.fromEntries(authored),
  });
}

/** The published schema has objects with any keys: the service describes them. */
function itemOf(kind: ResourceKind, record: z.ZodType): z.ZodType {
  const shape = authoredShape(kind);
  return record.check(({ value, issues }) => {
    const { error } = safeParse(shape, value, { error: phraseOf });
    for (const issue of error?.issues ?? []) {
      // an issue of the same parse, but for the mark that others are reported, too
      issues.push({ ...issue, input: value, continue: true } as z.core.$ZodRawIssue);
    }
  });
}

const about = ({ kind, isOnlyStored }: ResourceKind): string => {
  const plural = kind.replaceAll("_", " ");
  const note = isOnlyStored ? "; stored, not enforced" : "";
  return `${plural.charAt(0).toUpperCase()}${plural.slice(1)} in the form of the management API${note}.`;
};

/** The lists of resources that a project may have, by their keys. @param record Any object of JSON */
export const resourceSchemas = <R extends z.ZodType>(record: R) =>
  Object.fromEntries(
    authoredKinds.map((kind) => [kind.kind, z.array(itemOf(kind, record)).optional().describe(about(kind))]),
  ) as unknown as Record<(typeof resourceLists)[number], z.ZodOptional<z.ZodArray<R>>>;

export const resourceParts = Object.fromEntries(
  authoredKinds.map(({ kind, noun, nameField = "name" }) => [kind, { kind: noun, names: ["id", nameField] }]),
);
