import { existsSync, statSync } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import { makeFolder } from "../../../kernel/base/make-folder.ts";
import { counted } from "../../../kernel/base/text.ts";
import { writeWhole } from "../../../kernel/base/whole-file.ts";
import { clean } from "../../../kernel/command/clean-text.ts";
import type { Shell } from "../../../kernel/command/command.ts";
import { Failure } from "../../../kernel/command/failure.ts";
import { createProgress, sizeText } from "../../../kernel/command/progress.ts";
import { tapePlace } from "../format/place.ts";
import type { RawExchange } from "../format/raw-exchange.ts";
import { Replacement } from "../format/replace.ts";
import type { TapeSummary, TapeWriter } from "../format/write.ts";
import type { HarProblem } from "../har/import.ts";
import type { TapeProblem } from "../shapes.ts";
import { jsonLine, tapeProblemLine } from "./tape-show.ts";
import { onFile } from "./tape-trouble.ts";
import { damageText } from "./verify-report.ts";

interface ImportRequest {
  file: string;
  tape: string | undefined;
  all: boolean;
  redact: "default" | "pii";
  json: boolean;
}

interface ProblemCount extends Omit<HarProblem, "entry"> {
  entries: number[];
  count: number;
}

const mostEntries = 5;

function problemLine({ entries, count, skipped, detail, hint }: ProblemCount): string {
  const which = `${count === 1 ? "entry" : "entries"} ${entries.join(", ")}${count > entries.length ? ", …" : ""}`;
  return `phx-sim: ${count} × ${skipped ? "left out: " : ""}${detail} (${which}); ${hint}`;
}

const nameOf = (file: string): string =>
  basename(file)
    .replace(/\.har$/i, "")
    .replace(/[^\w.-]+/g, "-")
    .replace(/^[.-]+/, "") || "imported";

/**
 * Written beside its place: a killed import leaves no tape that looks complete; a HAR without an exchange leaves none.
 * @throws TapeError; the system's error
 */
async function copy(
  exchanges: Iterable<RawExchange>,
  place: string,
  open: (file: string) => TapeWriter,
): Promise<TapeSummary | undefined> {
  let writer: TapeWriter | undefined;
  let replacement: Replacement | undefined;
  let isWhole = false;
  try {
    for (const exchange of exchanges) {
      if (!replacement) makeFolder(dirname(place));
      replacement ??= new Replacement(place);
      writer ??= open(replacement.draft);
      writer.append(exchange);
      if (writer.trouble?.isOver) break;
    }
    await writer?.close();
    isWhole = writer !== undefined && writer.trouble?.isOver !== true;
  } finally {
    await writer?.close();
    if (isWhole) replacement?.keep();
    else replacement?.drop();
  }
  return writer && { ...writer.summary, file: place };
}

/** Makes a redacted tape of a HAR file and reports what was odd about it. @throws Failure */
export async function importTape(request: ImportRequest, shell: Shell): Promise<"ok"> {
  const { file, all, redact, json } = request;
  const { importHar } = await import("../har/import.ts");
  const { TapeWriter } = await import("../format/write.ts");
  const { createRedactor } = await import("../redact/redactor.ts");
  const { tapeRules } = await import("../redact/rules.ts");
  const place = tapePlace(request.tape ?? nameOf(file), shell.cwd);
  if (existsSync(place)) throw new Failure("failed", `${clean(place)} already exists; give another name with --tape`);
  const problems = new Map<string, ProblemCount>();
  const onProblem = ({ entry, ...problem }: HarProblem) => {
    const found = problems.get(problem.code) ?? { ...problem, entries: [], count: 0 };
    found.count++;
    if (found.entries.length < mostEntries) found.entries.push(entry);
    problems.set(problem.code, found);
  };
  const progress = createProgress(process.stderr, shell.env);
  const own = shell.config?.redaction;
  const summary = await onFile(file, async () => {
    const { creator, entries, exchanges } = importHar(file, { all, onProblem });
    let done = 0;
    function* watched(): Generator<RawExchange> {
      for (const exchange of exchanges) {
        progress.show(`importing ${clean(basename(file), 60)}: ${++done} of ${entries} entries`);
        yield exchange;
      }
    }
    const redactor = createRedactor({ profile: redact, rules: tapeRules(own) });
    const header = { creator, noise: own?.ignore ?? [] };
    return copy(watched(), place, (draft) => new TapeWriter(draft, { redactor, header }));
  }).finally(() => progress.end());
  shell.err.say(...[...problems.values()].map((it) => clean(problemLine(it), 600)));
  if (!summary) {
    const elsewhere = problems.get("elsewhere")?.count ?? 0;
    const hint = elsewhere > 0 ? `; ${counted(elsewhere, "request")} to other services: --all imports them` : "";
    throw new Failure("failed", `${clean(file)} has nothing to import${hint}`);
  }
  const { exchanges, bytes, redactions, trouble } = summary;
  // Nothing is left of a tape that could not be written to its end.
  if (trouble?.isOver) throw new Failure("failed", clean(`${trouble.detail}; ${trouble.hint}`, 600));
  const report = { tape: summary.file, exchanges, bytes, redactions, problems: [...problems.values()] };
  const line = `${clean(summary.file)}: ${counted(exchanges, "exchange")}, ${sizeText(bytes)}, ${counted(redactions, "secret")} redacted`;
  shell.out.say(json ? jsonLine(report) : line);
  if (!trouble) return "ok";
  throw new Failure("failed", clean(`${trouble.detail}; ${trouble.hint}`, 600));
}

interface ExportRequest {
  tape: string;
  out: string | undefined;
  force: boolean;
  unsafe: boolean;
  json: boolean;
}

const harName = (tape: string): string => `${basename(tape).replace(/(?:\.tape)?\.ndjson$/, "")}.har`;

function outPlace({ out, force }: ExportRequest, tape: string, shell: Shell): string {
  const place = out ?? resolve(shell.cwd, harName(tape));
  if (force || !existsSync(place)) return place;
  throw new Failure("failed", `${clean(place)} already exists; give another one with --out, or --force`);
}

export async function exportTape(request: ExportRequest, shell: Shell): Promise<"ok"> {
  const tape = tapePlace(request.tape, shell.cwd);
  const { exportHar } = await import("../har/export.ts");
  const { readHeader } = await import("../format/header.ts");
  await onFile(tape, () => readHeader(tape));
  const place = outPlace(request, tape, shell);
  const progress = createProgress(process.stderr, shell.env);
  let entries = -1;
  const counted = async function* (chunks: AsyncIterable<string>) {
    for await (const chunk of chunks) {
      yield chunk;
      entries++;
    }
  };
  let damaged = 0;
  const onProblem = (problem: TapeProblem) => {
    damaged++;
    shell.err.say(`phx-sim: ${tapeProblemLine(problem)}`);
  };
  const onProgress = (bytes: number) =>
    progress.show(`exporting ${clean(basename(tape), 60)}: ${entries} entries, ${sizeText(bytes)} read`);
  const chunks = counted(exportHar(tape, { unsafe: request.unsafe, onProblem, onProgress }));
  const write = async () => {
    makeFolder(dirname(place));
    await writeWhole(place, chunks);
  };
  await onFile(tape, () => onFile(place, write)).finally(() => progress.end());
  const exported = { har: place, entries: entries - 1, bytes: statSync(place).size };
  shell.out.say(
    request.json
      ? jsonLine(exported)
      : `${clean(place)}: ${exported.entries} ${exported.entries === 1 ? "entry" : "entries"}, ${sizeText(exported.bytes)}`,
  );
  if (damaged > 0) throw new Failure("failed", `${damageText(damaged)} (${clean(tape)})`);
  return "ok";
}
