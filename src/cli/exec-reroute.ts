import type { Sim } from "../index.ts";
import { clean } from "./clean-text.ts";
import type { Shell } from "./command.ts";
import { Failure } from "./failure.ts";

/** Settings of commands that run a command. */
export const rerouteOptions = {
  reroute: {
    kind: "switch",
    describe: "Reroute requests for posthog.com to the sim, for a hard-coded host; on with --reroute-host",
  },
  "reroute-host": {
    kind: "text",
    describe: "Host to reroute as well as posthog.com and its subdomains: e.example.com, *.example.com",
    many: true,
    flagOnly: true,
  },
} as const;

interface Values {
  readonly reroute: boolean;
  readonly "reroute-host": readonly string[];
  readonly "no-proxy": boolean;
}

/** Is anything to be rerouted? */
export const isRerouting = (values: Omit<Values, "no-proxy">): boolean =>
  values.reroute || values["reroute-host"].length > 0;

/** Refuses hosts that are none, before the work. @throws Failure usage */
export async function checkReroute(values: Values): Promise<void> {
  if (!isRerouting(values)) return;
  const { rerouteTest } = await import("../guard/reroute.ts");
  try {
    rerouteTest({ hosts: values["reroute-host"] });
  } catch (error) {
    throw new Failure("usage", `--reroute-host: ${reasonOf(error)}`, error);
  }
}

/** Variables that lead the command to the sim, whatever host it has been given; tells what they do. @throws Failure start */
export async function rerouteVariables(
  sim: Sim,
  values: Values,
  shell: Shell,
): Promise<Record<string, string>> {
  if (!isRerouting(values)) return {};
  const { rerouteChildren } = await import("../guard/reroute-env.ts");
  const { reroutedHosts } = await import("../guard/reroute.ts");
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
    throw new Failure("start", `--reroute: ${reasonOf(error)}`, error);
  }
}

async function certificateOf(shell: Shell): Promise<string> {
  const { CertificateError, certificateAuthority } = await import("../index.ts");
  try {
    return (await certificateAuthority(shell.env.PHX_SIM_CA_DIR || undefined)).cert_file;
  } catch (error) {
    const hint = error instanceof CertificateError ? `; ${error.hint}` : "";
    throw new Failure("start", `--reroute: ${reasonOf(error)}${clean(hint)}`, error);
  }
}

const reasonOf = (error: unknown): string =>
  clean(error instanceof Error ? error.message : String(error), 1000);
