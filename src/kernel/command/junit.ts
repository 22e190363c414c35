// biome-ignore lint/suspicious/noControlCharactersInRegex: XML 1.0 cannot contain them, not even escaped
const notXml = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Cs}/gu;
const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "\n": "&#10;",
};

const xmlText = (text: string): string =>
  text.replace(notXml, "\ufffd").replace(/[&<>"\n]/g, (it) => entities[it] ?? it);

export interface JunitCase {
  readonly name: string;
  readonly failure?: { readonly type: string; readonly message: string; readonly lines: readonly string[] };
  readonly skipped?: string;
  readonly output?: readonly string[];
}

function caseLine(suite: string, { name, failure, skipped, output = [] }: JunitCase): string {
  const open = `    <testcase classname="${xmlText(suite)}" name="${xmlText(name)}"`;
  const parts = [
    failure &&
      `<failure type="${failure.type}" message="${xmlText(failure.message)}">${xmlText(failure.lines.join("\n"))}</failure>`,
    skipped !== undefined && `<skipped message="${xmlText(skipped)}"/>`,
    output.length > 0 && `<system-out>${xmlText(output.join("\n"))}</system-out>`,
  ].filter(Boolean);
  return parts.length === 0 ? `${open}/>` : `${open}>${parts.join("")}</testcase>`;
}

export function junitReport(suite: string, cases: readonly JunitCase[]): string {
  const failures = cases.filter(({ failure }) => failure).length;
  const skipped = cases.filter((it) => it.skipped !== undefined).length;
  const counts = `name="${xmlText(suite)}" tests="${cases.length}" failures="${failures}" skipped="${skipped}" errors="0"`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites ${counts}>`,
    `  <testsuite ${counts}>`,
    ...cases.map((it) => caseLine(suite, it)),
    "  </testsuite>",
    "</testsuites>",
    "",
  ].join("\n");
}
