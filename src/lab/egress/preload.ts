import { appendCall, type GuardOptions, logVariable, rulesVariable } from "./blocked-call.ts";
import { guardProcess } from "./guard.ts";
import { rerouteProcess, rerouteVariable } from "./reroute.ts";

/**
 * Loaded into Node children by `--require`: reroutes and guards them, their worker threads and, as children inherit the
 * variables, their children. Rerouted requests do not leave, so they need no guard.
 */
const { [logVariable]: log, [rulesVariable]: rules, [rerouteVariable]: routes } = process.env;
if (log && rules) {
  const options: GuardOptions & { url: string } = JSON.parse(rules);
  guardProcess(options, (call) => appendCall(log, call));
}
if (routes) rerouteProcess(JSON.parse(routes));
