import { appendCall, type GuardOptions, logVariable, rulesVariable } from "./blocked-call.ts";
import { guardProcess } from "./guard.ts";
import { type RerouteRules, reroutedHosts, rerouteProcess, rerouteVariable } from "./reroute.ts";

/**
 * Loaded into Node children by `--require`: reroutes and guards them, their worker threads, and, as children inherit
 * the variables, their children. Rerouted requests do not leave, so they need no guard.
 */
const { [logVariable]: log, [rulesVariable]: rules, [rerouteVariable]: routes } = process.env;
const rerouting: RerouteRules | undefined = routes ? JSON.parse(routes) : undefined;
if (log && rules) {
  const { allow = [], ...guarded }: GuardOptions & { url: string } = JSON.parse(rules);
  const open = rerouting ? [...allow, ...reroutedHosts(rerouting)] : allow;
  guardProcess({ ...guarded, allow: open }, (call) => appendCall(log, call));
}
if (rerouting) rerouteProcess(rerouting);
