import { SimError } from "../../kernel/errors.ts";
import { uuidV5 } from "../../kernel/ids.ts";
import { type JsonObject, own } from "../../kernel/json.ts";
import { didYouMean } from "../../kernel/nearest.ts";
import type { Draft, FeatureFlag, FlagOverride, Project } from "../../model/world.ts";
import { allowKeys } from "../body.ts";
import type { ControlDesk } from "../desk.ts";
import type { SetOverride, ShownOverride } from "./answers.ts";
import { givenInBody } from "./given.ts";
import { flagOf, keyHint, projectOf } from "./place.ts";
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

/** Changes the world; it is on disk when this returns. @throws SimError storage_failed */
function change<T>({ worlds }: ControlDesk, edit: (draft: Draft) => T): T {
  const result = worlds.change(edit);
  try {
    worlds.flush();
  } catch (cause) {
    throw new SimError("storage_failed", "the change counts, but it cannot be written to disk", { cause });
  }
  return result;
}

const valueError = (detail: string, hint: string): SimError =>
  new SimError("invalid_input", detail, { pointer: "/value", hint });

function valueIn(body: JsonObject): boolean | string {
  const value = own(body, "value");
  if (typeof value === "boolean" || (typeof value === "string" && value !== "")) return value;
  throw valueError('"value" must be true, false or the key of a variant', 'for example {"value": true}');
}

/** A misspelt variant would send every client down its default branch. */
function checkVariant(flag: FeatureFlag | undefined, value: boolean | string, isForced: boolean): void {
  if (!flag || typeof value !== "string" || isForced) return;
  const variants = variantsOf(flag);
  if (variants.includes(value)) return;
  const known = variants.length > 0 ? `its variants: ${variants.join(", ")}` : "it has none: true or false";
  const hint = `${known}${didYouMean(value, variants)}; "force" sets it all the same`;
  throw valueError(`flag "${flag.key}" has no variant "${value}"`, hint);
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
  return {
    id: idOf(project.id, key, distinctId),
    project: project.id,
    flag: key,
    distinct_id: distinctId,
    value: valueIn(body),
    payload: own(body, "payload") ?? null,
    created_at: new Date(desk.clock.now()).toISOString(),
  };
}

/**
 * Sets an override by a PUT's body. Keys that the project has no flag for may be overridden, too: clients then
 * see a flag that is not there yet.
 * @throws SimError invalid_input, not_found, storage_failed
 */
export function setOverride(desk: ControlDesk, key: string, body: JsonObject): SetOverride {
  allowKeys(body, settable);
  const project = projectOf(desk, givenInBody(body).number("project", { min: 0, max: most }));
  const override = overrideOf(desk, project, key, body);
  const flag = flagOf(desk, project, key);
  checkVariant(flag, override.value, own(body, "force") === true);
  change(desk, (draft) => draft.put("flag_overrides", override));
  const hint = flag ? null : `project ${project.id} has no such flag; ${keyHint(desk, project, key)}`;
  return { ...showOverride(override), known: flag !== undefined, hint };
}

/** Which overrides; absent keys do not restrict. */
export interface OverrideFilter {
  readonly project?: number | undefined;
  readonly key?: string;
  readonly distinctId?: string | undefined;
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
