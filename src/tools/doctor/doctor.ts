import { counted, listed } from "../../kernel/base/text.ts";
import { callSim } from "../../kernel/command/ask-sim.ts";
import { clean } from "../../kernel/command/clean-text.ts";
import { type CommandEnd, command, type Shell } from "../../kernel/command/command.ts";
import { Failure } from "../../kernel/command/failure.ts";
import { signOf } from "../../kernel/command/finding.ts";
import { findRunning, type Running, whereOptions } from "../../kernel/command/running-sim.ts";
import type { Settings } from "../../kernel/command/settings.ts";
import type { Style } from "../../kernel/command/style.ts";
import { print } from "../../kernel/command/thin-command.ts";
import { frameworkTitles, type ProxyFramework } from "../../lab/proxy-check/frameworks.ts";
import type { ProxyFinding, ProxyReport } from "../../lab/proxy-check/shapes.ts";
import { diagnose } from "./doctor-checks.ts";
import {
  type DoctorFacts,
  type DoctorFinding,
  readApp,
  readPreflight,
  readSim,
  readVariables,
} from "./doctor-facts.ts";

const options = {
  origin: { kind: "url", describe: "Check that pages of this origin may send to the sim, e.g. http://localhost:3000" },
  through: {
    kind: "word",
    describe:
      "Send what SDKs send through this reverse proxy, whose upstream is the sim, and compare what arrives: http://localhost:3000/ingest",
  },
  timeout: {
    kind: "duration",
    parameter: "timeout_ms",
    describe: "With --through: longest time for each answer (default: 5s)",
  },
  ...whereOptions,
  data: { ...whereOptions.data, describe: "The sim's data folder; if given here, it is checked for damage" },
  json: { kind: "switch", describe: "Print the findings as JSON" },
} as const;

type DoctorSettings = Settings<typeof options>;

export const doctor = command({
  name: "doctor",
  describe: "Find out why events do not arrive: variables, keys, host, CORS, what was refused",
  options,
  examples: [
    ["phx-sim doctor", "in the app's folder, with the app's variables"],
    ["phx-sim doctor --origin http://localhost:3000", "also whether its pages may send"],
    ["phx-sim doctor --through http://localhost:3000/ingest", "what the app's reverse proxy loses or changes"],
    ["phx-sim doctor --data .phx-sim", "also whether files of the data folder are damaged"],
  ],
  confirms: true,
  run,
});

async function run(settings: DoctorSettings, shell: Shell): Promise<CommandEnd> {
  if (settings.values.through !== undefined) return checkThrough(settings, shell);
  const found = await findings(settings, shell);
  const passed = found.every(({ level }) => level !== "problem");
  const lines = found.map((finding) => findingLine(finding, shell.outStyle));
  print(shell, settings.values.json, { passed, findings: found }, lines);
  return passed ? "ok" : 1;
}

/** The findings in the app and the sim, and in a data folder that was given; only in that folder if no sim runs. */
async function findings(settings: DoctorSettings, shell: Shell) {
  if (settings.origins.data.source !== "flag") return diagnose(await gather(settings, shell));
  const damage = await checkedData(settings.values.data);
  const facts = await gather(settings, shell);
  return "missing" in facts.sim ? damage : [...diagnose(facts), ...damage];
}

async function checkedData(folder: string): Promise<(DoctorFinding & { check: string })[]> {
  const { checkData } = await import("../../index.ts");
  const found = await checkData(folder);
  if (found.length === 0) return [{ check: "data", level: "ok", text: `${folder} is intact` }];
  return found.map(({ file, line, detail }) => ({
    check: "data",
    level: "problem",
    text: `${file}${line === null ? "" : `:${line}`}: ${detail}`,
  }));
}

async function gather(settings: DoctorSettings, shell: Shell): Promise<DoctorFacts> {
  const variables = readVariables(shell.env, shell.cwd);
  const app = readApp(shell.cwd);
  const running = await findOrExplain(settings, shell);
  if (running instanceof Failure) return { sim: { missing: running.message }, variables, ...app, preflight: null };
  const { origin } = settings.values;
  const sim = await readSim(running, shell.cwd);
  const preflight = origin === undefined ? null : await readPreflight(running.url, origin);
  return { sim, variables, ...app, preflight };
}

async function findOrExplain(settings: DoctorSettings, shell: Shell): Promise<Running | Failure> {
  try {
    return await findRunning(settings, shell);
  } catch (error) {
    if (error instanceof Failure && error.kind === "no_sim") return error;
    throw error;
  }
}

const findingLine = ({ level, text, fix }: DoctorFinding, style: Style): string =>
  `${signOf(level, style)} ${clean(text, 600)}${fix === undefined ? "" : ` → ${clean(fix, 300)}`}`;

/** Longest time for all requests: each has its own limit, and the check ends after two without an answer. */
const wholeMs = 180_000;

/** Frameworks of package.json whose proxies have fixes of their own; Vite's comes with others. */
const named: Readonly<Record<string, ProxyFramework>> = {
  next: "next",
  nuxt: "nuxt",
  sveltekit: "sveltekit",
  vite: "vite",
  vue: "vite",
};

/** `doctor --through`: checks a reverse proxy with the running sim. */
async function checkThrough(settings: DoctorSettings, shell: Shell): Promise<CommandEnd> {
  const { through, origin, timeout, json } = settings.values;
  const running = await findRunning(settings, shell);
  const { framework } = readApp(shell.cwd);
  const body = { through, origin, framework: framework === null ? undefined : named[framework], timeout_ms: timeout };
  const report = await callSim<ProxyReport>(running, "POST", "proxies/check", body, wholeMs);
  print(shell, json, report, reportLines(report, shell.outStyle));
  return report.passed ? "ok" : 1;
}

function reportLines(report: ProxyReport, style: Style): string[] {
  const { url, sim, frameworks, requests, not_sent: left, findings, passed } = report;
  const levels = new Map(findings.map(({ code, level }) => [code, level]));
  const [framework] = frameworks;
  const made = framework === undefined ? "" : ` (${frameworkTitles[framework]})`;
  return [
    `${clean(url)}${made} → ${clean(sim)}`,
    ...requests.map((it) => requestLine(it, levels, style)),
    ...(left.length === 0 ? [] : [`- not sent, as nothing arrived: ${left.join(", ")}`]),
    ...findings.map((it) => proxyLine(it, style)),
    passed
      ? `${signOf("ok", style)} ${counted(requests.length, "request")} went through; nothing of them is kept`
      : `${signOf("problem", style)} ${counted(findings.filter(({ level }) => level === "problem").length, "problem")}: docs/proxies.md`,
  ];
}

function requestLine(
  { name, request, status, arrived, codes }: ProxyReport["requests"][number],
  levels: ReadonlyMap<string, ProxyFinding["level"]>,
  style: Style,
): string {
  const problems = codes.filter((it) => levels.get(it) === "problem");
  const mark = signOf(problems.length > 0 ? "problem" : "ok", style);
  const [what = ""] = request.split("?");
  const end = problems.length > 0 ? problems.join(", ") : arrived ? "as sent" : "answered by the proxy itself";
  return `${mark} ${name.padEnd(22)} ${what.replace(/phc_probe_\d+/, "TOKEN").padEnd(42)} ${status ?? "-"}  ${end}`;
}

const proxyLine = ({ code, level, what, requests, detail, cause, fix }: ProxyFinding, style: Style): string =>
  `${signOf(level, style)} ${code}: ${what} (${listed(requests)}: ${clean(detail, 400)}); likely: ${cause} → ${clean(fix, 600)}`;
