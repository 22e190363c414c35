import { counted, times } from "../../kernel/base/text.ts";
import { clean } from "../../kernel/command/clean-text.ts";
import { type CommandEnd, command, type Shell } from "../../kernel/command/command.ts";
import { Failure } from "../../kernel/command/failure.ts";
import { emphasized } from "../../kernel/command/finding.ts";
import type { Settings } from "../../kernel/command/settings.ts";
import { untilSignal } from "../../kernel/command/signals.ts";
import type { Style } from "../../kernel/command/style.ts";
import { print } from "../../kernel/command/thin-command.ts";
import { StartError } from "../../sim/types.ts";
import { readApp } from "../doctor/doctor-facts.ts";
import type { CheckOptions } from "./check.ts";
import type { CheckFinding, CheckReport } from "./shapes.ts";

const options = {
  urls: {
    describe:
      "Addresses of the running app, or of one that --start starts; without any, the dev or start script of package.json is started",
    place: 1,
    optional: true,
    many: true,
  },
  start: { describe: "Command line that starts the app, e.g. 'npm run dev'; a script that ends is checked, too" },
  click: { describe: "CSS selector to click on the first page, e.g. of a consent banner or a login", many: true },
  pages: { kind: "count", describe: "Most pages to open; links are followed", default: "5" },
  scenario: { kind: "scenario", describe: "Scenario of the sim, for the app's flags: a file, or a shipped one's name" },
  timeout: { kind: "duration", describe: "Longest wait for the app to answer", default: "60s" },
  "fail-on": { describe: "What ends with exit code 1", choices: ["error", "warning"], default: "error" },
  json: { kind: "switch", describe: "Print the report as JSON" },
} as const;

type CheckSettings = Settings<typeof options>;

/** What another program lets it examine. */
export interface CheckOrder {
  readonly urls: readonly string[];
  readonly start: string | undefined;
  readonly clicks: readonly string[];
  readonly pages: number | undefined;
}

export const check = command({
  name: "check",
  describe: "Open an app's pages in Chromium and report what is wrong with its instrumentation",
  options,
  examples: [
    ["phx-sim check", "starts the dev script of package.json"],
    ["phx-sim check http://localhost:3000 --click '#accept'", "of an app that is running"],
    ["phx-sim check --start 'node report.js' --json", "a script that ends, for machines"],
  ],
  run,
});

/** `localhost:3000/shop` is an address, too. */
function addressOf(text: string): string {
  const full = /^[a-z]+:\/\//i.test(text) ? text : `http://${text}`;
  if (URL.canParse(full) && /^https?:$/.test(new URL(full).protocol)) return new URL(full).href;
  throw new Failure("usage", `URLS must be http addresses such as http://localhost:3000, not "${clean(text)}"`);
}

/** What is started: --start, else a script of package.json if no address is given. */
async function startOf(
  values: Pick<CheckSettings["values"], "start" | "urls">,
  shell: Shell,
): Promise<CheckOptions["start"]> {
  const { findScript, startEnvironment } = await import("./app/start-app.ts");
  const at = (command: string, cwd: string): CheckOptions["start"] => ({
    command,
    cwd,
    env: (sim) => startEnvironment(sim, cwd, shell.env),
  });
  if (values.start !== undefined) return at(values.start, shell.cwd);
  if (values.urls.length > 0) return undefined;
  const found = findScript(shell.cwd);
  if (found === undefined)
    throw new Failure(
      "usage",
      "there is no dev, start, serve or preview script in package.json: name the address of the running app, or a command with --start",
    );
  shell.err.say(`phx-sim: no address is given; starting "${found.command}" in ${clean(found.folder)}`);
  return at(found.command, found.folder);
}

async function run(settings: CheckSettings, shell: Shell): Promise<CommandEnd> {
  const { values } = settings;
  if (values.pages === 0) throw new Failure("usage", "--pages must be 1 or more, not 0");
  const urls = values.urls.map(addressOf);
  const start = await startOf(values, shell);
  const { runCheck } = await import("./check.ts");
  const ending = new AbortController();
  const signal = untilSignal(process, shell.quit);
  void signal.then(() => ending.abort());
  try {
    const report = await runCheck({
      urls,
      ...(start && { start }),
      clicks: values.click,
      pages: values.pages,
      ...(values.scenario !== undefined && { scenario: values.scenario }),
      timeoutMs: values.timeout,
      failOn: values["fail-on"],
      libraries: readApp(start?.cwd ?? shell.cwd).libraries,
      env: shell.env,
      signal: ending.signal,
      onProgress: (text) => shell.err.say(`phx-sim: ${clean(text)}`),
    });
    print(shell, values.json, report, checkLines(report, shell.outStyle));
    return report.verdict === "passed" ? "ok" : 1;
  } catch (error) {
    if (ending.signal.aborted) return signal;
    throw await failureOf(error, shell);
  }
}

/** The check that another program orders, for example a coding agent. @throws Failure */
export async function orderedCheck(
  { urls: given, start: command, clicks, pages }: CheckOrder,
  shell: Shell,
  watch: Pick<CheckOptions, "signal" | "onProgress">,
): Promise<CheckReport> {
  const urls = given.map(addressOf);
  const start = await startOf({ urls, start: command }, shell);
  const { runCheck } = await import("./check.ts");
  const { libraries } = readApp(start?.cwd ?? shell.cwd);
  const options = { urls, clicks, libraries, env: shell.env, ...watch };
  try {
    return await runCheck({ ...options, ...(start && { start }), ...(pages !== undefined && { pages }) });
  } catch (error) {
    throw await failureOf(error, shell);
  }
}

/** What the user can fix; a bug stays what it is. */
async function failureOf(error: unknown, shell: Shell): Promise<unknown> {
  const { AppError } = await import("./app/start-app.ts");
  const { NoBrowserError } = await import("./browser/chromium.ts");
  if (error instanceof AppError) {
    shell.err.say(...error.output.slice(-shownLines).map((line) => `  ${clean(line)}`));
    return new Failure("start", clean(error.message, 1_000), error);
  }
  if (error instanceof NoBrowserError) return new Failure("start", clean(error.message, 2_000), error);
  if (error instanceof StartError) return new Failure("start", clean(`${error.message}; ${error.hint}`, 2_000), error);
  return error;
}

/** Lines of a failed command that are shown. */
const shownLines = 10;

const evidenceLine = ({ text, url, request, event }: CheckFinding["evidence"][number]): string => {
  const places = [
    url === undefined ? "" : clean(url, 200),
    request === undefined ? "" : `request ${request}`,
    event === undefined ? "" : `event ${event}`,
  ].filter(Boolean);
  const [first = "", ...more] = text.split("\n").map((it) => `        ${clean(it, 300)}`);
  return [`${first}${places.length === 0 ? "" : ` (${places.join(", ")})`}`, ...more].join("\n");
};

function findingLines(finding: CheckFinding, style: Style): string[] {
  const { severity, code, sentence, fix, count, evidence } = finding;
  const more = count - evidence.length;
  return [
    `${emphasized(severity, severity.padEnd(7), style)} ${code}${times(count)}: ${clean(sentence)}`,
    ...evidence.map(evidenceLine),
    ...(more > 0 ? [`        … and ${more} more`] : []),
    `        → ${clean(fix)}`,
  ];
}

/** `3 pages, 9 events of posthog-js 1.449.2`. */
function seenText({ pages, sdks, counts }: CheckReport): string {
  const senders = sdks.map(({ name, version }) => clean(version === null ? name : `${name} ${version}`, 80));
  return `${counted(pages.length, "page")}, ${counted(counts.events, "event")}${senders.length === 0 ? "" : ` of ${senders.join(", ")}`}`;
}

const countsText = ({ counts: { errors, warnings } }: CheckReport): string =>
  [errors > 0 ? counted(errors, "error") : "", warnings > 0 ? counted(warnings, "warning") : ""]
    .filter(Boolean)
    .join(", ") || "no mistakes found";

function checkLines(report: CheckReport, style: Style): string[] {
  const { findings, checked, unchecked, verdict } = report;
  const mark = verdict === "passed" ? style.good("passed") : style.bad("failed");
  return [
    ...findings.flatMap((it) => findingLines(it, style)),
    ...(findings.length > 0 ? [""] : []),
    `checked: ${checked.map(({ area, result }) => (result === "ok" ? area : `${area} (${result})`)).join(", ")}`,
    ...unchecked.flatMap(({ area, reason, how }) => [
      `not checked: ${area}: ${clean(reason, 300)}`,
      `        → ${clean(how)}`,
    ]),
    `${mark}: ${countsText(report)} (${seenText(report)})`,
  ];
}
