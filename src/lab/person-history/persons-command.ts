import { clean, cleanJson } from "../../kernel/command/clean-text.ts";
import type { Command } from "../../kernel/command/command.ts";
import type { Style } from "../../kernel/command/style.ts";
import { factLines, pageCommand, propertyLines, thinCommand } from "../../kernel/command/thin-command.ts";
import type { StoredPerson, StoredPersonWithHistory } from "./shapes.ts";

const project = { kind: "count", describe: "Only the project with this id" } as const;

const mostIds = 5;

function idsText(ids: readonly string[]): string {
  const more = ids.length - mostIds;
  const shown = ids.slice(0, mostIds).map((id) => clean(id, 60));
  return [...shown, ...(more > 0 ? [`… ${more} more`] : [])].join(", ");
}

function personLine(person: StoredPerson, style: Style): string {
  const { uuid, distinct_ids, is_identified, project, properties } = person;
  const kind = is_identified ? "identified" : "anonymous";
  const shown = Object.keys(properties).length === 0 ? "" : `  ${cleanJson(properties, 100)}`;
  return `${style.bold(idsText(distinct_ids) || "(no distinct id)")}  ${kind}${shown}  ${style.dim(`${clean(uuid)}, project ${project}`)}`;
}

function personLines(person: StoredPersonWithHistory, style: Style): string[] {
  const fact = factLines(style);
  const { uuid, distinct_ids, project, created_at, properties, history } = person;
  return [
    personLine({ ...person, properties: {} }, style),
    ...fact("uuid", clean(uuid)),
    ...fact("project", String(project)),
    ...fact("first seen", clean(created_at)),
    ...fact("distinct ids", ...distinct_ids.map((id) => clean(id))),
    ...fact("properties", ...propertyLines(properties)),
    ...fact(
      "history",
      ...history.map(({ seq, event, change }) => `#${seq} ${clean(event, 80)} ${cleanJson(change, 200)}`),
    ),
  ];
}

export const personCommands: readonly Command[] = [
  pageCommand({
    name: "persons list",
    describe: "List the persons, newest first",
    options: {
      project,
      search: { describe: "Only persons with this text in an id, e-mail address or name" },
      "distinct-id": { describe: "Only the person with this distinct id" },
      limit: { kind: "count", describe: "The newest N", default: "100" },
    },
    examples: [["phx-sim persons list --search ann@", "with this text in an id, e-mail address or name"]],
    call: "GET persons",
    list: "persons",
    line: personLine,
  }),
  thinCommand({
    name: "persons show",
    describe: "Show a person: its merged ids, its properties, the events that changed it",
    options: { id: { describe: "A uuid or a distinct id", place: 1 }, project },
    examples: [["phx-sim persons show user-1", "its merged ids, e.g. anon-1"]],
    call: "GET persons/:id",
    lines: personLines,
  }),
];
