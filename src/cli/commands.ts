import { caCommands } from "./ca.ts";
import { clockCommands } from "./clock.ts";
import type { Command } from "./command.ts";
import { doctor } from "./doctor.ts";
import { env } from "./env.ts";
import { eventCommands } from "./events.ts";
import { exec } from "./exec.ts";
import { exportCommands } from "./exports.ts";
import { faultCommands } from "./faults.ts";
import { flagCommands } from "./flags.ts";
import { lint } from "./lint.ts";
import { personCommands } from "./persons.ts";
import { planCommands } from "./plan.ts";
import { record } from "./record.ts";
import { replay } from "./replay.ts";
import { scenarioCommands } from "./scenario.ts";
import { send } from "./send.ts";
import { start } from "./start.ts";
import { stateCommands } from "./state.ts";
import { status } from "./status.ts";
import { tapeCommands } from "./tape.ts";
import { verify } from "./verify.ts";

/** Every command. The first one is the default. */
export const commands: readonly Command[] = [
  start,
  status,
  env,
  doctor,
  exec,
  record,
  replay,
  verify,
  send,
  ...eventCommands,
  lint,
  ...personCommands,
  ...flagCommands,
  ...faultCommands,
  ...clockCommands,
  ...exportCommands,
  ...stateCommands,
  ...scenarioCommands,
  ...planCommands,
  ...tapeCommands,
  ...caCommands,
];
