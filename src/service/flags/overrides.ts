import { SimError } from "../../kernel/base/errors.ts";
import { uuidV5 } from "../../kernel/base/ids.ts";
import type { Json } from "../../kernel/base/json.ts";
import { didYouMean, nearest } from "../../kernel/base/nearest.ts";
import { listed } from "../../kernel/base/text.ts";
import { rulesVersionOf } from "../../state/documents/flag-config.ts";
import { projectOf } from "../../state/documents/project-lookup.ts";
import type { Draft, FeatureFlag, StoredFlagOverride, StoredProject } from "../../state/documents/world.ts";
import { variantKeys } from "./engine/filters.ts";
import { textValuesOf } from "./engine/rule-config.ts";
import type { FlagPorts } from "./ports.ts";
import type { FlagOverrideSet, OverrideOrder, FlagOverride as ShownOverride } from "./shapes.ts";

type Worlds = Pick<FlagPorts, "worlds">;

const flagsOf = ({ worlds }: Worlds, project: StoredProject): FeatureFlag[] =>
  worlds.current.feature_flags.filter((it) => it.project === project.id && !it.deleted);

/** The project's flag with the key; a deleted one does not count. */
export const flagOf = (ports: Worlds, project: StoredProject, key: string): FeatureFlag | undefined =>
  flagsOf(ports, project).find((it) => it.key === key);

function keyHint(ports: Worlds, project: StoredProject, key: string): string {
  const keys = flagsOf(ports, project).map((it) => it.key);
  const near = nearest(key, keys);
  if (near !== undefined) return `did you mean "${near}"?`;
  return keys.length > 0 ? `its flags: ${listed(keys)}` : "it has no flags";
}

/**
 * The error for a key of which the project has neither a flag nor an override.
 * @param way How to proceed anyway
 */
export const noSuchFlag = (ports: Worlds, project: StoredProject, key: string, way = ""): SimError =>
  new SimError("not_found", `project ${project.id} has no flag "${key}"`, {
    hint: `${keyHint(ports, project, key)}${way}`,
  });

const namespace = "6f0d7c3e-3c1b-5b0a-9d43-0f6a7c1e52d8";

/** A distinct id has one override of a flag: setting it again replaces it. */
const idOf = (project: number, key: string, distinctId: string | null): string =>
  uuidV5(namespace, JSON.stringify([project, key, distinctId]));

export const showOverride = (it: StoredFlagOverride): ShownOverride => ({
  project: it.project,
  key: it.flag,
  distinct_id: it.distinct_id,
  value: it.value,
  payload: it.payload,
  created_at: it.created_at,
});

const forcing = '; "force" sets it anyway';

/**
 * A misspelt variant would send every client down its default branch.
 * @throws SimError invalid_input for a variant that the flag does not have
 */
export function checkVariant(
  flag: FeatureFlag | undefined,
  value: boolean | string,
  { pointer, way }: { pointer: string; way: string } = { pointer: "/value", way: forcing },
): void {
  const version = flag && rulesVersionOf(flag.filters);
  if (!flag || version === undefined || typeof value !== "string") return;
  const variants = version === 1 ? variantKeys(flag.filters) : textValuesOf(flag.filters);
  if (variants.includes(value)) return;
  const known = variants.length > 0 ? `its variants: ${variants.join(", ")}` : "it has none: true or false";
  throw new SimError("invalid_input", `flag "${flag.key}" has no variant "${value}"`, {
    pointer,
    hint: `${known}${didYouMean(value, variants)}${way}`,
  });
}

interface NewOverride {
  project: number;
  key: string;
  value: boolean | string;
  distinctId?: string | null | undefined;
  payload?: Json | undefined;
}

export const overrideWith = ({ clock }: Pick<FlagPorts, "clock">, order: NewOverride): StoredFlagOverride => {
  const { project, key, value, distinctId = null, payload = null } = order;
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

/** Changes the world; it is on disk when this returns. @throws the system's error; then nothing has changed */
function change({ worlds, log }: FlagPorts, edit: (draft: Draft) => void): void {
  worlds.change(edit);
  log.commit();
}

/**
 * Sets an override. `force` also sets a variant that the flag does not have, or a flag that the project does not
 * have: clients then get it.
 * @throws SimError invalid_input, not_found, storage_failed
 */
export function setOverride(ports: FlagPorts, key: string, order: OverrideOrder): FlagOverrideSet {
  const { value, payload, distinct_id: distinctId } = order;
  const project = projectOf(ports.worlds, order.project ?? undefined);
  const flag = flagOf(ports, project, key);
  if (order.force !== true) {
    if (!flag && overridesIn(ports, { project: project.id, key }).length === 0)
      throw noSuchFlag(ports, project, key, forcing);
    checkVariant(flag, value);
  }
  const override = overrideWith(ports, { project: project.id, key, value, distinctId, payload });
  change(ports, (draft) => draft.put("flag_overrides", override));
  const hint = flag ? null : `project ${project.id} has no such flag; ${keyHint(ports, project, key)}`;
  return { ...showOverride(override), known: flag !== undefined, hint };
}

export interface OverrideFilter {
  readonly project?: number | undefined;
  readonly key?: string;
  /** null: the override for all. */
  readonly distinctId?: string | null | undefined;
}

export const overridesIn = ({ worlds }: Worlds, filter: OverrideFilter): StoredFlagOverride[] =>
  worlds.current.flag_overrides.filter(
    (it) =>
      (filter.project === undefined || it.project === filter.project) &&
      (filter.key === undefined || it.flag === filter.key) &&
      (filter.distinctId === undefined || it.distinct_id === filter.distinctId),
  );

/** Removes the matching overrides and returns their number. @throws SimError storage_failed */
export function removeOverrides(ports: FlagPorts, filter: OverrideFilter): number {
  const found = overridesIn(ports, filter);
  if (found.length > 0) {
    change(ports, (draft) => {
      for (const { id } of found) draft.remove("flag_overrides", id);
    });
  }
  return found.length;
}
