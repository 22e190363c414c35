import { bothCases, nodeOptions, proxyNames, proxyVariables } from "./open-guard.ts";
import { type RerouteRules, rerouteTest, rerouteVariable } from "./reroute.ts";
import { trustEnv } from "./reroute-trust.ts";

export interface ChildRerouteOptions extends RerouteRules {
  /** Certificate (PEM file) of the sim's forward proxy; undefined: it has none, and only Node is rerouted. */
  certFile: string | undefined;
  /** The environment that the child would get. */
  env: Readonly<Record<string, string | undefined>>;
}

/** What sends child processes to the sim. */
export interface ChildReroute {
  /** Variables to add to the child's. */
  readonly env: Record<string, string>;
  /** Are other programs than Node rerouted, by the proxy? */
  readonly byProxy: boolean;
  /** Whole sentences about what is not rerouted, for people. */
  readonly notes: readonly string[];
}

const noProxy = "The sim is no proxy (--no-proxy): only Node processes are rerouted, other programs are not.";

const othersNote = (hosts: readonly string[]): string =>
  `${hosts.join(", ")}: only Node processes are rerouted, as the proxy's certificates are not good for it.`;

/** Why other programs are not rerouted; undefined: they are. */
function withoutProxy({ certFile, env }: ChildRerouteOptions): string | undefined {
  const taken = proxyNames.flatMap(bothCases).filter((name) => env[name]);
  if (taken.length > 0)
    return `${taken.join(", ")} is set and left as it is: only Node processes are rerouted, other programs are not.`;
  return certFile === undefined ? noProxy : undefined;
}

/**
 * Variables that send a child's requests for the service's hosts to the sim: Node children (and theirs, and their
 * worker threads) by a preload, without any proxy; other programs through the sim as their proxy, if none is set yet,
 * whose authority they are told to trust.
 * @throws TypeError when a host cannot be read
 * @throws Error when a bundle of certificates cannot be written
 */
export function rerouteChildren(options: ChildRerouteOptions): ChildReroute {
  const { url, hosts = [], certFile, env } = options;
  rerouteTest({ hosts });
  const reason = withoutProxy(options);
  const byProxy = reason === undefined && certFile !== undefined;
  return {
    env: {
      NODE_OPTIONS: nodeOptions(env.NODE_OPTIONS),
      [rerouteVariable]: JSON.stringify({ url, hosts }),
      ...(byProxy && { ...proxyVariables(env, url), ...trustEnv(certFile, env) }),
    },
    byProxy,
    notes: reason !== undefined ? [reason] : hosts.length > 0 ? [othersNote(hosts)] : [],
  };
}
