import { appendCall, logVariable, rulesVariable } from "./egress-log.ts";
import { guardProcess } from "./guard.ts";

/** Loaded into Node children by `--require`: guards them, their worker threads, and, as the variables pass on, theirs. */
const { [logVariable]: log, [rulesVariable]: rules } = process.env;
if (log && rules) guardProcess(JSON.parse(rules), (call) => appendCall(log, call));
