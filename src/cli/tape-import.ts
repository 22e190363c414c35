import { existsSync, statSync } from "node:fs";
import { basename } from "node:path";
import { counted } from "../kernel/counted.ts";
import type { HarProblem } from "../tape/har/import.ts";
import { tapePlace } from "../tape/place.ts";
import type { RedactionRules } from "../tape/redact/rules.ts";
import type { RawExchange } from "../tape/types.ts";
import type { TapeSummary, TapeWriter } from "../tape/write.ts";
import { clean } from "./clean-text.ts";
import type { Shell } from "./command.ts";
import { Failure } from "./failure.ts";
import { createProgress, type Progress, sizeText } from "./progress.ts";
import { jsonLine } from "./tape-lines.ts";
import { onFile } from "./tape-trouble.ts";

export interface ImportRequest {
  /** The HAR. */
  file: string;
  /** Name or path of the new tape; that of the HAR unless told. */
  tape: string | undefined;
  all: boolean;
  redact: "default" | "pii";
  json: boolean;
}

/** Problems of the same sort: the first few entries that have it. */
interface ProblemCount {
  problem: HarProblem;
  entries: number[];
  count: number;
}

const mostEntries = 5;

function addProblem(counts: Map<string, ProblemCount>, problem: HarProblem): void {
  const found = counts.get(problem.code) ?? { problem, entries: [], count: 0 };
  found.count++;
  if (found.entries.length < mostEntries) found.entries.push(problem.entry);
  counts.set(problem.code, found);
}

function problemLine({ problem, entries, count }: ProblemCount): string {
  const more = count > entries.length ? ", …" : "";
  const which = `${count === 1 ? "entry" : "entries"} ${entries.join(", ")}${more}`;
  const left = problem.skipped ? "left out: " : "";
  return `phx-sim: ${count} × ${left}${problem.detail} (${which}); ${problem.hint}`;
}

/** A name that is fit for a file: what the HAR's name has besides becomes `-`. */
const nameOf = (file: string): string =>
  basename(file)
    .replace(/\.har$/i, "")
    .replace(/[^\w.-]+/g, "-")
    .replace(/^[.-]+/, "") || "imported";

function newPlace(given: string, shell: Shell): string {
  const place = tapePlace(given, shell.cwd);
  if (!existsSync(place)) return place;
  throw new Failure("failed", `${clean(place)} is there already; give another name with --tape`);
}

/** Opens the tape with the first exchange: a HAR without one leaves no tape behind. */
async function copy(
  exchanges: AsyncIterable<RawExchange>,
  open: () => Promise<TapeWriter>,
): Promise<TapeSummary | undefined> {
  let writer: TapeWriter | undefined;
  try {
    for await (const exchange of exchanges) {
      writer ??= await open();
      writer.append(exchange, writer.arrive());
      if (writer.trouble?.isOver) break;
    }
  } finally {
    await writer?.close();
  }
  return writer?.summary;
}

async function copyWatched(
  { file, all, redact }: ImportRequest,
  place: string,
  { progress, redaction }: { progress: Progress; redaction: RedactionRules | undefined },
  onProblem: (problem: HarProblem) => void,
) {
  const { harCreator, importHar } = await import("../tape/har/import.ts");
  const { openTapeWriter } = await import("../tape/write.ts");
  const { createRedactor } = await import("../tape/redact/redactor.ts");
  const { tapeRules } = await import("../tape/redact/rules.ts");
  return onFile(file, async () => {
    const size = Math.max(1, statSync(file).size);
    const creator = await harCreator(file);
    const onProgress = (bytes: number) =>
      progress.show(
        `importing ${clean(basename(file), 60)}: ${Math.floor((100 * bytes) / size)} % of ${sizeText(size)}`,
      );
    const exchanges = importHar(file, { all, onProblem, onProgress });
    return copy(exchanges, async () =>
      openTapeWriter(place, {
        redactor: createRedactor({ profile: redact, rules: tapeRules(redaction) }),
        header: { creator, noise: redaction?.ignore ?? [] },
      }),
    );
  });
}

function nothingFound(file: string, counts: ReadonlyMap<string, ProblemCount>): Failure {
  const elsewhere = counts.get("elsewhere")?.count ?? 0;
  const hint =
    elsewhere > 0 ? `; ${counted(elsewhere, "request")} to other services: --all imports them` : "";
  return new Failure("failed", `${clean(file)} has nothing to import${hint}`);
}

/** Makes a redacted tape of a HAR file and tells what was odd about it. @throws Failure */
export async function importTape(request: ImportRequest, shell: Shell): Promise<"ok"> {
  const place = newPlace(request.tape ?? nameOf(request.file), shell);
  const counts = new Map<string, ProblemCount>();
  const progress = createProgress(process.stderr, shell.env);
  const around = { progress, redaction: shell.config?.redaction };
  const summary = await copyWatched(request, place, around, (problem) => addProblem(counts, problem)).finally(
    () => progress.end(),
  );
  const problems = [...counts.values()];
  shell.err.say(...problems.map((it) => clean(problemLine(it), 600)));
  if (!summary) throw nothingFound(request.file, counts);
  shell.out.say(request.json ? jsonLine(reportOf(summary, problems)) : summaryLine(summary));
  if (!summary.trouble) return "ok";
  throw new Failure("failed", clean(`${summary.trouble.detail}; ${summary.trouble.hint}`, 600));
}

const reportOf = (
  { file, exchanges, bytes, redactions }: TapeSummary,
  problems: readonly ProblemCount[],
) => ({
  tape: file,
  exchanges,
  bytes,
  redactions,
  problems: problems.map(({ problem: { code, skipped, detail, hint }, entries, count }) => ({
    code,
    skipped,
    count,
    entries,
    detail,
    hint,
  })),
});

const summaryLine = ({ file, exchanges, bytes, redactions }: TapeSummary): string =>
  `${clean(file)}: ${counted(exchanges, "exchange")}, ${sizeText(bytes)}, ${counted(redactions, "secret")} redacted`;
