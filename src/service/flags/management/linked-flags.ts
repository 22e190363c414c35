import { randomBytes } from "node:crypto";
import type { JsonObject } from "../../../kernel/base/json.ts";
import { stringOf } from "../../../kernel/base/text.ts";
import { blankFeatureFlag } from "../../../state/documents/blank.ts";
import type { FeatureFlag } from "../../../state/documents/world.ts";
import { documentNamed, requireScope } from "../../api-frame/access.ts";
import type { ResourceDesk } from "../../api-frame/desk.ts";
import type { Changing } from "../../api-frame/row.ts";
import { checkFilters, openFilters } from "./filter-rules.ts";
import { claimKey, withHistory } from "./flag-changes.ts";

/** Flags that surveys, experiments and early access features create and use. */

export const flagWithId = (desk: ResourceDesk, project: number | null, id: unknown): FeatureFlag | undefined =>
  typeof id === "number" && project !== null ? documentNamed(desk, "feature_flags", project, stringOf(id)) : undefined;

export const flagWithKey = (desk: ResourceDesk, project: number | null, key: unknown): FeatureFlag | undefined =>
  desk.worlds.current.feature_flags.find((it) => it.project === project && it.key === key && !it.deleted);

/** The flag of a document; one of a scenario may name a flag by its key. */
export const flagOfDocument = (
  desk: ResourceDesk,
  project: number | null,
  { feature_flag_id: id }: JsonObject,
  key: unknown,
): FeatureFlag | undefined => flagWithId(desk, project, id) ?? flagWithKey(desk, project, key);

/** A key that may write a survey or an early access feature may write the flags of it only with the flags' own scope. @throws SimError permission_denied */
export const requireFlagScope = ({ request }: Changing): void => requireScope(request.caller, "feature_flag:write");

interface NewFlag {
  readonly key: string;
  readonly name: string;
  readonly filters: JsonObject;
  readonly active: boolean;
}

/** @throws SimError invalid_input … for filters that the service refuses */
export function createLinkedFlag(writing: Changing, { filters, ...fields }: NewFlag): FeatureFlag {
  const { desk, draft, request, now } = writing;
  const project = request.project?.id ?? 0;
  const author = request.caller.user.id;
  const checked = checkFilters(filters, { worlds: desk.worlds, project, makeId: desk.ids.uuid }) ?? openFilters;
  const made = { created_by: author, last_modified_by: author, updated_at: now };
  const id = draft.nextId("feature_flags");
  return draft.put("feature_flags", blankFeatureFlag({ id, project, ...fields, filters: checked, ...made }, now));
}

/** A flag with a key that the client chose. @throws SimError unique, invalid_key …, for filters that the service refuses */
export function createNamedFlag(writing: Changing, flag: NewFlag): FeatureFlag {
  claimKey(writing.desk, writing.draft, writing.request.project?.id ?? 0, flag.key);
  return createLinkedFlag(writing, flag);
}

export function changeLinkedFlag(
  { desk, draft, request, now }: Changing,
  flag: FeatureFlag,
  { filters, ...change }: { filters?: JsonObject; active?: boolean },
): FeatureFlag {
  const context = { worlds: desk.worlds, project: flag.project, flag, makeId: desk.ids.uuid };
  const checked = filters === undefined ? flag.filters : (checkFilters(filters, context) ?? flag.filters);
  const changed = {
    ...flag,
    ...change,
    filters: checked,
    version: flag.version + 1,
    updated_at: now,
    last_modified_by: request.caller.user.id,
  };
  return draft.put("feature_flags", withHistory(desk, flag, changed));
}

/** Ten digits that make the key of a generated flag another. */
export const randomDigits = (): string => randomBytes(5).toString("hex");

export const showLinkedFlag = (flag: FeatureFlag | undefined): JsonObject | null =>
  flag
    ? ({
        id: flag.id,
        team_id: flag.project,
        name: flag.name,
        key: flag.key,
        filters: flag.filters,
        deleted: flag.deleted,
        active: flag.active,
        ensure_experience_continuity: flag.ensure_experience_continuity,
        has_encrypted_payloads: flag.has_encrypted_payloads,
        version: flag.version,
        evaluation_runtime: flag.evaluation_runtime,
        bucketing_identifier: flag.bucketing_identifier,
        evaluation_tags: flag.evaluation_contexts ?? [],
      } as unknown as JsonObject)
    : null;
