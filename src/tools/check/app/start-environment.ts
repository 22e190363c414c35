import { certificateAuthority, type Sim } from "../../../index.ts";
import { rerouteChildren } from "../../../lab/egress/reroute-children.ts";
import { readyLine } from "../../../sim/command/banner.ts";
import { readVariables } from "../../doctor/doctor-facts.ts";
import { childVariables } from "../../exec/child-environment.ts";

/** The certificate with which programs other than Node are rerouted; undefined if it cannot be made. */
async function certificateFile(folder: string | undefined): Promise<string | undefined> {
  try {
    return (await certificateAuthority(folder)).cert_file;
  } catch {
    return undefined;
  }
}

/**
 * The environment of an app for the check. Variables of PostHog's that the app has, in `env` or in its .env files, stay
 * as they are: they are checked. All others point it at the sim, and requests for the real service are rerouted.
 */
export async function startEnvironment(
  sim: Sim,
  folder: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<NodeJS.ProcessEnv> {
  const own = new Set(readVariables(env, folder).map(({ name }) => name));
  const given = Object.entries(childVariables(readyLine(sim))).filter(([name]) => !own.has(name));
  const certFile = await certificateFile(env.PHX_SIM_CA_DIR || undefined);
  const routes = rerouteChildren({ url: sim.url, certFile, env });
  return { ...env, ...Object.fromEntries(given), ...routes.env };
}
