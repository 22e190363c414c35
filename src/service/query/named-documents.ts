import { type JsonObject, objectsIn, textsIn } from "../../kernel/base/json.ts";
import { stringOf } from "../../kernel/base/text.ts";
import { liveResource } from "../../state/documents/resources.ts";
import type { Worlds } from "../../state/documents/world.ts";

/** A project's action, unless it is deleted: an `ActionsNode` of a query names it by its id. */
export function actionOf(
  worlds: Pick<Worlds, "get">,
  project: number,
  id: number,
): { readonly name: string; readonly steps: readonly JsonObject[] } | undefined {
  const action = liveResource(worlds, "actions", project, id);
  return action && { name: stringOf(action.fields.name ?? ""), steps: objectsIn(action.fields.steps) };
}

export function experimentOf(
  worlds: Pick<Worlds, "get" | "current">,
  project: number,
  id: number,
): { readonly flag: string; readonly excluded: readonly string[] } | undefined {
  const experiment = liveResource(worlds, "experiments", project, id);
  if (!experiment) return undefined;
  const { feature_flag_id: flag, feature_flag_key: key, excluded_variants: excluded } = experiment.fields;
  const known = typeof flag === "number" ? worlds.get("feature_flags", flag) : undefined;
  return { flag: known?.key ?? stringOf(key ?? ""), excluded: textsIn(excluded) };
}
