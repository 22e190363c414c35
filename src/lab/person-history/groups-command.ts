import { clean, cleanJson } from "../../kernel/command/clean-text.ts";
import type { Command } from "../../kernel/command/command.ts";
import type { Style } from "../../kernel/command/style.ts";
import { factLines, pageCommand, propertyLines, thinCommand } from "../../kernel/command/thin-command.ts";
import type { GroupDetails, PropertyChange, StoredGroup } from "./shapes.ts";

const project = { kind: "count", describe: "Only the project with this id" } as const;

const typeOf = ({ type, type_index }: StoredGroup): string => clean(type ?? `type ${type_index}`, 60);

function groupLine(it: StoredGroup, style: Style): string {
  const shown = Object.keys(it.properties).length === 0 ? "" : `  ${cleanJson(it.properties, 100)}`;
  return `${style.bold(`${typeOf(it)} ${clean(it.key, 80)}`)}${shown}  ${style.dim(`project ${it.project}`)}`;
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
    `${style.bold(`${typeOf(it)} ${clean(it.key, 80)}`)}  ${style.dim(`project ${project}`)}`,
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
    options: {
      project,
      search: { describe: "Only groups with this text in type, key or name" },
      limit: { kind: "count", describe: "The newest N groups", default: "100" },
    },
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
      project,
      limit: { kind: "count", describe: "The newest N events of the group", default: "50" },
    },
    examples: [["phx-sim groups show company acme", "the group acme of the type company"]],
    call: "GET groups/:type/:key",
    lines: groupLines,
  }),
];
