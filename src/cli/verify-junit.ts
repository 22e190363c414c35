import type { DifferenceGroup, RouteTally } from "../tape/differences/group.ts";
import { junitSuite, xmlText } from "./junit.ts";
import { differenceText } from "./verify-lines.ts";

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
  const cases = routes.map(({ route }) =>
    testCase(
      route,
      groups.filter((it) => it.route === route),
      fails,
    ),
  );
  return junitSuite("phx-sim verify", { tests: routes.length, failures: failed.size, skipped: 0 }, cases);
}

const textOf = (it: DifferenceGroup): string =>
  `${it.severity} ${it.count} of ${it.of}: ${differenceText(it)} #${it.first}`;

function testCase(
  route: string,
  groups: readonly DifferenceGroup[],
  fails: (group: DifferenceGroup) => boolean,
): string {
  const open = `    <testcase classname="phx-sim verify" name="${xmlText(route)}"`;
  const failing = groups.filter(fails);
  const rest = groups.filter((it) => !fails(it));
  const [first] = failing;
  const failure = first
    ? `<failure type="${first.severity}" message="${xmlText(textOf(first))}">${xmlText(failing.map(textOf).join("\n"))}</failure>`
    : "";
  const output = rest.length > 0 ? `<system-out>${xmlText(rest.map(textOf).join("\n"))}</system-out>` : "";
  return failure + output === "" ? `${open}/>` : `${open}>${failure}${output}</testcase>`;
}
