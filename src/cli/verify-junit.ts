import type { Comparison, DifferenceGroup } from "../tape/differences/group.ts";
import { junitSuite, xmlText } from "./junit.ts";
import { differenceText, type Sides } from "./verify-lines.ts";

/**
 * Differences as JUnit XML: a test case for each route, failed where it has a difference that `fails`; what does
 * not fail stands in its output. `title` names the suite: `phx-sim verify`.
 */
export function verifyJunit(
  title: string,
  { routes, groups }: Pick<Comparison, "routes" | "groups">,
  fails: (group: DifferenceGroup) => boolean,
  sides: Sides,
): string {
  const failed = new Set(groups.filter(fails).map(({ route }) => route));
  const textOf = (it: DifferenceGroup): string =>
    `${it.severity} ${it.count} of ${it.of}: ${differenceText(it, sides)} #${it.first}`;
  const cases = routes.map(({ route }) => {
    const own = groups.filter((it) => it.route === route);
    return testCase(
      { title, route },
      own.filter(fails),
      own.filter((it) => !fails(it)),
      textOf,
    );
  });
  return junitSuite(title, { tests: routes.length, failures: failed.size, skipped: 0 }, cases);
}

function testCase(
  { title, route }: { title: string; route: string },
  failing: readonly DifferenceGroup[],
  rest: readonly DifferenceGroup[],
  textOf: (group: DifferenceGroup) => string,
): string {
  const open = `    <testcase classname="${xmlText(title)}" name="${xmlText(route)}"`;
  const [first] = failing;
  const failure = first
    ? `<failure type="${first.severity}" message="${xmlText(textOf(first))}">${xmlText(failing.map(textOf).join("\n"))}</failure>`
    : "";
  const output = rest.length > 0 ? `<system-out>${xmlText(rest.map(textOf).join("\n"))}</system-out>` : "";
  return failure + output === "" ? `${open}/>` : `${open}>${failure}${output}</testcase>`;
}
