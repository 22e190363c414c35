import type { Command } from "../kernel/command/command.ts";
import { clockCommands } from "../lab/clock/command.ts";
import { faultCommands } from "../lab/faults/command.ts";
import { lint } from "../lab/lint/command.ts";
import { groupCommands, personCommands } from "../lab/person-history/command.ts";
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

function grouped(describe: string, commands: readonly Command[]): Command[] {
  const [name = ""] = commands[0]?.name.split(" ") ?? [];
  const group = { name, describe };
  return commands.map((it) => ({ ...it, group }));
}

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
  ...grouped("Captured events: list, follow, wait for, clear", eventCommands),
  ...grouped("Every request that arrived, with its response; rejected and unknown ones, too", requestCommands),
  query,
  lint,
  ...grouped("Session recordings: what they hold, and where they hold personal data", recordingCommands),
  coverage,
  ...grouped("Persons: their merged ids and properties", personCommands),
  ...grouped("Groups such as companies, and their properties", groupCommands),
  ...grouped("Feature flags: override them, and see why a user gets a value", flagCommands),
  ...grouped("Make requests fail on purpose", faultCommands),
  ...grouped("The sim's time: set, advance, freeze and resume it", clockCommands),
  ...grouped("Batch exports: past and coming runs", exportCommands),
  ...grouped("The state of the sim: reset it, take snapshots, export and import it", stateCommands),
  ...grouped("Scenario files: write a first one, check, list", scenarioCommands),
  ...liveProjectCommands,
  ...grouped("Tracking plan: the events an app should capture, with their properties", planCommands),
  ...grouped("Analytics baseline: what each test sends, as a file in git", baselineCommands),
  ...grouped("Recorded traffic: show, check, compare, convert from and to HAR", tapeCommands),
  ...grouped(
    "The forward proxy's certificate authority: on this machine only, for posthog.com and localhost",
    caCommands,
  ),
  mcp,
  completion,
];
