import type { Command } from "../kernel/command/command.ts";
import { clockCommands } from "../lab/clock/command.ts";
import { faultCommands } from "../lab/faults/command.ts";
import { lint } from "../lab/lint/command.ts";
import { groupCommands } from "../lab/person-history/groups-command.ts";
import { personCommands } from "../lab/person-history/persons-command.ts";
import { planCommands } from "../lab/plan/command.ts";
import { scenarioCommands } from "../lab/scenario/command.ts";
import { stateCommands } from "../lab/scenario/state/command.ts";
import { recordingCommands } from "../lab/sessions/command.ts";
import { send } from "../lab/tapes/commands/send.ts";
import { tapeCommands } from "../lab/tapes/commands/tape.ts";
import { exportCommands } from "../service/batch-exports/command.ts";
import { flagCommands } from "../service/flags/command.ts";
import { query } from "../service/query/command.ts";
import { eventCommands } from "../state/journal/commands/events.ts";
import { requestCommands } from "../state/journal/commands/requests.ts";
import { coverage } from "../tools/call-coverage/command.ts";
import { check } from "../tools/check/command.ts";
import { doctor } from "../tools/doctor/doctor.ts";
import { baselineCommands } from "../tools/exec/baseline.ts";
import { exec } from "../tools/exec/exec.ts";
import { generate } from "../tools/generate/command.ts";
import { init } from "../tools/init/init.ts";
import { liveProjectCommands } from "../tools/live-project/command.ts";
import { mcp } from "../tools/mcp/command.ts";
import { verify } from "../tools/verify/command.ts";
import { caCommands } from "./ca.ts";
import { completion } from "./completion.ts";
import { env } from "./env.ts";
import { record } from "./record.ts";
import { replay } from "./replay.ts";
import { start } from "./start.ts";
import { status } from "./status.ts";
import { stop } from "./stop.ts";

/** Every command. The first one is the default. */
export const commands: readonly Command[] = [
  start,
  stop,
  status,
  init,
  env,
  doctor,
  check,
  exec,
  record,
  replay,
  verify,
  send,
  generate,
  ...eventCommands,
  ...requestCommands,
  query,
  lint,
  ...recordingCommands,
  coverage,
  ...personCommands,
  ...groupCommands,
  ...flagCommands,
  ...faultCommands,
  ...clockCommands,
  ...exportCommands,
  ...stateCommands,
  ...scenarioCommands,
  ...liveProjectCommands,
  ...planCommands,
  ...baselineCommands,
  ...tapeCommands,
  ...caCommands,
  mcp,
  completion(() => commands),
];
