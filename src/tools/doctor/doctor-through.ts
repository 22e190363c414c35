import { counted, listed } from "../../kernel/base/text.ts";
import { callSim } from "../../kernel/command/ask-sim.ts";
import { clean } from "../../kernel/command/clean-text.ts";
import type { CommandEnd, Shell } from "../../kernel/command/command.ts";
import { findRunning, type whereOptions } from "../../kernel/command/running-sim.ts";
import type { Settings } from "../../kernel/command/settings.ts";
import type { Style } from "../../kernel/command/style.ts";
import { print } from "../../kernel/command/thin-command.ts";
import { frameworkTitles, type ProxyFramework } from "../../lab/proxy-check/frameworks.ts";
import type { ProxyFinding, ProxyReport } from "../../lab/proxy-check/shapes.ts";
import { readApp } from "./doctor-facts.ts";

/** Longest time for all requests: each has its own limit, and the check ends after two without an answer. */
const wholeMs = 180_000;

interface Through {
  readonly through: string;
  readonly origin: string | undefined;
  readonly timeout: number | undefined;
  readonly json: boolean;
}

/** Frameworks of package.json whose proxies have fixes of their own; Vite's comes with others. */
const named: Readonly<Record<string, ProxyFramework>> = {
  next: "next",
  nuxt: "nuxt",
  sveltekit: "sveltekit",
  vite: "vite",
  vue: "vite",
};

/** `doctor --through`: checks a reverse proxy with the running sim. */
export async function checkThrough(
  { through, origin, timeout, json }: Through,
  settings: Settings<typeof whereOptions>,
  shell: Shell,
): Promise<CommandEnd> {
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
    ...findings.flatMap((it) => findingLines(it, style)),
    passed
      ? `${style.good("✓")} ${counted(requests.length, "request")} went through; nothing of them is kept`
      : `${style.bad("✗")} ${counted(findings.filter(({ level }) => level === "problem").length, "problem")}: docs/proxies.md`,
  ];
}

function requestLine(
  { name, request, status, arrived, codes }: ProxyReport["requests"][number],
  levels: ReadonlyMap<string, ProxyFinding["level"]>,
  style: Style,
): string {
  const problems = codes.filter((it) => levels.get(it) === "problem");
  const mark = problems.length > 0 ? style.bad("✗") : style.good("✓");
  const [what = ""] = request.split("?");
  const end = problems.length > 0 ? problems.join(", ") : arrived ? "as sent" : "answered by the proxy itself";
  return `${mark} ${name.padEnd(22)} ${what.replace(/phc_probe_\d+/, "TOKEN").padEnd(42)} ${status ?? "-"}  ${end}`;
}

const findingLines = ({ code, level, what, requests, detail, cause, fix }: ProxyFinding, style: Style): string[] => [
  `${level === "problem" ? style.bad("✗") : style.bold("!")} ${code}: ${what} (${listed(requests)}: ${clean(detail, 400)}); likely: ${cause} → ${clean(fix, 600)}`,
];
