import type { StoredEvent } from "../../src/state/journal/stored-event.ts";
import { pythonText, scriptText, type Written } from "./quote.ts";
import { anyStringInTests, assertedId, assertedProperties, type CopyContext } from "./subject.ts";

const longestTitle = 60;

const titleOf = ({ event, outcome }: StoredEvent): string =>
  `${outcome === "kept" ? "captures" : "does not lose"} ${Array.from(event).slice(0, longestTitle).join("")}`;

/** Arguments of `toHaveCaptured`, without empty trailing ones. */
function argumentsOf(event: StoredEvent): string {
  const properties = assertedProperties(event, anyStringInTests);
  const id = assertedId(event);
  const rest: Written[] = [properties, new Map([["distinctId", id ?? ""]])];
  const given = rest.slice(0, id === undefined ? (properties.size > 0 ? 1 : 0) : 2);
  return [event.event, ...given].map((it) => scriptText(it, 2)).join(", ");
}

const lost = (event: StoredEvent): Written =>
  new Map<string, Written>([
    ["event", event.event],
    ["distinct_id", assertedId(event) ?? anyStringInTests],
    ["reason", event.reason ?? ""],
  ]);

/** Asserts that the event is captured, or dropped for its reason. */
const assertion = (event: StoredEvent): string =>
  event.outcome === "kept"
    ? `  await expect(ph).toHaveCaptured(${argumentsOf(event)});`
    : `  await ph.settle();
  expect(await ph.events.dropped()).toContainEqual(
    expect.objectContaining(${scriptText(lost(event), 4)}),
  );`;

const todo = "Make your app send the event here.";

/** A test in TypeScript: its imports, its fixtures, and statements before and after the app's own. */
const scriptTest =
  (imports: string, fixtures: string, before = "", after = "") =>
  (event: StoredEvent): string =>
    `${imports}

test(${scriptText(titleOf(event))}, async (${fixtures}) => {
${before}  // ${todo}
${after}${assertion(event)}
});`;

export const vitestTest = scriptTest('import { expect, test } from "phx-sim/vitest";', "{ ph }");

export const jestTest = scriptTest(
  'import { expect, test } from "@jest/globals";\nimport { project } from "phx-sim/jest";',
  "",
  "  const ph = await project();\n",
);

export const playwrightTest = scriptTest(
  'import { expect, test } from "phx-sim/playwright";',
  "{ page, ph }",
  "",
  '  await page.goto("/");\n',
);

const anyText: Written = { "@type": "string" };

function patternOf(event: StoredEvent): Written {
  const id = assertedId(event);
  const properties = assertedProperties(event, anyText);
  return new Map<string, Written>([
    ["event", event.event],
    ...(id === undefined ? [] : [["distinct_id", id] as const]),
    ...(properties.size === 0 ? [] : [["properties", properties] as const]),
  ]);
}

const scopeOf = ({ project }: StoredEvent): [string, Written][] => (project === null ? [] : [["project", project]]);

const pythonHead = `import json
import urllib.request
`;

const pythonKept = (event: StoredEvent, { url }: CopyContext): string => `${pythonHead}

def test_the_event_is_captured():
    # ${todo}
    wanted = ${pythonText(new Map<string, Written>([...scopeOf(event), ["match", patternOf(event)], ["timeout_ms", 4000]]), 4)}
    request = urllib.request.Request(
        ${pythonText(`${url}/__sim/events/wait`)},
        json.dumps(wanted).encode(),
        {"content-type": "application/json"},
    )
    # 409 with a report if the event does not arrive.
    with urllib.request.urlopen(request) as response:
        assert json.load(response)["events"]`;

const scopeQuery = ({ project }: StoredEvent): string => (project === null ? "" : `&project=${project}`);

const pythonDropped = (event: StoredEvent, { url }: CopyContext): string => `${pythonHead}

def test_the_event_is_dropped():
    # ${todo}
    url = ${pythonText(`${url}/__sim/events?outcome=dropped&limit=10000${scopeQuery(event)}`)}
    with urllib.request.urlopen(url) as response:
        dropped = json.load(response)["events"]
    found = [(it["event"], it["reason"]) for it in dropped]
    assert (${pythonText(event.event)}, ${pythonText(event.reason ?? "")}) in found`;

export const pytestTest = (event: StoredEvent, context: CopyContext): string =>
  event.outcome === "kept" ? pythonKept(event, context) : pythonDropped(event, context);
