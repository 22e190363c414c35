import { counted } from "../kernel/counted.ts";
import { tapePlace } from "../tape/place.ts";
import type { ScanTally } from "../tape/redact/scan-tape.ts";
import { clean } from "./clean-text.ts";
import type { Shell } from "./command.ts";
import { jsonLine } from "./tape-lines.ts";
import { onFile } from "./tape-trouble.ts";

export interface ScanRequest {
  tapes: readonly string[];
  json: boolean;
}

/** What was looked for, where, and what came of it. */
interface ScanReport extends ScanTally {
  tapes: number;
  rule_set: { name: string; version: string; license: string };
  /** How many kinds of secrets are known by their looks. */
  patterns: number;
  /** Rules of the project, of its config file and of the tapes. */
  own_rules: number;
  findings: number;
  /** Findings by kind. */
  kinds: Record<string, number>;
}

/** Looks for secrets on tapes and reports what was checked; fails where there is anything that looks like one. */
export async function scanTapes({ tapes, json }: ScanRequest, shell: Shell): Promise<"ok" | 1> {
  const { readHeader } = await import("../tape/header.ts");
  const { newTally, scanTape } = await import("../tape/redact/scan-tape.ts");
  const { bothRules, tapeRules } = await import("../tape/redact/rules.ts");
  const { shapeCount } = await import("../tape/redact/shapes.ts");
  const { ruleSet } = await import("../tape/redact/token-formats.ts");
  const configured = tapeRules(shell.config?.redaction);
  const places = tapes.map((name) => tapePlace(name, shell.cwd));
  const tally = newTally();
  const kinds = new Map<string, number>();
  let all = configured;
  for (const tape of places) {
    await onFile(tape, async () => {
      const rules = bothRules(configured, (await readHeader(tape)).rules);
      all = bothRules(all, rules);
      for await (const finding of scanTape(tape, { rules, tally })) {
        const { file, line, path, kind, detail } = finding;
        kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
        shell.out.say(json ? jsonLine(finding) : clean(`${file}:${line}: ${path}: ${kind}: ${detail}`, 500));
      }
    });
  }
  const { name, version, license } = ruleSet;
  const report: ScanReport = {
    tapes: places.length,
    rule_set: { name, version, license },
    patterns: shapeCount,
    own_rules: all?.rules?.length ?? 0,
    ...tally,
    findings: [...kinds.values()].reduce((sum, count) => sum + count, 0),
    kinds: Object.fromEntries([...kinds].sort(([a], [b]) => a.localeCompare(b, "en"))),
  };
  if (json) shell.out.say(jsonLine({ report }));
  else shell.err.say(...reportLines(report, places));
  return report.findings > 0 ? 1 : "ok";
}

function reportLines(report: ScanReport, tapes: readonly string[]): string[] {
  const { rule_set: set, patterns, own_rules: own, exchanges, places, redacted, findings } = report;
  const where = tapes.length === 1 ? clean(tapes[0] ?? "") : counted(tapes.length, "tape");
  const extras = [
    ...(report.side_files > 0 ? [counted(report.side_files, "side file")] : []),
    ...(report.damaged > 0 ? [counted(report.damaged, "damaged line")] : []),
  ].map((it) => `, ${it}`);
  const looked = `phx-sim: checked ${counted(exchanges, "exchange")} with ${counted(places, "place")}${extras.join("")} in ${where}; ${redacted} redacted`;
  const rules = `phx-sim: rules: ${set.name} ${set.version} (${set.license}) and built-in ones, ${patterns} patterns, names of fields, ${counted(own, "rule")} of your own`;
  if (findings === 0) return [looked, rules, `phx-sim: nothing that looks like a secret in ${where}`];
  const what = findings === 1 ? "1 thing that looks" : `${findings} things that look`;
  const kinds = Object.entries(report.kinds).map(([kind, count]) => `${count} ${kind}`);
  return [
    looked,
    rules,
    `phx-sim: ${what} like a secret in ${where} (${clean(kinds.join(", "), 300)}); do not share it: record again, or remove it with phx-sim tape prune`,
  ];
}
