import { shortened } from "../../../kernel/base/problem.ts";
import { clean } from "../../../kernel/command/clean-text.ts";
import type { Shell } from "../../../kernel/command/command.ts";
import type { Exchange } from "../format/exchange.ts";
import { readHeader } from "../format/header.ts";
import { tapePlace } from "../format/place.ts";
import { isCapture } from "../format/routes.ts";
import { pairTapes } from "../match/pairs.ts";
import type { TapeProblem } from "../shapes.ts";
import { type Comparison, compareAnswers, createComparison, skipReasonOf } from "../verify/compare.ts";
import { onFile } from "./tape-trouble.ts";
import { problemCount, type ReportRequest, reportComparison } from "./verify-report.ts";

interface DiffRequest {
  a: string;
  b: string;
  "fail-on": ReportRequest["failOn"] | undefined;
  json: boolean;
  junit: string | undefined;
}

interface TapeDiff extends Comparison {
  /** Requests that only one of them has, by route. Events are left out: SDKs cut batches by timers. */
  only_a: Readonly<Record<string, number>>;
  only_b: Readonly<Record<string, number>>;
}

const mostRoutes = 500;

function addRoute(routes: Map<string, number>, { route }: Exchange): void {
  if (isCapture(route)) return;
  const name = routes.has(route) || routes.size < mostRoutes ? route : "others";
  routes.set(name, (routes.get(name) ?? 0) + 1);
}

async function diffOf(a: string, b: string, ignore: readonly string[] = []): Promise<TapeDiff> {
  const { noise } = await readHeader(b);
  const { found, add } = problemCount<TapeProblem>();
  const comparison = createComparison();
  let passedOver = 0;
  const { index, pairs } = await pairTapes(a, b, {
    onProblem: add,
    // the client repeats a request that was refused with 429: the answer that follows is the one to compare
    leavesOut({ res, complete }, tape) {
      const skipped = res === null || !complete ? "cut_off" : res.status === 429 ? "upstream_failed" : null;
      if (skipped === null) return false;
      if (tape === "first") {
        passedOver++;
        comparison.add({ skipped });
      }
      return true;
    },
  });
  const [onlyA, onlyB] = [new Map<string, number>(), new Map<string, number>()];
  const allNoise = [...index.header.noise, ...noise, ...ignore];
  for await (const pair of pairs()) {
    if (pair.kind === "only_recorded") addRoute(onlyA, pair.recorded);
    if (pair.kind === "only_live") addRoute(onlyB, pair.live);
    if (pair.kind !== "equal" && pair.kind !== "place") continue;
    const { route, i, res } = pair.recorded;
    const other = pair.live.res;
    const reason = skipReasonOf(pair.recorded);
    if (res === null || other === null || (reason !== undefined && reason !== "body_left_out"))
      comparison.add({ skipped: reason ?? "cut_off" });
    else {
      const differences = compareAnswers(res, other, { route, noise: allNoise });
      comparison.add({ compared: { route, i, differences } });
    }
  }
  return {
    exchanges: index.rows.length + passedOver,
    ...comparison.result(),
    ...found,
    only_a: Object.fromEntries(onlyA),
    only_b: Object.fromEntries(onlyB),
  };
}

function onlyLine(name: string, routes: Readonly<Record<string, number>>): string[] {
  const all = Object.entries(routes).map(([route, count]) => `${count} ${clean(route, 120)}`);
  return all.length > 0 ? [`only on ${clean(name)}: ${all.join(", ")}`] : [];
}

/** Compares the answers of two tapes of the same session. @throws Failure */
export async function diffTapes(request: DiffRequest, shell: Shell): Promise<"ok"> {
  const [a, b] = [tapePlace(request.a, shell.cwd), tapePlace(request.b, shell.cwd)];
  await onFile(a, () => readHeader(a));
  const diff = await onFile(b, () => diffOf(a, b, shell.config?.redaction?.ignore));
  const [nameA, nameB] = [shortened(a, shell.cwd), shortened(b, shell.cwd)];
  return reportComparison(
    diff,
    {
      command: "tape diff",
      name: nameA,
      with: nameB,
      sides: ["first", "second"],
      failOn: request["fail-on"] ?? "additive",
      json: request.json,
      junit: request.junit,
      notes: [...onlyLine(nameA, diff.only_a), ...onlyLine(nameB, diff.only_b)],
      named: { a, b },
    },
    shell,
  );
}
