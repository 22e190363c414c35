// biome-ignore lint/suspicious/noControlCharactersInRegex: XML 1.0 cannot hold them, not even escaped
const notXml = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Cs}/gu;
const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "\n": "&#10;",
};

/** Text as XML holds it, in an element or an attribute. */
export const xmlText = (text: string): string =>
  text.replace(notXml, "\ufffd").replace(/[&<>"\n]/g, (it) => entities[it] ?? it);

/** One suite as JUnit XML. @param cases Its `testcase` elements, a line each */
export function junitSuite(
  name: string,
  { tests, failures, skipped }: { tests: number; failures: number; skipped: number },
  cases: readonly string[],
): string {
  const counts = `tests="${tests}" failures="${failures}" skipped="${skipped}" errors="0"`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="${name}" ${counts}>`,
    `  <testsuite name="${name}" ${counts}>`,
    ...cases,
    "  </testsuite>",
    "</testsuites>",
    "",
  ].join("\n");
}
