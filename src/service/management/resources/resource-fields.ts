import type { z } from "zod";
import { type Json, type JsonObject, objectsIn, textIn, textsIn } from "../../../kernel/base/json.ts";
import { stringOf } from "../../../kernel/base/text.ts";
import type { StoredResource } from "../../../state/documents/world.ts";
import { equalFilter, type ListFilter, searchFilter, tagsFilter } from "../../api-frame/lists.ts";
import type { Writing } from "./kind.ts";

/** What several kinds check, with the service's texts. */

/** The other documents of the kind that are not deleted. */
export const siblingsOf = ({ desk, request, before }: Writing, kind: string): StoredResource[] =>
  desk.worlds.current.resources.filter(
    (it) =>
      it.kind === kind &&
      (request.project ? it.project === request.project.id : it.organization === request.organization.id) &&
      it.id !== before?.id &&
      it.fields.deleted !== true,
  );

/** Documents with the text in one of these fields, in any case. */
export const searchIn = (...names: readonly string[]): ListFilter<StoredResource> =>
  searchFilter(`Part of the ${names.join(" or the ")}, in any case`, ({ fields }) =>
    names.map((name) => textIn(fields, name)),
  );

/** Documents with one of the tags. */
export const tagsIn: ListFilter<StoredResource> = {
  ...tagsFilter,
  test(values, caller) {
    const test = tagsFilter.test(values, caller);
    return test && (({ fields }) => test({ tags: textsIn(fields.tags) }));
  },
};

/** Documents whose field has exactly the value. */
export const fieldFilter = (parameter: string, shape: z.ZodType, field = parameter): ListFilter<StoredResource> =>
  equalFilter(parameter, shape, ({ fields }) => (fields[field] == null ? null : stringOf(fields[field])));

/** Objects of a list field; each that has no id yet gets one. */
export const withIds = (list: Json | undefined, newId: () => string): JsonObject[] =>
  objectsIn(list).map((it) => ({ ...it, id: textIn(it, "id") || newId() }));
