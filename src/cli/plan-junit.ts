import type { PlanResult, Violation } from "../plan/types.ts";

/** More lines of one event than this help nobody. */
const mostLines = 50;

// biome-ignore lint/suspicious/noControlCharactersInRegex: XML 1.0 cannot hold them, not even escaped
const notXml = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Cs}/gu;
const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "\n": "&#10;",
};
const escaped = (text: string): string =>
  text.replace(notXml, "\ufffd").replace(/[&<>"\n]/g, (it) => entities[it] ?? it);

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
  const counts = `tests="${names.length}" failures="${byEvent.size}" skipped="${unseen.size}" errors="0"`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="tracking plan" ${counts}>`,
    `  <testsuite name="tracking plan" ${counts}>`,
    ...cases,
    "  </testsuite>",
    "</testsuites>",
    "",
  ].join("\n");
}

function testCase(
  name: string,
  violations: readonly Violation[],
  isUnseen: boolean,
  sentenceOf: (violation: Violation) => string,
): string {
  const open = `    <testcase classname="tracking plan" name="${escaped(name)}"`;
  const [first] = violations;
  if (first) {
    const lines = violations.map((it) => `${sentenceOf(it)}  #${it.seq}`).join("\n");
    const failure = `<failure type="${first.kind}" message="${escaped(sentenceOf(first))}">${escaped(lines)}</failure>`;
    return `${open}>${failure}</testcase>`;
  }
  return isUnseen ? `${open}><skipped message="never seen"/></testcase>` : `${open}/>`;
}
