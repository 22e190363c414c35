import { counted } from "../kernel/counted.ts";
import type { Json, JsonObject } from "../kernel/json.ts";
import { callSim } from "./ask-sim.ts";
import { clean } from "./clean-text.ts";
import { type Command, type CommandGroup, command, type Shell } from "./command.ts";
import { queryText } from "./query-text.ts";
import { findRunning, whereOptions } from "./running-sim.ts";
import type { Settings } from "./settings.ts";
import type { Style } from "./style.ts";

const group: CommandGroup = { name: "persons", describe: "Persons: their merged ids and properties" };

const project = {
  kind: "count",
  describe: "Only events of the project with this number",
  flagOnly: true,
} as const;

const listOptions = {
  project,
  search: { kind: "text", describe: "Only persons with this text in an id or a property", flagOnly: true },
  "distinct-id": { kind: "text", describe: "Only the person with this distinct id", flagOnly: true },
  limit: { kind: "count", describe: "The newest N", default: "100", flagOnly: true },
  ...whereOptions,
  json: { kind: "switch", describe: "One JSON object per line", flagOnly: true },
} as const;

const showOptions = {
  id: { kind: "text", describe: "A uuid or a distinct id", flagOnly: true, place: 1 },
  project,
  ...whereOptions,
  json: { kind: "switch", describe: "Print the control API's answer", flagOnly: true },
} as const;

interface Person {
  uuid: string;
  project: number;
  distinct_ids: string[];
  is_identified: boolean;
  created_at: string;
  properties: JsonObject;
}

interface Known extends Person {
  history: { seq: number; event: string; distinct_id: string; timestamp: string; change: JsonObject }[];
}

/** Ids on a line; merging may have made many of them. */
const mostIds = 5;

function idsText(ids: readonly string[]): string {
  const more = ids.length - mostIds;
  const told = ids.slice(0, mostIds).map((id) => clean(id, 60));
  return [...told, ...(more > 0 ? [`… ${more} more`] : [])].join(", ");
}

const jsonText = (value: Json, limit?: number): string => clean(JSON.stringify(value), limit);

function personLine(person: Person, style: Style): string {
  const { uuid, distinct_ids, is_identified, project, properties } = person;
  const kind = is_identified ? "identified" : "anonymous";
  const told = Object.keys(properties).length === 0 ? "" : `  ${jsonText(properties, 100)}`;
  return `${style.bold(idsText(distinct_ids) || "(no distinct id)")}  ${kind}${told}  ${style.dim(`${clean(uuid)}, project ${project}`)}`;
}

function personLines(person: Known, style: Style): string[] {
  const row = (name: string, text: string) => `  ${style.dim(name.padEnd(12))} ${text}`;
  const { uuid, distinct_ids, project, created_at, properties, history } = person;
  return [
    personLine({ ...person, properties: {} }, style),
    row("uuid", clean(uuid)),
    row("project", String(project)),
    row("first seen", clean(created_at)),
    ...distinct_ids.map((id, i) => row(i === 0 ? "distinct ids" : "", clean(id))),
    ...Object.entries(properties).map(([name, value], i) =>
      row(i === 0 ? "properties" : "", `${clean(name, 80)} = ${jsonText(value)}`),
    ),
    ...history.map(({ seq, event, change }, i) =>
      row(i === 0 ? "history" : "", `#${seq} ${clean(event, 80)} ${jsonText(change, 200)}`),
    ),
  ];
}

async function list(settings: Settings<typeof listOptions>, shell: Shell) {
  const { values } = settings;
  const { project, search, limit, json } = values;
  const query = queryText({ project, search, limit, distinct_id: values["distinct-id"] });
  const running = await findRunning(settings, shell.cwd);
  const answer = await callSim<{ persons: Person[]; more: boolean }>(running, "GET", `persons${query}`);
  const { persons, more } = answer;
  shell.out.say(...persons.map((it) => (json ? JSON.stringify(it) : personLine(it, shell.outStyle))));
  if (more) shell.err.say(`phx-sim: only ${counted(persons.length, "person")} shown; --limit N shows more`);
  else if (persons.length === 0 && !json) shell.err.say("phx-sim: no persons");
  return "ok" as const;
}

async function show(settings: Settings<typeof showOptions>, shell: Shell) {
  const { id, project, json } = settings.values;
  const running = await findRunning(settings, shell.cwd);
  const path = `persons/${encodeURIComponent(id)}${queryText({ project })}`;
  const person = await callSim<Known>(running, "GET", path);
  shell.out.say(...(json ? [JSON.stringify(person, null, 2)] : personLines(person, shell.outStyle)));
  return "ok" as const;
}

/** The commands `phx-sim persons …`. */
export const personCommands: readonly Command[] = [
  command({
    name: "persons list",
    group,
    describe: "List the persons, newest first",
    options: listOptions,
    examples: [["phx-sim persons list --search ann@", "whose ids or properties have this text"]],
    run: list,
  }),
  command({
    name: "persons show",
    group,
    describe: "Show a person: its merged ids, its properties, the events that changed it",
    options: showOptions,
    examples: [["phx-sim persons show user-1", "was anon-1 merged into user-1?"]],
    run: show,
  }),
];
