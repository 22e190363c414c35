import type { StoredEvent } from "../../src/model/stored-event.ts";
import { jestTest, playwrightTest, pytestTest, vitestTest } from "./assert.ts";
import { prettyJson } from "./quote.ts";
import { scenarioSnippet } from "./scenario.ts";
import { curl, fetchCall, posthogJs, posthogNode, posthogPython } from "./send.ts";
import type { CopyContext } from "./subject.ts";

export type { CopyContext };

/** One way to copy an event. */
export interface CopyRow {
  readonly id: string;
  /** What it is for: rows of one kind stand together. */
  readonly group: "send" | "capture" | "test" | "keep";
  readonly label: string;
  readonly language: string;
  readonly text: (event: StoredEvent, context: CopyContext) => string;
}

export const copyGroups: Readonly<Record<CopyRow["group"], string>> = {
  send: "Send it again",
  capture: "Capture it with an SDK",
  test: "Assert it in a test",
  keep: "Keep it",
};

/** The address of an event in the page. */
const deepLink = ({ seq }: Pick<StoredEvent, "seq">, { url }: Pick<CopyContext, "url">): string =>
  `${url}/__sim/#/events/${seq}`;

/** Every way to copy an event, in the order in which they are offered. */
export const copyRows: readonly CopyRow[] = [
  { id: "curl", group: "send", label: "curl", language: "sh", text: curl },
  { id: "fetch", group: "send", label: "fetch", language: "js", text: fetchCall },
  { id: "posthog-js", group: "capture", label: "posthog-js", language: "ts", text: posthogJs },
  { id: "posthog-node", group: "capture", label: "posthog-node", language: "ts", text: posthogNode },
  { id: "posthog-python", group: "capture", label: "Python", language: "python", text: posthogPython },
  { id: "vitest", group: "test", label: "vitest", language: "ts", text: vitestTest },
  { id: "jest", group: "test", label: "jest", language: "ts", text: jestTest },
  { id: "playwright", group: "test", label: "Playwright", language: "ts", text: playwrightTest },
  { id: "pytest", group: "test", label: "pytest", language: "python", text: pytestTest },
  { id: "scenario", group: "keep", label: "Scenario snippet", language: "yaml", text: scenarioSnippet },
  {
    id: "json",
    group: "keep",
    label: "JSON",
    language: "json",
    text: (event) => prettyJson(new Map(Object.entries(event))),
  },
  { id: "link", group: "keep", label: "Link", language: "text", text: deepLink },
];
