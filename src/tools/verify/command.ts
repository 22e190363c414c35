import { shortened } from "../../kernel/base/problem.ts";
import { clean } from "../../kernel/command/clean-text.ts";
import { command, type Shell } from "../../kernel/command/command.ts";
import { Failure } from "../../kernel/command/failure.ts";
import { createProgress } from "../../kernel/command/progress.ts";
import { onFile } from "../../lab/tapes/commands/tape-trouble.ts";
import { tapePlace } from "../../lab/tapes/format/place.ts";
import { serviceOptions, type VerifySettings, verifyOptions } from "./options.ts";

/** @throws Failure usage when an option does not go with what is compared */
function checkOptions({ values, origins }: VerifySettings): void {
  const isGiven = (name: keyof typeof verifyOptions) => origins[name].source !== "default";
  if (values.against !== undefined && isGiven("dialect"))
    throw new Failure("usage", "--dialect is the emulator's: it does not go with --against");
  const names = Object.keys(serviceOptions) as (keyof typeof serviceOptions)[];
  const idle = values.against === undefined ? names.find(isGiven) : undefined;
  if (idle !== undefined) throw new Failure("usage", `--${idle} needs --against, e.g. --against us`);
}

/** `not sent: 2 capture, 1 POST /api/projects/:id/dashboards`. */
function notSentLines(writes: Readonly<Record<string, number>>): string[] {
  const routes = Object.entries(writes).map(([route, count]) => `${count} ${clean(route, 120)}`);
  return routes.length > 0 ? [`not sent: ${routes.join(", ")}`] : [];
}

async function run(settings: VerifySettings, shell: Shell) {
  checkOptions(settings);
  const { values } = settings;
  const { against: service, "fail-on": failOn } = values;
  const file = tapePlace(values.tape, shell.cwd);
  const progress = createProgress(process.stderr, shell.env);
  const onStep = (done: number, total: number) => progress.show(`verify: ${done} of ${total}`);
  const { reportComparison } = await import("../../lab/tapes/commands/verify-report.ts");
  const { runAgainst, runVerify } = await import("./run.ts");
  const report = {
    command: "verify",
    name: shortened(file, shell.cwd),
    json: values.json,
    junit: values.junit,
    named: { tape: file },
  };
  if (service !== undefined) {
    const { failure, ...result } = await onFile(file, () =>
      runAgainst({ file, service, values, onStep }, shell),
    ).finally(() => progress.end());
    const ended = reportComparison(
      result,
      {
        ...report,
        with: result.against,
        sides: ["recorded", "now"],
        failOn: failOn ?? "additive",
        notes: notSentLines(result.writes),
      },
      shell,
    );
    // missing answers matter more than differences of the others
    if (failure !== undefined) await ended.catch(() => {});
    if (failure !== undefined) throw failure;
    return ended;
  }
  const result = await onFile(file, () =>
    runVerify({ file, dialect: values.dialect, ignore: shell.config?.redaction?.ignore, onStep }),
  ).finally(() => progress.end());
  const [first] = result.leftOut;
  if (first !== undefined) {
    const text = `phx-sim: the emulator begins without ${result.leftOut.length} of the tape's documents; ${first}`;
    shell.err.say(clean(text, 600));
  }
  return reportComparison(
    result,
    { ...report, with: `the ${result.dialect} dialect`, sides: ["recorded", "here"], failOn: failOn ?? "break" },
    shell,
  );
}

export const verify = command({
  name: "verify",
  describe: "Compare a tape's responses with those of a fresh emulator, or of a service",
  options: verifyOptions,
  examples: [
    ["phx-sim verify checkout", "exit code 1 when a status, a key or a type that was recorded is missing"],
    ["phx-sim verify checkout --dialect production", "compare with the live service's dialect"],
    ["phx-sim verify golden --fail-on additive --junit verify.xml", "in CI, stricter"],
    ["phx-sim verify golden --against us --token phc_…", "has the service changed? only reads are sent"],
  ],
  confirms: true,
  run,
});
