import { didYouMean } from "../../kernel/base/nearest.ts";
import { listed } from "../../kernel/base/text.ts";
import type { AuthoredFlag, ServiceFlag } from "../../lab/scenario/project-schema.ts";
import type { Scenario } from "../../lab/scenario/scenario.ts";
import { textValuesOf } from "../../service/flags/engine/rule-config.ts";
import { rulesVersionOf } from "../../state/documents/flag-config.ts";
import type { Combination, MatrixFlag, MatrixValue } from "./combinations.ts";

type ScenarioFlags = Readonly<Record<string, AuthoredFlag>>;

/** The flags of the first project, which is the default one and the template of tests' projects. */
const flagsIn = ({ organizations }: Scenario): ScenarioFlags =>
  organizations.flatMap(({ projects }) => projects)[0]?.flags ?? {};

const variantsOf = (flag: AuthoredFlag): string[] => {
  if (typeof flag === "boolean") return [];
  if (flag.filters === undefined) return Object.keys(flag.variants ?? {});
  if (rulesVersionOf(flag.filters) === 2) return textValuesOf(flag.filters);
  return (flag.filters.multivariate?.variants ?? []).map(({ key }) => key);
};

/** A named flag that cannot be combined. The message names the flag and what to write instead. */
export class MatrixFlagError extends Error {
  override readonly name = "MatrixFlagError";
}

const valueIn = (text: string): MatrixValue => (text === "true" ? true : text === "false" ? false : text);

function readFlag(text: string, flags: ScenarioFlags): MatrixFlag {
  const at = text.indexOf("=");
  const key = at < 0 ? text : text.slice(0, at);
  const flag = Object.hasOwn(flags, key) ? flags[key] : undefined;
  if (flag === undefined) {
    const keys = Object.keys(flags);
    const known = keys.length > 0 ? `its flags: ${listed(keys)}` : "it has none";
    const near = didYouMean(key, keys, (found) => `"${found}"`) || `; ${known}`;
    throw new MatrixFlagError(`the scenario has no flag "${key}"${near}`);
  }
  const variants = variantsOf(flag);
  if (at < 0) return { key, values: variants.length > 0 ? variants : [true, false] };
  const values = text
    .slice(at + 1)
    .split("|")
    .map((it) => valueIn(it.trim()));
  const wrong = values.find((it) => typeof it === "string" && !variants.includes(it));
  if (wrong === undefined) return { key, values };
  const known =
    variants.length > 0 ? `its values are ${listed([...variants, "true", "false"])}` : "it has none: true or false";
  const meant = didYouMean(String(wrong), variants);
  throw new MatrixFlagError(`flag "${key}" has no variant "${wrong}"; ${known}${meant}`);
}

/**
 * The flags that `--matrix` names: `KEY` for all its values, `KEY=a|b` for some.
 * @throws MatrixFlagError
 */
export function flagMatrixFlags(texts: readonly string[], scenario: Scenario): MatrixFlag[] {
  const flags = flagsIn(scenario);
  return texts.map((text) => readFlag(text, flags));
}

const shown = { active: true, deleted: false };

/** Rules of version 2 whose first gives the value to all; older clients see numbers and objects as true, which stay. */
function fixedRules(filters: ServiceFlag["filters"], value: MatrixValue): ServiceFlag["filters"] {
  const { return_type: type, rules = [] } = filters;
  if (value === false && type !== "boolean") return { ...filters, rules: [], default_value: null };
  if (value === true && type !== "boolean") return filters;
  const first = {
    id: "00000000-0000-4000-8000-000000000000",
    rule_type: "targeted_release",
    targeting: { properties: [] },
    value,
  };
  // a flag has at most a hundred
  return { ...filters, rules: [first, ...rules.slice(0, 99)] };
}

/** The flag with one value for all users. Its variants and payloads stay, so that tests can override it. */
function fixed(flag: AuthoredFlag, value: MatrixValue): AuthoredFlag {
  if (typeof flag === "boolean") return value !== false;
  const rollout = value === false ? 0 : 100;
  if (flag.filters === undefined) {
    const { variants, payloads } = flag;
    const shares = Object.keys(variants ?? {}).map((key) => [key, key === value ? 100 : 0] as const);
    return {
      rollout,
      ...(payloads && { payloads }),
      ...(variants && { variants: typeof value === "string" ? Object.fromEntries(shares) : variants }),
    };
  }
  if (rulesVersionOf(flag.filters) === 2) return { ...flag, ...shown, filters: fixedRules(flag.filters, value) };
  const { multivariate, payloads } = flag.filters;
  const condition = {
    properties: [],
    rollout_percentage: rollout,
    ...(typeof value === "string" && { variant: value }),
  };
  return {
    ...flag,
    ...shown,
    filters: { groups: [condition], ...(multivariate && { multivariate }), ...(payloads && { payloads }) },
  };
}

/** The scenario with a value for each flag of the combination: in the default project, and in those copied from it. */
export function withFlags(scenario: Scenario, combination: Combination): Scenario {
  let isFirst = true;
  return {
    ...scenario,
    organizations: scenario.organizations.map((organization) => ({
      ...organization,
      projects: organization.projects.map((project) => {
        if (!isFirst) return project;
        isFirst = false;
        const flags = Object.entries(project.flags ?? {}).map(([key, flag]): [string, AuthoredFlag] => {
          const value = Object.hasOwn(combination, key) ? combination[key] : undefined;
          return [key, value === undefined ? flag : fixed(flag, value)];
        });
        return { ...project, flags: Object.fromEntries(flags) };
      }),
    })),
  };
}
