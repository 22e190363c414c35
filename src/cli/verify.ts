import { writeFile } from "node:fs/promises";
import { counted } from "../kernel/counted.ts";
import type { Severity } from "../tape/differences/types.ts";
import { tapePlace } from "../tape/place.ts";
import { clean } from "./clean-text.ts";
import { command, type Shell } from "./command.ts";
import { Failure } from "./failure.ts";
import { createProgress } from "./progress.ts";
import type { Settings } from "./settings.ts";
import { onFile } from "./tape-trouble.ts";
import type { VerifyResult } from "./verify-run.ts";

const options = {
  tape: {
    kind: "text",
    describe: "The tape: tapes/NAME.tape.ndjson, or a path",
    flagOnly: true,
    place: 1,
    suggests: "tapes",
  },
  dialect: {
    kind: "text",
    describe: "Which side the emulator follows where the contract and the live service differ",
    choices: ["documented", "production"],
    flagOnly: true,
  },
  "fail-on": {
    kind: "text",
    describe: "What fails: break; additive and break; value, additive and break",
    choices: ["break", "additive", "value"],
    default: "break",
    flagOnly: true,
  },
  json: { kind: "switch", describe: "Print what came of it as one JSON line", flagOnly: true },
  junit: {
    kind: "file",
    describe: "Also write it there as JUnit XML, a case for each route",
    flagOnly: true,
  },
} as const;

/** Which severities fail a run. */
const failing: Readonly<Record<Severity, readonly Severity[]>> = {
  break: ["break"],
  additive: ["break", "additive"],
  value: ["break", "additive", "value"],
};

async function run({ values }: Settings<typeof options>, shell: Shell) {
  const file = tapePlace(values.tape, shell.cwd);
  const [{ runVerify, shownFile }, { countsText, verifyLines }] = await Promise.all([
    import("./verify-run.ts"),
    import("./verify-lines.ts"),
  ]);
  const progress = createProgress(process.stderr, shell.env);
  const onStep = (done: number, total: number) => progress.show(`verify: ${done} of ${total}`);
  const result = await onFile(file, () =>
    runVerify({ file, dialect: values.dialect, ignore: shell.config?.redaction?.ignore, onStep }),
  ).finally(() => progress.end());
  const fatal = new Set(failing[values["fail-on"]]);
  const fails = (it: { severity: Severity }) => fatal.has(it.severity);
  const failed = result.groups.filter(fails);
  const ok = failed.length === 0 && result.compared > 0;
  if (values.junit !== undefined) await writeJunit(values.junit, result, fails);
  warn(result, shell);
  const name = shownFile(file, shell.cwd);
  if (values.json) shell.out.say(JSON.stringify({ ok, tape: file, ...result }));
  else shell.out.say(...verifyLines(result, name, shell.outStyle));
  if (ok) return "ok" as const;
  const why = result.compared === 0 ? "there was nothing to compare" : countsText(failed);
  throw new Failure("failed", `${why} (${clean(name)})`);
}

async function writeJunit(
  file: string,
  { routes, groups }: VerifyResult,
  fails: (it: { severity: Severity }) => boolean,
): Promise<void> {
  const { verifyJunit } = await import("./verify-junit.ts");
  await onFile(file, () => writeFile(file, verifyJunit(routes, groups, fails)));
}

/** What of the tape could not be used. */
function warn({ damaged, problems, leftOut }: VerifyResult, shell: Shell): void {
  const [problem] = problems;
  if (problem)
    shell.err.say(
      clean(
        `phx-sim: ${counted(damaged, "line")} of the tape passed over; line ${problem.line}: ${problem.detail}`,
        600,
      ),
    );
  const [first] = leftOut;
  if (first !== undefined)
    shell.err.say(
      clean(`phx-sim: the emulator begins without ${leftOut.length} of the tape's documents; ${first}`, 600),
    );
}

/** Plays a tape's requests at a fresh emulator and tells where its answers differ. */
export const verify = command({
  name: "verify",
  describe: "Send a tape's requests to a fresh emulator and tell where its answers differ",
  options,
  examples: [
    ["phx-sim verify checkout", "exit code 1 when a status, a key or a type that was recorded is missing"],
    ["phx-sim verify checkout --dialect production", "hold it against the live service's dialect"],
    ["phx-sim verify golden --fail-on additive --junit verify.xml", "in CI, stricter"],
  ],
  confirms: true,
  run,
});
