import { clean } from "../../cli/clean-text.ts";
import { command, type Shell } from "../../cli/command.ts";
import { Failure } from "../../cli/failure.ts";
import { createProgress } from "../../cli/progress.ts";
import type { Settings } from "../../cli/settings.ts";
import { tapePlace } from "../format/place.ts";
import { onFile } from "./tape-trouble.ts";

/** The options of every command that compares answers. */
export const reportOptions = {
  "fail-on": {
    kind: "text",
    describe: "Smallest difference that fails (default: break; additive for --against and tape diff)",
    choices: ["break", "additive", "value"],
    flagOnly: true,
  },
  json: { kind: "switch", describe: "Print the result as one JSON line", flagOnly: true },
  junit: {
    kind: "file",
    describe: "File to write the result to as JUnit XML, a case for each route",
    flagOnly: true,
  },
} as const;

/** Options for sending to a service. */
const serviceOptions = {
  "allow-writes": {
    kind: "switch",
    describe: "With --against: also send requests that change something, such as events",
    flagOnly: true,
  },
  "allow-host": {
    kind: "text",
    describe: "With --allow-writes: a host other than this machine that may be changed",
    flagOnly: true,
    many: true,
  },
  "i-know-this-is-production": {
    kind: "switch",
    describe: "With --allow-writes: also required for hosts of the real service",
    flagOnly: true,
  },
  token: {
    kind: "text",
    describe: "With --against: project key, for the places where the tape has none",
    flagOnly: true,
  },
  "personal-key": {
    kind: "text",
    describe: "With --against: personal API key, likewise; better in PHX_SIM_PERSONAL_KEY",
    flagOnly: true,
  },
  fill: {
    kind: "text",
    describe:
      "With --against: for a secret that is not given, skip the request (fail), or send a placeholder (redacted)",
    choices: ["fail", "redacted"],
    default: "fail",
    flagOnly: true,
  },
} as const;

const options = {
  tape: {
    kind: "text",
    describe: "The tape: tapes/NAME.tape.ndjson, or a path",
    flagOnly: true,
    place: 1,
    suggests: "tapes",
  },
  against: {
    kind: "text",
    describe: "Compare with this service instead of the emulator: us, eu, or an address",
    flagOnly: true,
  },
  dialect: {
    kind: "text",
    describe: "Which the emulator follows where the documentation and the live service differ",
    choices: ["documented", "production"],
    flagOnly: true,
  },
  ...serviceOptions,
  ...reportOptions,
} as const;

/** The options of `verify`. */
export type VerifySettings = Settings<typeof options>;

/** @throws Failure usage when an option does not go with what is compared */
function checkOptions({ values, origins }: VerifySettings): void {
  const isGiven = (name: keyof typeof options) => origins[name].source !== "default";
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
  const file = tapePlace(values.tape, shell.cwd);
  const progress = createProgress(process.stderr, shell.env);
  const onStep = (done: number, total: number) => progress.show(`verify: ${done} of ${total}`);
  const { reportComparison, shownFile } = await import("./verify-report.ts");
  const report = {
    command: "verify",
    name: shownFile(file, shell.cwd),
    json: values.json,
    junit: values.junit,
  };
  if (values.against !== undefined) {
    const { runAgainst } = await import("./verify-run.ts");
    const service = values.against;
    const { failure, ...result } = await onFile(file, () =>
      runAgainst({ file, service, values, onStep }, shell),
    ).finally(() => progress.end());
    const ended = reportComparison(
      result,
      {
        ...report,
        with: result.against,
        sides: ["recorded", "now"],
        failOn: values["fail-on"] ?? "additive",
        notes: notSentLines(result.writes),
        named: { tape: file },
      },
      shell,
    );
    // Missing answers matter more than differences of the others.
    if (failure !== undefined) await ended.catch(() => {});
    if (failure !== undefined) throw failure;
    return ended;
  }
  const { runVerify } = await import("./verify-run.ts");
  const result = await onFile(file, () =>
    runVerify({ file, dialect: values.dialect, ignore: shell.config?.redaction?.ignore, onStep }),
  ).finally(() => progress.end());
  const [first] = result.leftOut;
  if (first !== undefined)
    shell.err.say(
      clean(
        `phx-sim: the emulator begins without ${result.leftOut.length} of the tape's documents; ${first}`,
        600,
      ),
    );
  return reportComparison(
    result,
    {
      ...report,
      with: `the ${result.dialect} dialect`,
      sides: ["recorded", "here"],
      failOn: values["fail-on"] ?? "break",
      named: { tape: file },
    },
    shell,
  );
}

/** Replays a tape's requests at a fresh emulator, or at a service, and reports where the answers differ. */
export const verify = command({
  name: "verify",
  describe: "Compare a tape's answers with those of a fresh emulator, or of a service",
  options,
  examples: [
    ["phx-sim verify checkout", "exit code 1 when a status, a key or a type that was recorded is missing"],
    ["phx-sim verify checkout --dialect production", "compare with the live service's dialect"],
    ["phx-sim verify golden --fail-on additive --junit verify.xml", "in CI, stricter"],
    ["phx-sim verify golden --against us --token phc_…", "has the service changed? only reads are sent"],
  ],
  confirms: true,
  run,
});
