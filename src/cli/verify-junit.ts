import type { DifferenceGroup, RouteTally } from "../tape/differences/group.ts";
import { differenceText } from "./verify-lines.ts";

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "\n": "&#10;",
};
// biome-ignore lint/suspicious/noControlCharactersInRegex: XML 1.0 cannot hold them, not even escaped
const notXml = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Cs}/gu;

const escaped = (text: string): string =>
  text.replace(notXml, "\ufffd").replace(/[&<>"\n]/g, (it) => entities[it] ?? it);

/**
 * Differences as JUnit XML: a test case for each route, failed where it has a difference that `fails`; what does
 * not fail stands in its output.
 */
export function verifyJunit(
  routes: readonly RouteTally[],
  groups: readonly DifferenceGroup[],
  fails: (group: DifferenceGroup) => boolean,
): string {
  const failed = new Set(groups.filter(fails).map(({ route }) => route));
  const counts = `tests="${routes.length}" failures="${failed.size}" skipped="0" errors="0"`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="phx-sim verify" ${counts}>`,
    `  <testsuite name="phx-sim verify" ${counts}>`,
    ...routes.map(({ route }) =>
      testCase(
        route,
        groups.filter((it) => it.route === route),
        fails,
      ),
    ),
    "  </testsuite>",
    "</testsuites>",
    "",
  ].join("\n");
}

const textOf = (it: DifferenceGroup): string =>
  `${it.severity} ${it.count} of ${it.of}: ${differenceText(it)} #${it.first}`;

function testCase(
  route: string,
  groups: readonly DifferenceGroup[],
  fails: (group: DifferenceGroup) => boolean,
): string {
  const open = `    <testcase classname="phx-sim verify" name="${escaped(route)}"`;
  const failing = groups.filter(fails);
  const rest = groups.filter((it) => !fails(it));
  const [first] = failing;
  const failure = first
    ? `<failure type="${first.severity}" message="${escaped(textOf(first))}">${escaped(failing.map(textOf).join("\n"))}</failure>`
    : "";
  const output = rest.length > 0 ? `<system-out>${escaped(rest.map(textOf).join("\n"))}</system-out>` : "";
  return failure + output === "" ? `${open}/>` : `${open}>${failure}${output}</testcase>`;
}
