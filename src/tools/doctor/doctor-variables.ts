import { groupedBy } from "../../kernel/base/grouped-by.ts";
import { clean } from "../../kernel/command/clean-text.ts";
import { publicPrefixes } from "../../lab/egress/env-names.ts";
import {
  type DoctorFacts,
  type DoctorFinding,
  ok,
  problem,
  type SimFacts,
  type Variable,
  warning,
} from "./doctor-facts.ts";

/** The expected content of a variable, by its name. */
type Role = "host" | "personal key" | "secret key" | "project key" | "project id";

/** The first match counts. A `…_UI_HOST` may name the real service: it is for links to its pages. */
const roles: readonly (readonly [RegExp, Role | undefined])[] = [
  [/UI_HOST$/, undefined],
  [/^PHX_SIM_URL$|POSTHOG_(?:\w+_)?(?:HOST|URL)$/, "host"],
  [/POSTHOG_(?:\w+_)?PROJECT_ID$/, "project id"],
  [/POSTHOG_\w*PERSONAL\w*$/, "personal key"],
  [/POSTHOG_\w*SECRET\w*$/, "secret key"],
  [/POSTHOG_(?:\w+_)?(?:KEY|TOKEN)$/, "project key"],
];

export const roleOf = (name: string): Role | undefined => roles.find(([form]) => form.test(name))?.[1];

/** For flags, a project's secret key is accepted in place of a personal key. */
const prefixes: Readonly<Partial<Record<Role, readonly string[]>>> = {
  "project key": ["phc_"],
  "personal key": ["phx_", "phs_"],
  "secret key": ["phs_"],
};

/** Only the kind of a key is shown. */
const masked = (value: string): string =>
  /^ph[a-z]_/.test(value) ? `${value.slice(0, 4)}…` : "a value without phc_, phx_ …";

const useEnv = "phx-sim env prints what it should be";

const simOf = ({ sim }: DoctorFacts): SimFacts | undefined => ("missing" in sim ? undefined : sim);

/** True for the same sim: all names of loopback are equal, so the port decides. */
const sameAddress = (a: URL, b: URL): boolean => {
  const host = ({ hostname }: URL) =>
    /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname) ? "loopback" : hostname;
  return a.port === b.port && a.protocol === b.protocol && host(a) === host(b);
};

function checkHost({ value }: Variable, sim: SimFacts | undefined): DoctorFinding {
  if (value.startsWith("/"))
    return warning(`is the path ${clean(value, 60)}: what the app answers there must come from the sim`, useEnv);
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) return problem("is not an address with http:// or https://", useEnv);
  if (/(?:^|\.)posthog\.com$/.test(url.hostname))
    return problem(`names the real service, ${clean(url.host)}: events go there`, useEnv);
  if (!sim) return ok(`names ${clean(url.origin)}`);
  if (!sameAddress(url, new URL(sim.url)))
    return warning(`names ${clean(url.origin)}, and the sim is at ${clean(sim.url)}`, useEnv);
  if (url.pathname !== "/")
    return warning(`has ${clean(url.pathname, 60)} after the sim's address, a path that does not exist`, useEnv);
  return ok("names the sim");
}

/** Bundlers put these into the code that browsers load. */
const isPublic = (name: string): boolean =>
  /^(?:NEXT_PUBLIC|VITE|NUXT_PUBLIC|EXPO_PUBLIC|REACT_APP|VUE_APP|NG_APP|PUBLIC)_/.test(name);

function checkKeyKind({ name, value }: Variable, role: Role): DoctorFinding | undefined {
  if (isPublic(name) && /^ph[xs]_/.test(value))
    return problem(`is ${masked(value)}, and every user of the app can read it`, "use the project key (phc_…) here");
  const wanted = prefixes[role] ?? [];
  if (wanted.length === 0 || wanted.some((prefix) => value.startsWith(prefix))) return undefined;
  if (name === "POSTHOG_API_KEY" && value.startsWith("phx_"))
    return problem(
      "is a personal key (phx_…): SDKs expect the project key (phc_…); other tools expect the personal key in this variable",
      useEnv,
    );
  const right = `a ${role} (${wanted[0]}…)`;
  if (/^ph[a-z]_/.test(value)) return problem(`is ${masked(value)}, and ${right} belongs there`, useEnv);
  return warning(`is ${masked(value)}: not the form of ${right}`, useEnv);
}

function checkProjectKey(variable: Variable, sim: SimFacts): DoctorFinding {
  const project = sim.projects.find(({ api_key }) => api_key === variable.value);
  if (project) return ok(`is the key of project ${project.id}`);
  if (sim.adoptsTokens) return ok(`is unknown to the sim, which will adopt it`);
  return problem(
    `is a key that no project of the sim has: its events would be refused`,
    `${useEnv}; or start with --adopt-tokens`,
  );
}

function checkKey(variable: Variable, role: Role, sim: SimFacts | undefined): DoctorFinding {
  const wrong = checkKeyKind(variable, role);
  if (wrong) return wrong;
  if (role === "project key" && sim) return checkProjectKey(variable, sim);
  if (role === "personal key" && sim?.personalKey === variable.value) return ok(`is the sim's personal key`);
  return ok(`is a ${role} by its form`);
}

function checkId(variable: Variable, sim: SimFacts | undefined): DoctorFinding {
  if (!/^\d+$/.test(variable.value)) return problem("is not a number", useEnv);
  if (!sim || sim.projects.some(({ id }) => String(id) === variable.value)) return ok(`is project ${variable.value}`);
  return problem(`is ${clean(variable.value)}, and the sim has no such project`, useEnv);
}

function checkVariable(variable: Variable, role: Role, sim: SimFacts | undefined): DoctorFinding {
  const { value } = variable;
  if (value === "") return warning(`is empty`, useEnv);
  if (/^["'\s]|["'\s]$/.test(value)) return problem("has quotes or spaces around its value", "remove them");
  if (role === "host") return checkHost(variable, sim);
  return role === "project id" ? checkId(variable, sim) : checkKey(variable, role, sim);
}

/** Variables with the same finding share a line: `A, B (.env): names the sim`. */
function together(checked: readonly (readonly [Variable, DoctorFinding])[]): DoctorFinding[] {
  const groups = groupedBy(checked, ([{ source }, finding]) => JSON.stringify([source, finding]));
  return [...groups.values()].flatMap((group) => {
    const names = group.map(([{ name }]) => name).join(", ");
    return group.slice(0, 1).map(([{ source }, it]) => ({ ...it, text: `${names} (${source}): ${it.text}` }));
  });
}

/** Checks that each variable names this sim, has the right kind of key, and that the sim knows the key. */
export function checkVariables(facts: DoctorFacts): DoctorFinding | DoctorFinding[] {
  const sim = simOf(facts);
  const checked = facts.variables.flatMap((variable): [Variable, DoctorFinding][] => {
    const role = roleOf(variable.name);
    return role === undefined ? [] : [[variable, checkVariable(variable, role, sim)]];
  });
  if (checked.length > 0) return together(checked);
  const framework = facts.framework === null ? "" : ` --framework ${facts.framework}`;
  return warning(
    "no variable with POSTHOG_ in its name is set here, nor in a .env file",
    `phx-sim env${framework} --write .env.local; or phx-sim exec -- your command`,
  );
}

/** Warns if a framework passes on only names with its prefix, and no key has such a name. */
export function checkPrefix({ framework, variables }: DoctorFacts): DoctorFinding | DoctorFinding[] {
  const prefixes = framework === null ? [] : publicPrefixes(framework);
  const prefix = prefixes.at(-1);
  const keys = variables.filter(({ name }) => roleOf(name) === "project key");
  if (prefix === undefined || keys.length === 0) return [];
  if (keys.some(({ name }) => prefixes.some((it) => name.startsWith(it)))) return [];
  const names = keys.map(({ name }) => name).join(", ");
  return warning(
    `${framework} passes only names that begin with ${prefix} to the browser, and there are only ${names}`,
    `phx-sim env --framework ${framework} --write .env.local`,
  );
}
