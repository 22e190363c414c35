import type { JsonObject } from "../../kernel/base/json.ts";
import { clean, cleanJson } from "../../kernel/command/clean-text.ts";
import type { Command } from "../../kernel/command/command.ts";
import { optionsOf } from "../../kernel/command/shape-options.ts";
import type { Style } from "../../kernel/command/style.ts";
import { factLines, pageCommand, propertyLines, thinCommand } from "../../kernel/command/thin-command.ts";
import {
  type GroupDetails,
  GroupListQuery,
  GroupQuery,
  PersonListQuery,
  PersonQuery,
  type PropertyChange,
  type StoredGroup,
  type StoredPerson,
  type StoredPersonWithHistory,
} from "./shapes.ts";

/** A merged person may have many. */
const mostIds = 5;

function idsText(ids: readonly string[]): string {
  const more = ids.length - mostIds;
  const shown = ids.slice(0, mostIds).map((id) => clean(id, 60));
  return [...shown, ...(more > 0 ? [`… ${more} more`] : [])].join(", ");
}

const shortProperties = (properties: JsonObject): string =>
  Object.keys(properties).length === 0 ? "" : `  ${cleanJson(properties, 100)}`;

function personLine(person: StoredPerson, style: Style): string {
  const { uuid, distinct_ids, is_identified, project, properties } = person;
  const kind = is_identified ? "identified" : "anonymous";
  const shown = shortProperties(properties);
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
    options: optionsOf(PersonListQuery.omit({ offset: true })),
    examples: [["phx-sim persons list --search ann@", "with this text in an id, e-mail address or name"]],
    call: "GET persons",
    list: "persons",
    line: personLine,
  }),
  thinCommand({
    name: "persons show",
    describe: "Show a person: its merged ids, its properties, the events that changed it",
    options: { id: { describe: "A uuid or a distinct id", place: 1 }, ...optionsOf(PersonQuery) },
    examples: [["phx-sim persons show user-1", "its merged ids, e.g. anon-1"]],
    call: "GET persons/:id",
    lines: personLines,
  }),
];

const groupName = ({ type, type_index, key }: StoredGroup, style: Style): string =>
  style.bold(`${clean(type ?? `type ${type_index}`, 60)} ${clean(key, 80)}`);

function groupLine(it: StoredGroup, style: Style): string {
  return `${groupName(it, style)}${shortProperties(it.properties)}  ${style.dim(`project ${it.project}`)}`;
}

const changeText = ({ property, from, to }: PropertyChange): string => {
  const was = from === undefined ? "" : `${cleanJson(from, 80)} → `;
  return `${clean(property, 80)}: ${was}${to === undefined ? "removed" : cleanJson(to, 80)}`;
};

function groupLines(it: GroupDetails, style: Style): string[] {
  const fact = factLines(style);
  const { project, created_at, properties, history, events, gaps } = it;
  const changed = history.map(({ event, changes }) => `#${event.seq} ${changes.map(changeText).join(", ")}`);
  const newest = events.map(({ seq, event, distinct_id }) => `#${seq} ${clean(event, 80)}  ${clean(distinct_id, 60)}`);
  return [
    `${groupName(it, style)}  ${style.dim(`project ${project}`)}`,
    ...fact("first seen", clean(created_at)),
    ...fact("properties", ...propertyLines(properties)),
    ...fact("history", ...changed.reverse()),
    ...fact("incomplete", ...gaps.map(({ sentence }) => clean(sentence))),
    ...fact("events", ...newest.reverse()),
  ];
}

export const groupCommands: readonly Command[] = [
  pageCommand({
    name: "groups list",
    describe: "List the groups, newest first",
    options: optionsOf(GroupListQuery.omit({ offset: true })),
    examples: [["phx-sim groups list --search acme", "with this text in type, key or name"]],
    call: "GET groups",
    list: "groups",
    line: groupLine,
  }),
  thinCommand({
    name: "groups show",
    describe: "Show a group: its properties, what changed them, and its newest events",
    options: {
      type: { describe: "The group's type, e.g. company", place: 1 },
      key: { describe: "The group's key", place: 2 },
      ...optionsOf(GroupQuery),
    },
    examples: [["phx-sim groups show company acme", "the group acme of the type company"]],
    call: "GET groups/:type/:key",
    lines: groupLines,
  }),
];
