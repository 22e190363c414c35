import { counted } from "../../../kernel/base/text.ts";
import { clean } from "../../../kernel/command/clean-text.ts";
import type { Shell } from "../../../kernel/command/command.ts";
import { Failure } from "../../../kernel/command/failure.ts";
import { readHeader } from "../format/header.ts";
import { tapePlace } from "../format/place.ts";
import { readTape } from "../format/read.ts";
import { learnNoise } from "../match/pairs.ts";
import { reasonToLeaveOut } from "../match/tape-index.ts";
import { bothRules, tapeRules } from "../redact/rules.ts";
import { newTally, type ScanTally, scanTape } from "../redact/scan-tape.ts";
import { shapeCount } from "../redact/shapes.ts";
import { ruleSet } from "../redact/token-formats.ts";
import type { TapeProblem } from "../shapes.ts";
import { jsonLine, tapeProblemLine } from "./tape-show.ts";
import { onFile } from "./tape-trouble.ts";
import { problemCount } from "./verify-report.ts";

interface CheckRequest {
  tapes: readonly string[];
  twin: string | undefined;
  json: boolean;
}

interface UnusableExchange {
  file: string;
  i: number;
  why: string;
}

interface CheckReport extends ScanTally {
  tapes: number;
  damaged: number;
  rule_set: { name: string; version: string; license: string };
  patterns: number;
  own_rules: number;
  findings: number;
  kinds: Record<string, number>;
  problems: TapeProblem[];
  unusable: UnusableExchange[];
  /** Paths that differ between the two recordings without being ids; null without a twin. */
  volatile: string[] | null;
}

/** Searches tapes for secrets, damage, unusable exchanges and, with a twin, volatile values. @throws Failure */
export async function checkTapes({ tapes, twin, json }: CheckRequest, shell: Shell): Promise<"ok" | 1> {
  const places = tapes.map((name) => tapePlace(name, shell.cwd));
  const [first = "", ...others] = places;
  if (twin !== undefined && others.length > 0)
    throw new Failure("usage", "--twin compares one tape with another: give only one other tape");
  const configured = tapeRules(shell.config?.redaction);
  const tally = newTally();
  const kinds = new Map<string, number>();
  const unusable: UnusableExchange[] = [];
  const { found, add } = problemCount<TapeProblem>();
  let all = configured;
  for (const file of places) {
    await onFile(file, async () => {
      const rules = bothRules(configured, (await readHeader(file)).rules);
      all = bothRules(all, rules);
      for await (const finding of scanTape(file, { rules, tally })) {
        const { line, path, kind, detail } = finding;
        kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
        const text = `${finding.file}:${line}: ${path}: ${kind}: ${detail}`;
        shell.out.say(json ? jsonLine(finding) : clean(text, 500));
      }
      for await (const exchange of readTape(file, { bodies: "whole", onProblem: add })) {
        const why = reasonToLeaveOut(exchange);
        if (why !== undefined) unusable.push({ file, i: exchange.i, why });
      }
    });
  }
  const { name, version, license } = ruleSet;
  const report: CheckReport = {
    tapes: places.length,
    rule_set: { name, version, license },
    patterns: shapeCount,
    own_rules: all?.rules?.length ?? 0,
    ...tally,
    ...found,
    findings: [...kinds.values()].reduce((sum, count) => sum + count, 0),
    kinds: Object.fromEntries([...kinds].sort(([a], [b]) => a.localeCompare(b, "en"))),
    unusable,
    volatile: twin === undefined ? null : await volatilePaths(first, tapePlace(twin, shell.cwd)),
  };
  if (json) shell.out.say(jsonLine({ report }));
  else shell.err.say(...reportLines(report, places));
  return report.findings > 0 || report.damaged > 0 ? 1 : "ok";
}

async function volatilePaths(tape: string, twin: string): Promise<string[]> {
  const { noise } = await onFile(twin, () => readHeader(twin));
  const found = await onFile(tape, () => learnNoise(tape, twin));
  return found.filter((path) => !noise.includes(path));
}

const mostListed = 20;

function listed(title: string, lines: readonly string[], all = lines.length): string[] {
  if (lines.length === 0) return [];
  const more = all - mostListed;
  return [
    `phx-sim: ${title}:`,
    ...lines.slice(0, mostListed).map((line) => `  ${clean(line, 300)}`),
    ...(more > 0 ? [`  … and ${more} more`] : []),
  ];
}

function volatileLines({ volatile }: CheckReport): string[] {
  if (volatile === null) return [];
  if (volatile.length === 0) return ["phx-sim: the two recordings differ in nothing that is compared"];
  const title = `${counted(volatile.length, "path")} differ${volatile.length === 1 ? "s" : ""} between the recordings; list those without meaning in "redaction": { "ignore": […] } of the config file`;
  return listed(title, volatile);
}

function reportLines(report: CheckReport, tapes: readonly string[]): string[] {
  const { rule_set: set, patterns, own_rules: own, exchanges, places, redacted, findings } = report;
  const where = tapes.length === 1 ? clean(tapes[0] ?? "") : counted(tapes.length, "tape");
  const extras = [...(report.side_files > 0 ? [counted(report.side_files, "side file")] : [])].map((it) => `, ${it}`);
  const unusable = report.unusable.map(({ file, i, why }) => `${file} #${i}: ${why}`);
  const kinds = Object.entries(report.kinds).map(([kind, count]) => `${count} ${kind}`);
  return [
    `phx-sim: checked ${counted(exchanges, "exchange")} with ${counted(places, "place")}${extras.join("")} in ${where}; ${redacted} redacted`,
    `phx-sim: rules: ${set.name} ${set.version} (${set.license}) and built-in ones, ${patterns} patterns, names of fields, ${counted(own, "rule")} of your own`,
    ...listed(
      `${counted(report.damaged, "damaged place")}: a replay does not have what was there`,
      report.problems.map(tapeProblemLine),
      report.damaged,
    ),
    ...listed(`${counted(unusable.length, "exchange")} never replayed`, unusable),
    ...volatileLines(report),
    findings === 0
      ? `phx-sim: nothing that looks like a secret in ${where}`
      : `phx-sim: ${findings === 1 ? "1 thing that looks" : `${findings} things that look`} like a secret in ${where} (${clean(kinds.join(", "), 300)}); do not share it: record again, or delete the line from the tape`,
  ];
}
