import { isDeepStrictEqual } from "node:util";
import { SimError } from "../../../kernel/base/errors.ts";
import { isObject, type Json, type JsonObject } from "../../../kernel/base/json.ts";
import { safeParse } from "../../../kernel/base/safe-parse.ts";
import { compareText } from "../../../kernel/base/text.ts";
import { blankFeatureFlag } from "../../../state/documents/blank.ts";
import { liveResources } from "../../../state/documents/resources.ts";
import { type FlagChange, flagKind } from "../../../state/documents/schemas/feature-flag.ts";
import { wireTime } from "../../../state/documents/time.ts";
import type { Draft, FeatureFlag, StoredResource } from "../../../state/documents/world.ts";
import type { ResourceDesk } from "../../api-frame/desk.ts";
import { firstInvalid, invalid } from "../../api-frame/fields.ts";
import type { ProjectRequest } from "../../api-frame/row.ts";
import { checkFilters, openFilters } from "./filter-rules.ts";
import { FlagBody, type FlagPatch } from "./flag-shapes.ts";

/** How flags are made and changed. Upstream PostHog/posthog posthog/api/feature_flag.py. */

export const flagsOf = (desk: ResourceDesk, project: number): FeatureFlag[] =>
  desk.worlds.current.feature_flags.filter((flag) => flag.project === project);

/** @throws SimError unique */
function checkKey(desk: ResourceDesk, project: number, key: string, id?: number): void {
  const isTaken = flagsOf(desk, project).some((it) => it.key === key && !it.deleted && it.id !== id);
  if (isTaken) throw invalid("There is already a feature flag with this key.", "key", "unique");
}

const withFields = (flag: FeatureFlag, body: FlagPatch): FeatureFlag => ({
  ...flag,
  ...flagKind.changes({ ...body, filters: undefined, version: undefined }),
});

/** @throws SimError does_not_exist for a dashboard that the project does not have */
function checkDashboards({ worlds }: ResourceDesk, project: number, ids: readonly number[] = []): void {
  const missing = ids.find((id) => {
    const dashboard = worlds.get("dashboards", id);
    return !dashboard || dashboard.deleted || dashboard.project !== project;
  });
  if (missing === undefined) return;
  throw invalid(`Invalid pk "${missing}" - object does not exist.`, "analytics_dashboards", "does_not_exist");
}

function removeDeleted(desk: ResourceDesk, draft: Draft, project: number, key: string): void {
  for (const it of flagsOf(desk, project)) {
    if (it.deleted && it.key === key) draft.remove("feature_flags", it.id);
  }
}

const Key = FlagBody.pick({ key: true });

/** Makes room for a flag that other documents create. @throws SimError blank, max_length, invalid_key, unique */
export function claimKey(desk: ResourceDesk, draft: Draft, project: number, key: string): void {
  const { error } = safeParse(Key, { key }, { reportInput: true });
  if (error) throw firstInvalid(error);
  checkKey(desk, project, key);
  removeDeleted(desk, draft, project, key);
}

export function createFlag(desk: ResourceDesk, request: ProjectRequest<FlagBody>): FeatureFlag {
  const { worlds } = desk;
  const { caller, project } = request;
  const body = request.body();
  checkDashboards(desk, project.id, body.analytics_dashboards);
  checkKey(desk, project.id, body.key);
  const filters = checkFilters(body.filters, { worlds, project: project.id, makeId: desk.ids.uuid }) ?? openFilters;
  const now = wireTime(desk.clock.now());
  const author = caller.user.id;
  return worlds.change((draft) => {
    removeDeleted(desk, draft, project.id, body.key);
    const id = draft.nextId("feature_flags");
    const made = { created_by: author, last_modified_by: author, updated_at: now };
    const blank = blankFeatureFlag({ id, project: project.id, key: body.key, filters, ...made }, now);
    return draft.put("feature_flags", withFields(blank, body));
  });
}

/** True if the caller changes a field that another user has changed since `original` was read. */
const conflicts = (flag: FeatureFlag, next: FeatureFlag, original: Json | undefined): boolean =>
  isObject(original) &&
  (Object.keys(next) as (keyof FeatureFlag)[]).some(
    (field) =>
      Object.hasOwn(original, field) &&
      !isDeepStrictEqual(next[field], flag[field]) &&
      !isDeepStrictEqual(next[field], original[field]) &&
      !isDeepStrictEqual(flag[field], original[field]),
  );

/** @throws SimError conflict */
function checkVersion(desk: ResourceDesk, flag: FeatureFlag, next: FeatureFlag, body: FlagPatch): void {
  const { version, original_flag: original } = body;
  if (version === undefined || version === -1 || version === flag.version) return;
  if (!conflicts(flag, next, original)) return;
  const other = flag.last_modified_by === null ? undefined : desk.worlds.get("users", flag.last_modified_by);
  const who = other?.email ?? "another user";
  throw new SimError(
    "conflict",
    `The feature flag was updated by ${who} since you started editing it. Please refresh and try again.`,
  );
}

/** A test of flags: true for one that is not deleted and has a condition on the flag with this id. */
const dependsOn =
  (id: number) =>
  ({ deleted, filters }: FeatureFlag): boolean =>
    !deleted &&
    (filters.groups ?? []).some((set) =>
      (set.properties ?? []).some(({ type, key }) => type === "flag" && key === String(id)),
    );

const namesShown = 5;

function namesOf(flags: readonly FeatureFlag[]): string {
  const names = flags.slice(0, namesShown).map((it) => `${it.key} (ID: ${it.id})`);
  const more = flags.length - namesShown;
  return [...names, ...(more > 0 ? [`and ${more} more`] : [])].join(", ");
}

export const activeDependents = (desk: ResourceDesk, { id, project }: FeatureFlag): FeatureFlag[] =>
  flagsOf(desk, project)
    .filter((it) => it.active && it.id !== id && dependsOn(id)(it))
    .sort((a, b) => compareText(a.key, b.key));

/** @throws SimError for a flag that is archived and active, or that other flags need, or that needs disabled ones */
function checkState(desk: ResourceDesk, flag: FeatureFlag, next: FeatureFlag, body: FlagPatch): void {
  if (next.archived && next.active) {
    throw invalid(
      body.archived
        ? "Cannot archive an enabled feature flag. Disable it first, or send active: false in the same request."
        : "Cannot enable an archived feature flag. Unarchive it first.",
    );
  }
  if (flag.active && !next.active) {
    const dependents = activeDependents(desk, flag);
    if (dependents.length > 0) {
      throw invalid(
        `Cannot disable this feature flag because other flags depend on it: ${namesOf(dependents)}. Please update or disable the dependent flags first.`,
      );
    }
  }
  if (flag.active || !next.active) return;
  const disabled = flagsOf(desk, flag.project).filter((it) => !it.active && !it.deleted && dependsOn(it.id)(flag));
  if (disabled.length > 0) {
    throw invalid(
      `Cannot enable this feature flag because it depends on disabled flags: ${namesOf(disabled)}. Please enable the dependency flags first.`,
    );
  }
}

/** Fields of an activity, with the value of a flag without them. Upstream posthog/models/activity_logging. */
const logged: Readonly<Record<string, Json>> = {
  key: null,
  name: null,
  filters: null,
  active: null,
  archived: false,
  deleted: null,
  version: null,
  ensure_experience_continuity: null,
  has_encrypted_payloads: null,
  is_remote_configuration: null,
  evaluation_runtime: null,
  bucketing_identifier: null,
  rollback_conditions: [],
  tags: null,
};

/** Characters of JSON; the oldest changes are dropped first; the latest always stays. */
const mostHistory = 200_000;

export function withHistory(
  desk: Pick<ResourceDesk, "ids">,
  flag: FeatureFlag,
  next: FeatureFlag & { updated_at: string; last_modified_by: number },
): FeatureFlag {
  const [before, after] = [flag, next].map((it) => ({ ...logged, ...(it as unknown as JsonObject) }));
  const changes = Object.keys(logged).flatMap((field) => {
    const [was, is] = [before?.[field] ?? null, after?.[field] ?? null];
    return isDeepStrictEqual(was, is) ? [] : [{ field, before: was, after: is }];
  });
  const activity = flag.deleted === next.deleted ? "updated" : next.deleted ? "deleted" : "restored";
  const entry: FlagChange = {
    id: desk.ids.uuid(),
    at: next.updated_at,
    user: next.last_modified_by,
    activity,
    key: next.key,
    changes,
  };
  const history = [entry];
  let size = JSON.stringify(entry).length;
  for (const it of (flag.history ?? []).toReversed()) {
    size += JSON.stringify(it).length;
    if (size > mostHistory) break;
    history.unshift(it);
  }
  return { ...next, history };
}

const isRunning = ({ fields }: StoredResource): boolean => Boolean(fields.start_date) && !fields.end_date;

/** @throws SimError when an early access feature, a running experiment or another flag needs it */
function checkUnused(desk: ResourceDesk, flag: FeatureFlag): void {
  const usersOf = (kind: string) =>
    liveResources(desk.worlds.current, kind, flag.project).filter(({ fields }) => fields.feature_flag_id === flag.id);
  if (usersOf("early_access_features").length > 0) {
    throw invalid(
      "Cannot delete a feature flag that is in use with early access features. Please delete the early access feature before deleting the flag.",
    );
  }
  const running = usersOf("experiments").filter(isRunning);
  if (running.length > 0) {
    const listed = running.map(({ key, fields }) => `"${String(fields.name ?? "")}" (ID: ${key})`).join(", ");
    throw invalid(
      `Cannot delete a feature flag that is linked to running experiment(s): ${listed}. Please stop the experiment(s) before deleting the flag.`,
    );
  }
  const dependents = flagsOf(desk, flag.project).filter(dependsOn(flag.id));
  if (dependents.length === 0) return;
  throw invalid(
    `Cannot delete this feature flag because other flags depend on it: ${namesOf(dependents)}. Please update or delete the dependent flags first.`,
  );
}

/** The old form of enrolment names the flag's key: it follows the key. */
function renamed(filters: FeatureFlag["filters"], from: string, to: string): FeatureFlag["filters"] {
  const { super_groups: groups } = filters;
  if (from === to || !Array.isArray(groups)) return filters;
  const follow = (property: Json) =>
    isObject(property) && property.key === `$feature_enrollment/${from}`
      ? { ...property, key: `$feature_enrollment/${to}` }
      : property;
  const super_groups = groups.map((group: Json) =>
    isObject(group) && Array.isArray(group.properties) ? { ...group, properties: group.properties.map(follow) } : group,
  );
  return { ...filters, super_groups };
}

/** Filters without condition sets change nothing in a PATCH, and open the flag for all in a PUT. */
function nextFilters(
  desk: ResourceDesk,
  flag: FeatureFlag,
  { filters }: FlagPatch,
  isPatch: boolean,
): FeatureFlag["filters"] {
  const checked = checkFilters(filters, { worlds: desk.worlds, project: flag.project, flag, makeId: desk.ids.uuid });
  return checked ?? (filters === undefined || isPatch ? flag.filters : openFilters);
}

/**
 * Changes a flag. The document is replaced, so that its decisions are computed again.
 * @throws SimError unique, invalid_input …, conflict
 */
export function updateFlag(
  desk: ResourceDesk,
  flag: FeatureFlag,
  request: ProjectRequest<FlagPatch>,
  isPatch: boolean,
): FeatureFlag {
  const body = request.body();
  checkDashboards(desk, flag.project, body.analytics_dashboards);
  const fields = withFields(flag, body);
  if (body.key !== undefined || (flag.deleted && !fields.deleted)) {
    checkKey(desk, flag.project, fields.key, flag.id);
  }
  const filters = renamed(nextFilters(desk, flag, body, isPatch), flag.key, fields.key);
  if (body.deleted === true) checkUnused(desk, flag);
  const next = { ...fields, filters };
  checkState(desk, flag, next, body);
  checkVersion(desk, flag, next, body);
  const changed = {
    ...next,
    version: flag.version + 1,
    updated_at: wireTime(desk.clock.now()),
    last_modified_by: request.caller.user.id,
  };
  return desk.worlds.change((draft) => draft.put("feature_flags", withHistory(desk, flag, changed)));
}
