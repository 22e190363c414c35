import type { Sim } from "../../index.ts";
import { groupedBy } from "../../kernel/base/grouped-by.ts";
import { clean } from "../../kernel/command/clean-text.ts";
import type { Shell } from "../../kernel/command/command.ts";
import { Failure } from "../../kernel/command/failure.ts";
import type { ChildGuard } from "../../lab/egress/child-guard.ts";
import { type Access, envGroups } from "../../lab/egress/env-names.ts";
import { readyLine } from "../../sim/command/banner.ts";

type ValueKind = "address" | "project key (phc_…)" | "personal key (phx_…)" | "project id";

/** The variables that point a program at the sim: all the names that SDKs, frameworks and tools read. */
export const childVariables = (access: Access): Record<string, string> => ({
  ...Object.fromEntries(envGroups(access, undefined).flatMap(({ variables }) => variables)),
  PHX_SIM_PROJECT_ID: String(access.project_id),
});

const kindOf = (value: string, access: Access): ValueKind => {
  const kinds: readonly (readonly [string, ValueKind])[] = [
    [access.url, "address"],
    [access.project_api_key, "project key (phc_…)"],
    [access.personal_api_key, "personal key (phx_…)"],
  ];
  return kinds.find(([known]) => known === value)?.[1] ?? "project id";
};

/** Addresses and ids are shown; of a key only its kind. */
const shown = (kind: ValueKind, value: string): string =>
  kind === "address" || kind === "project id" ? `${kind} ${clean(value)}` : kind;

/** Names that bundlers pass on: a prefix before `POSTHOG_`. */
const prefixed = /^([A-Z]\w*?_)(POSTHOG_\w+)$/;

/** `names = key` for each key, each name once. */
const named = (pairs: readonly (readonly [key: string, name: string])[]): string[] =>
  [...groupedBy(pairs, ([key]) => key)].map(
    ([key, of]) => `${[...new Set(of.map(([, name]) => name))].join(", ")} = ${key}`,
  );

/**
 * Which variables are set, and which kind of key each one is: `POSTHOG_API_KEY = project key (phc_…)`. Those of the
 * frameworks share a line.
 */
function variableLines(variables: Readonly<Record<string, string>>, access: Access): string[] {
  const rows = Object.entries(variables).map(([name, value]) => {
    const [, prefix, tail = name] = prefixed.exec(name) ?? [];
    return { prefix, tail, value, kind: kindOf(value, access) };
  });
  const plain = rows.filter(({ prefix }) => prefix === undefined);
  const lines = named(plain.map(({ tail, kind, value }) => [shown(kind, value), tail])).map((it) => `  ${it}`);
  const framed = rows.filter(({ prefix }) => prefix !== undefined);
  if (framed.length === 0) return lines;
  const prefixes = [...new Set(framed.map(({ prefix }) => prefix))].join(", ");
  const names = named(framed.map(({ kind, tail }) => [kind, tail]));
  return [...lines, `  and with ${prefixes} before: ${names.join("; ")}`];
}

export function announceVariables(
  sim: Sim,
  [program = ""]: readonly string[],
  variables: Readonly<Record<string, string>>,
  shell: Shell,
): void {
  shell.err.say(
    `phx-sim: ready at ${sim.url}; ${clean(program, 80)} gets`,
    ...variableLines(variables, readyLine(sim)),
  );
}

/** Blocks the command's calls to the real service. @throws Failure start */
export async function openEgressGuard(url: string, shell: Shell): Promise<ChildGuard> {
  const { openGuard } = await import("../../lab/egress/child-guard.ts");
  try {
    const guard = await openGuard({ url, env: shell.env });
    shell.err.say(...guard.notes.map((note) => `phx-sim: --block-egress: ${clean(note, 1000)}`));
    return guard;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Failure("start", `--block-egress: ${clean(reason)}`, error);
  }
}

/** The blocked calls, equal ones together, in the order of their first occurrence. */
export async function blockedBy(guard: ChildGuard | undefined): Promise<{ call: string; count: number }[]> {
  const calls = (await guard?.calls()) ?? [];
  const groups = groupedBy(calls, ({ method, url }) => (method === null ? url : `${method} ${url}`));
  return [...groups].map(([call, { length: count }]) => ({ call, count }));
}

export const rerouteOptions = {
  reroute: {
    kind: "switch",
    describe: "Reroute requests for posthog.com to the sim, for a hard-coded host; on with --reroute-host",
    configurable: true,
  },
  "reroute-host": {
    describe: "Host to reroute as well as posthog.com and its subdomains: e.example.com, *.example.com",
    many: true,
  },
} as const;

interface Values {
  readonly reroute: boolean;
  readonly "reroute-host": readonly string[];
  readonly "no-proxy": boolean;
}

export const isRerouting = (values: Omit<Values, "no-proxy">): boolean =>
  values.reroute || values["reroute-host"].length > 0;

/** Rejects invalid hosts before the command runs. @throws Failure usage */
export async function checkReroute(values: Values): Promise<void> {
  if (!isRerouting(values)) return;
  const { rerouteTest } = await import("../../lab/egress/reroute.ts");
  try {
    rerouteTest({ hosts: values["reroute-host"] });
  } catch (error) {
    throw new Failure("usage", `--reroute-host: ${messageOf(error)}`, error);
  }
}

/** Variables that send the command's requests for the service's hosts to the sim; reports their effect. @throws Failure start */
export async function rerouteVariables(sim: Sim, values: Values, shell: Shell): Promise<Record<string, string>> {
  if (!isRerouting(values)) return {};
  const { rerouteChildren } = await import("../../lab/egress/reroute-children.ts");
  const { reroutedHosts } = await import("../../lab/egress/reroute.ts");
  const hosts = values["reroute-host"];
  const certFile = values["no-proxy"] ? undefined : await certificateOf(shell);
  try {
    const { env, byProxy, notes } = rerouteChildren({ url: sim.url, hosts, certFile, env: shell.env });
    const how = byProxy ? "Node by a preload, other programs by HTTPS_PROXY" : "Node by a preload";
    shell.err.say(
      `phx-sim: rerouted to ${sim.url}: ${clean(reroutedHosts({ hosts }).join(", "), 500)} (${how})`,
      ...notes.map((note) => `phx-sim: --reroute: ${clean(note, 1000)}`),
    );
    return env;
  } catch (error) {
    throw new Failure("start", `--reroute: ${messageOf(error)}`, error);
  }
}

async function certificateOf(shell: Shell): Promise<string> {
  const { CertificateError, certificateAuthority } = await import("../../index.ts");
  try {
    return (await certificateAuthority(shell.env.PHX_SIM_CA_DIR || undefined)).cert_file;
  } catch (error) {
    const hint = error instanceof CertificateError ? `; ${error.hint}` : "";
    throw new Failure("start", `--reroute: ${messageOf(error)}${clean(hint)}`, error);
  }
}

const messageOf = (error: unknown): string => clean(error instanceof Error ? error.message : String(error), 1000);
