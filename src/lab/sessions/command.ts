import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { counted, times } from "../../kernel/base/text.ts";
import { clean } from "../../kernel/command/clean-text.ts";
import { type Command, command, type Shell } from "../../kernel/command/command.ts";
import { Failure } from "../../kernel/command/failure.ts";
import type { Settings } from "../../kernel/command/settings.ts";
import { optionsOf } from "../../kernel/command/shape-options.ts";
import type { Style } from "../../kernel/command/style.ts";
import { ask, factLines, pageCommand, print, thinCommand, thinOptions } from "../../kernel/command/thin-command.ts";
import {
  type RecordingFind,
  type RecordingFindings,
  RecordingListQuery,
  RecordingSearchOrder,
  SessionQuery,
  type StoredRecording,
  type StoredSession,
} from "./shapes.ts";

const searchOptions = {
  values: { describe: "What must not be recorded", place: 1, many: true, optional: true },
  file: { describe: "A file with one value a line, so that none is in the shell's history" },
  ...optionsOf(RecordingSearchOrder.omit({ values: true })),
  ...thinOptions,
} as const;

function recordingLine({ id, recording, start, distinct_ids: ids, url }: StoredSession, style: Style): string {
  const { parts = 0, bytes = 0 } = recording ?? {};
  const size = `${counted(parts, "part")}, ${Math.ceil(bytes / 1024)} kB`;
  const page = url === null ? "" : `  ${clean(url, 80)}`;
  return `${style.bold(clean(id, 60))}  ${clean(start)}  ${size}  ${clean(ids[0] ?? "", 60)}${page}`;
}

const countsText = (counts: Readonly<Record<string, number>>): string =>
  Object.entries(counts)
    .map(([what, count]) => `${what} ${count}`)
    .join(", ");

function shownLines(it: StoredRecording, style: Style): string[] {
  const fact = factLines(style);
  const some = (name: string, counts: Readonly<Record<string, number>>) =>
    Object.keys(counts).length === 0 ? [] : fact(name, countsText(counts));
  return [
    recordingLine(it, style),
    ...some("records", it.kinds),
    ...some("texts", it.texts),
    ...some("not text", it.unread),
    ...fact("not read", ...it.undecided.map((text) => clean(text, 300))),
    ...fact("inspector", it.link),
  ];
}

function findLine(it: RecordingFind, style: Style): string {
  const where = [it.place, it.path, it.name].filter((part) => part !== null).map((part) => clean(part, 200));
  const writing = it.writing === "text" ? "" : ` (${it.writing})`;
  return `${style.bold(`value ${it.value}`)}  ${where.join(" ")}${writing}${times(it.count)}  ${style.dim(`${it.time} ${clean(it.session, 60)}`)}`;
}

async function valuesIn(
  { values = [], file }: Settings<typeof searchOptions>["values"],
  cwd: string,
): Promise<string[]> {
  if (file === undefined) return [...values];
  const text = await readFile(resolve(cwd, file), "utf8").catch((error: unknown) => {
    throw new Failure("usage", `${clean(file)} cannot be read; give the path of a file with one value a line`, error);
  });
  const lines = text.split(/\r?\n/).filter((it) => it.trim() !== "");
  return [...values, ...lines];
}

async function search(settings: Settings<typeof searchOptions>, shell: Shell): Promise<"ok" | 1> {
  const { session, project: of, json, "allow-unread": allowed } = settings.values;
  const values = await valuesIn(settings.values, shell.cwd);
  if (values.length === 0) throw new Failure("usage", "there is nothing to search for; give values, or --file FILE");
  const body = { values, session, project: of, allow_unread: allowed };
  const answer = await ask<RecordingFindings>(settings, shell, "POST", "recordings/search", body, 120_000);
  const { finds, more, unread, searched, verdict, undecided } = answer;
  print(
    shell,
    json,
    answer,
    finds.map((it) => findLine(it, shell.outStyle)),
  );
  if (!json) {
    const { sessions, parts } = searched;
    shell.err.say(
      `phx-sim: ${counted(finds.length, "place")}${more ? " and more" : ""} in ${counted(sessions, "recording")}, ${counted(parts, "part")}`,
      ...(Object.keys(unread).length === 0 ? [] : [`phx-sim: not readable as text: ${countsText(unread)}`]),
    );
  }
  if (searched.parts === 0) throw new Failure("failed", "there is no recording, so that nothing is known about it");
  if (verdict === "undecided" && !json)
    shell.err.say(
      "phx-sim: undecided, because not everything was read:",
      ...undecided.map((it) => `  ${clean(it, 300)}`),
      "  --allow-unread KIND accepts what cannot hold the values",
    );
  return verdict === "none" ? "ok" : 1;
}

export const recordingCommands: readonly Command[] = [
  pageCommand({
    name: "recordings list",
    describe: "List the sessions with a recording, newest first",
    options: optionsOf(RecordingListQuery.omit({ search: true, offset: true })),
    examples: [["phx-sim recordings list --person customer-1001", "those of a person"]],
    call: "GET recordings",
    list: "recordings",
    line: recordingLine,
  }),
  thinCommand({
    name: "recordings show",
    describe: "Show what the recording of a session holds, and what cannot be read of it",
    options: { session: { describe: "The id of a session", place: 1 }, ...optionsOf(SessionQuery) },
    examples: [["phx-sim recordings show 0195b3a2-8592-7000-8000-00000000ec48", "texts, images, losses"]],
    call: "GET recordings/:session",
    lines: shownLines,
  }),
  command({
    name: "recordings search",
    describe:
      "Search the recordings for values; exit code 1 if one is found, something cannot be read, or there is no recording",
    options: searchOptions,
    examples: [
      ["phx-sim recordings search jane@acme.test '4242 4242 4242 4242'", "the places that hold one of them"],
      ["phx-sim recordings search --file planted.txt", "in CI, after the tests"],
    ],
    confirms: true,
    run: search,
  }),
];
