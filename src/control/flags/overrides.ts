import { SimError } from "../../kernel/errors.ts";
import { uuidV5 } from "../../kernel/ids.ts";
import { type Json, type JsonObject, own } from "../../kernel/json.ts";
import { didYouMean } from "../../kernel/nearest.ts";
import { hasKnownRules } from "../../model/flag-config.ts";
import type { FeatureFlag, FlagOverride, Project } from "../../model/world.ts";
import { allowKeys } from "../body.ts";
import type { ControlDesk } from "../desk.ts";
import { change } from "../kept-change.ts";
import type { SetOverride, ShownOverride } from "./answers.ts";
import { givenInBody } from "./given.ts";
import { flagOf, keyHint, noSuchFlag, projectOf } from "./place.ts";
import { variantsOf } from "./rules.ts";

const namespace = "6f0d7c3e-3c1b-5b0a-9d43-0f6a7c1e52d8";

/** One subject has one override of a flag: setting it again replaces it. */
const idOf = (project: number, key: string, distinctId: string | null): string =>
  uuidV5(namespace, JSON.stringify([project, key, distinctId]));

export const showOverride = (it: FlagOverride): ShownOverride => ({
  project: it.project,
  key: it.flag,
  distinct_id: it.distinct_id,
  value: it.value,
  payload: it.payload,
  created_at: it.created_at,
});

const valueError = (detail: string, hint: string, pointer = "/value"): SimError =>
  new SimError("invalid_input", detail, { pointer, hint });

function valueIn(body: JsonObject): boolean | string {
  const value = own(body, "value");
  if (typeof value === "boolean" || (typeof value === "string" && value !== "")) return value;
  throw valueError('"value" must be true, false or the key of a variant', 'for example {"value": true}');
}

const forcing = '; "force" sets it anyway';

/** A misspelt variant would send every client down its default branch. */
export function checkVariant(
  flag: FeatureFlag | undefined,
  value: boolean | string,
  { pointer, way }: { pointer: string; way: string } = { pointer: "/value", way: forcing },
): void {
  if (!flag || !hasKnownRules(flag.filters) || typeof value !== "string") return;
  const variants = variantsOf(flag);
  if (variants.includes(value)) return;
  const known = variants.length > 0 ? `its variants: ${variants.join(", ")}` : "it has none: true or false";
  const hint = `${known}${didYouMean(value, variants)}${way}`;
  throw valueError(`flag "${flag.key}" has no variant "${value}"`, hint, pointer);
}

const settable = ["value", "payload", "distinct_id", "project", "force"];
const most = Number.MAX_SAFE_INTEGER;

function overrideOf(desk: ControlDesk, project: Project, key: string, body: JsonObject): FlagOverride {
  const distinctId = givenInBody(body).text("distinct_id") ?? null;
  if (distinctId === "") {
    throw new SimError("invalid_input", '"distinct_id" is empty', {
      pointer: "/distinct_id",
      hint: "without it the override is for everybody",
    });
  }
  const value = valueIn(body);
  return overrideWith(desk, { project: project.id, key, distinctId, value, payload: own(body, "payload") });
}

interface Wanted {
  project: number;
  key: string;
  value: boolean | string;
  distinctId?: string | null;
  payload?: Json | undefined;
}

/** The override as it is kept; without a distinct id it is for everybody. */
export const overrideWith = ({ clock }: Pick<ControlDesk, "clock">, wanted: Wanted): FlagOverride => {
  const { project, key, value, distinctId = null, payload = null } = wanted;
  return {
    id: idOf(project, key, distinctId),
    project,
    flag: key,
    distinct_id: distinctId,
    value,
    payload,
    created_at: new Date(clock.now()).toISOString(),
  };
};

/**
 * Sets an override by a PUT's body. `force` also sets a variant that the flag does not have, or a flag that the project
 * does not have yet: clients then see it.
 * @throws SimError invalid_input, not_found, storage_failed
 */
export function setOverride(desk: ControlDesk, key: string, body: JsonObject): SetOverride {
  allowKeys(body, settable);
  const project = projectOf(desk, givenInBody(body).number("project", { min: 0, max: most }));
  const override = overrideOf(desk, project, key, body);
  const flag = flagOf(desk, project, key);
  if (own(body, "force") !== true) {
    if (!flag && overridesIn(desk, { project: project.id, key }).length === 0)
      throw noSuchFlag(desk, project, key, forcing);
    checkVariant(flag, override.value);
  }
  change(desk, (draft) => draft.put("flag_overrides", override));
  const hint = flag ? null : `project ${project.id} has no such flag; ${keyHint(desk, project, key)}`;
  return { ...showOverride(override), known: flag !== undefined, hint };
}

/** Which overrides; absent keys do not restrict. */
export interface OverrideFilter {
  readonly project?: number | undefined;
  readonly key?: string;
  /** null: the one for everybody. */
  readonly distinctId?: string | null | undefined;
}

/** The overrides that fit. */
export const overridesIn = (desk: ControlDesk, filter: OverrideFilter): FlagOverride[] =>
  desk.worlds.current.flag_overrides.filter(
    (it) =>
      (filter.project === undefined || it.project === filter.project) &&
      (filter.key === undefined || it.flag === filter.key) &&
      (filter.distinctId === undefined || it.distinct_id === filter.distinctId),
  );

/** Removes the overrides that fit and returns how many. @throws SimError storage_failed */
export function removeOverrides(desk: ControlDesk, filter: OverrideFilter): number {
  const found = overridesIn(desk, filter);
  if (found.length > 0) {
    change(desk, (draft) => {
      for (const { id } of found) draft.remove("flag_overrides", id);
    });
  }
  return found.length;
}
