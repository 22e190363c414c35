import { appendCall, logVariable, rulesVariable } from "./egress-log.ts";
import { guardProcess } from "./guard.ts";
import { type RerouteRules, reroutedHosts, rerouteProcess, rerouteVariable } from "./reroute.ts";
import type { GuardOptions } from "./types.ts";

/**
 * Loaded into Node children by `--require`: reroutes and guards them, their worker threads, and, as the variables
 * pass on, theirs. What is rerouted does not leave, so it needs no guard.
 */
const { [logVariable]: log, [rulesVariable]: rules, [rerouteVariable]: routes } = process.env;
const rerouting: RerouteRules | undefined = routes ? JSON.parse(routes) : undefined;
if (log && rules) {
  const { allow = [], ...guarded }: GuardOptions & { url: string } = JSON.parse(rules);
  const open = rerouting ? [...allow, ...reroutedHosts(rerouting)] : allow;
  guardProcess({ ...guarded, allow: open }, (call) => appendCall(log, call));
}
if (rerouting) rerouteProcess(rerouting);
