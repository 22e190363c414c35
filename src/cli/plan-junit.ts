import type { PlanResult, Violation } from "../plan/types.ts";
import { junitSuite, xmlText } from "./junit.ts";

/** More lines of one event than this help nobody. */
const mostLines = 50;

/**
 * What came of a check as JUnit XML: a test case for each planned event, and one for each event that is not
 * planned; a planned event that never came is a skipped one.
 */
export function junitOf(result: PlanResult, sentenceOf: (violation: Violation) => string): string {
  const byEvent = new Map<string, Violation[]>();
  for (const it of result.violations)
    byEvent.set(it.event, [...(byEvent.get(it.event) ?? []).slice(0, mostLines), it]);
  const unseen = new Set(result.unseen);
  const names = [...new Set([...result.seen, ...result.unseen, ...byEvent.keys()])];
  const cases = names.map((name) => testCase(name, byEvent.get(name) ?? [], unseen.has(name), sentenceOf));
  const counts = { tests: names.length, failures: byEvent.size, skipped: unseen.size };
  return junitSuite("tracking plan", counts, cases);
}

function testCase(
  name: string,
  violations: readonly Violation[],
  isUnseen: boolean,
  sentenceOf: (violation: Violation) => string,
): string {
  const open = `    <testcase classname="tracking plan" name="${xmlText(name)}"`;
  const [first] = violations;
  if (first) {
    const lines = violations.map((it) => `${sentenceOf(it)}  #${it.seq}`).join("\n");
    const failure = `<failure type="${first.kind}" message="${xmlText(sentenceOf(first))}">${xmlText(lines)}</failure>`;
    return `${open}>${failure}</testcase>`;
  }
  return isUnseen ? `${open}><skipped message="never seen"/></testcase>` : `${open}/>`;
}
