import { caCommands } from "./ca.ts";
import { clockCommands } from "./clock.ts";
import type { Command } from "./command.ts";
import { completion } from "./completion.ts";
import { doctor } from "./doctor.ts";
import { env } from "./env.ts";
import { eventCommands } from "./events.ts";
import { exec } from "./exec.ts";
import { exportCommands } from "./exports.ts";
import { faultCommands } from "./faults.ts";
import { flagCommands } from "./flags.ts";
import { groupCommands } from "./groups.ts";
import { lint } from "./lint.ts";
import { personCommands } from "./persons.ts";
import { planCommands } from "./plan.ts";
import { record } from "./record.ts";
import { replay } from "./replay.ts";
import { requestCommands } from "./requests.ts";
import { scenarioCommands } from "./scenario.ts";
import { send } from "./send.ts";
import { start } from "./start.ts";
import { stateCommands } from "./state.ts";
import { status } from "./status.ts";
import { stop } from "./stop.ts";
import { tapeCommands } from "./tape.ts";
import { verify } from "./verify.ts";

/** Every command. The first one is the default. */
export const commands: readonly Command[] = [
  start,
  stop,
  status,
  env,
  doctor,
  exec,
  record,
  replay,
  verify,
  send,
  ...eventCommands,
  ...requestCommands,
  lint,
  ...personCommands,
  ...groupCommands,
  ...flagCommands,
  ...faultCommands,
  ...clockCommands,
  ...exportCommands,
  ...stateCommands,
  ...scenarioCommands,
  ...planCommands,
  ...tapeCommands,
  ...caCommands,
  completion(() => commands),
];
