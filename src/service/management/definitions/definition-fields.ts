import { z } from "zod";
import { uuidV5 } from "../../../kernel/base/ids.ts";
import { type JsonObject, textsIn } from "../../../kernel/base/json.ts";
import { compareText } from "../../../kernel/base/text.ts";
import { resourceOf } from "../../../state/documents/resources.ts";
import { tidyTags } from "../../../state/documents/tags.ts";
import type { StoredResource } from "../../../state/documents/world.ts";
import type { ResourceDesk } from "../../api-frame/desk.ts";
import { boolean, invalid, list, text } from "../../api-frame/fields.ts";
import { jsonList, type ListFilter } from "../../api-frame/lists.ts";
import { showUserOf, UserShape } from "../../api-frame/users.ts";
import type { Writing } from "../resources/kind.ts";
import { textIn } from "../resources/resource-fields.ts";

/** What definitions of events and of properties have in common. */

/** What clients may write of both. */
export const definitionFields = {
  description: text({ blank: true }).nullable().optional(),
  tags: list(text()).optional(),
  verified: boolean().optional(),
  hidden: boolean().nullable().optional(),
};

export const initialDefinition = {
  description: null,
  tags: [],
  verified: false,
  hidden: null,
  updated_at: null,
  updated_by: null,
};

/** What only responses have. */
export const shownDefinition = {
  updated_at: z.string().nullable(),
  updated_by: UserShape.nullable(),
  verified_at: z.string().nullable(),
  verified_by: UserShape.nullable(),
};

export const showVerified = ({ verified_at = null, verified_by: id }: JsonObject, desk: ResourceDesk) => ({
  verified_at,
  verified_by: showUserOf(desk, typeof id === "number" ? id : null),
});

/** Of hidden and verified the last one that was set counts. @throws SimError invalid_input */
export function tidied(given: JsonObject, { body, before, now, request }: Writing, noun: string): JsonObject {
  if (body.hidden === true && body.verified === true) {
    throw invalid(`${noun} cannot be both hidden and verified`);
  }
  const fields: JsonObject = { ...given, tags: tidyTags(textsIn(given.tags)) };
  if (body.hidden === true || fields.verified !== true) {
    return { ...fields, verified: false, verified_at: null, verified_by: null };
  }
  const isNew = before?.fields.verified !== true;
  return {
    ...fields,
    ...(body.verified === true && { hidden: false }),
    ...(isNew && { verified_at: now, verified_by: request.caller.user.id }),
  };
}

const namespace = "5b1c1f0e-6d0d-5f3c-9d0a-3f1d8a4c7e21";

/** Captured names of a project, and how their definitions are stored. */
interface Join<C> {
  readonly kind: string;
  readonly project: number;
  readonly stored: readonly StoredResource[];
  readonly captured: Iterable<C>;
  /** The fields by which a captured name is known. */
  identify(it: C): JsonObject;
  /** The same of a stored definition. */
  identityOf(fields: JsonObject): JsonObject;
  /** The fields that follow from captured events. */
  facts(it: C): JsonObject;
}

/** Definitions of everything that is stored or captured. A deleted one exists again once it is captured again. */
export function joined<C extends { readonly seq: number }>(join: Join<C>): StoredResource[] {
  const { kind, project, captured, stored, identify, identityOf, facts } = join;
  const live = new Map<string, StoredResource>();
  const deletedAt = new Map<string, number>();
  for (const it of stored) {
    const id = JSON.stringify(identityOf(it.fields));
    if (it.fields.deleted === true) deletedAt.set(id, Number(it.fields.seq));
    else live.set(id, it);
  }
  for (const it of captured) {
    const own = identify(it);
    const id = JSON.stringify(own);
    if (!live.has(id) && it.seq <= (deletedAt.get(id) ?? 0)) continue;
    const key = uuidV5(namespace, `${project}/${kind}/${id}`);
    const document = live.get(id) ?? resourceOf(kind, project, key, own);
    live.set(id, { ...document, fields: { ...document.fields, ...facts(it), seq: it.seq } });
  }
  return [...live.values()];
}

/** Every word of the parameter has to be in the name, in any case. */
export const termsFilter: ListFilter<StoredResource> = {
  name: "search",
  shape: z.string().describe("Words that the name contains, in any case"),
  test([value = ""]) {
    const terms = value.toLowerCase().split(/\s+/).filter(Boolean);
    return ({ fields }) => terms.every((it) => textIn(fields, "name").toLowerCase().includes(it));
  },
};

/** The texts of a parameter with a JSON list; undefined if it is absent. @throws SimError invalid_input */
export function listIn(query: URLSearchParams, name: string): ReadonlySet<string> | undefined {
  const value = query.get(name);
  if (!value) return undefined;
  const items = jsonList(value);
  if (!items) throw invalid("Expected a JSON list.", name);
  return new Set(items.map(String));
}

export const compareNames = (a: StoredResource, b: StoredResource): number =>
  compareText(textIn(a.fields, "name"), textIn(b.fields, "name"));
