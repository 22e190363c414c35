import { counted } from "../kernel/counted.ts";
import { didYouMean } from "../kernel/nearest.ts";
import { namePattern } from "../tape/globs.ts";
import { tapePlace } from "../tape/place.ts";
import type { Exchange, TapeProblem } from "../tape/types.ts";
import { clean } from "./clean-text.ts";
import type { Shell } from "./command.ts";
import { Failure } from "./failure.ts";
import { sizeText } from "./progress.ts";
import { jsonLine, tapeProblemLine } from "./tape-lines.ts";
import { onFile } from "./tape-trouble.ts";

export interface PruneRequest {
  tape: string;
  /** Names of routes, `*` for any part of one. */
  keep: readonly string[];
  drop: readonly string[];
  before: string | undefined;
  json: boolean;
}

/** ms since the epoch. */
function timeOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const time = Date.parse(text);
  if (!Number.isNaN(time)) return time;
  throw new Failure("usage", `--before must be a time such as 2026-03-01T12:00:00Z, not "${clean(text)}"`);
}

/** Tells which exchanges stay. @throws Failure usage */
function selectionOf({ keep, drop, before }: PruneRequest): (exchange: Exchange) => boolean {
  const since = timeOf(before);
  const [kept, dropped] = [keep.map(namePattern), drop.map(namePattern)];
  return ({ route, at }) => {
    if (since !== undefined && Date.parse(at) < since) return false;
    if (kept.length > 0 && !kept.some((it) => it.test(route))) return false;
    return !dropped.some((it) => it.test(route));
  };
}

/** A name that no route has is a slip: pruning by it would remove all, or nothing. @throws Failure usage */
export async function checkNames(request: Pick<PruneRequest, "keep" | "drop">, tape: string): Promise<void> {
  const { readTape } = await import("../tape/read.ts");
  const routes = new Set<string>();
  for await (const { route } of readTape(tape)) routes.add(route);
  const names = [...request.keep, ...request.drop];
  const unknown = names.find((name) => ![...routes].some((route) => namePattern(name).test(route)));
  if (unknown === undefined) return;
  const known = [...routes].sort();
  const list = known.length === 0 ? "the tape has no exchanges" : `it has ${known.slice(0, 12).join(", ")}`;
  const hint = clean(`${didYouMean(unknown, known)}; ${list}${known.length > 12 ? ", …" : ""}`, 900);
  throw new Failure("usage", `no exchange of the tape has the route "${clean(unknown)}"${hint}`);
}

/** Takes exchanges out of a tape. @throws Failure */
export async function pruneTapeFile(request: PruneRequest, shell: Shell): Promise<"ok"> {
  const tape = tapePlace(request.tape, shell.cwd);
  const keeps = selectionOf(request);
  const { pruneTape } = await import("../tape/rewrite.ts");
  const onProblem = (problem: TapeProblem) => shell.err.say(`phx-sim: ${tapeProblemLine(problem)}`);
  await onFile(tape, () => checkNames(request, tape));
  const pruned = await onFile(tape, () => pruneTape(tape, keeps, { onProblem }));
  const side = pruned.sideFiles > 0 ? ` and ${counted(pruned.sideFiles, "side file")}` : "";
  const sizes = `${sizeText(pruned.before)} → ${sizeText(pruned.after)}`;
  shell.out.say(
    request.json
      ? jsonLine({ tape, ...pruned })
      : `${clean(tape)}: ${counted(pruned.removed, "exchange")}${side} removed, ${pruned.kept} kept, ${sizes}`,
  );
  return "ok";
}
