import {
  appendFileSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";

/** What another program does to the data folder of a running sim. */
export interface Way {
  readonly name: string;
  act(data: string): void;
  /** What the sim says about it. */
  readonly says: RegExp;
  /** True if it removes content that exists nowhere else; the numbers of what is lost are reported. */
  readonly isLossy?: true;
}

const log = (data: string) => join(data, "traffic.ndjson");
const people = (data: string) => join(data, "people.ndjson");

/** As editors save: the new text is moved into the place of the old one. */
function replace(file: string, text: string): void {
  writeFileSync(`${file}.new`, text);
  renameSync(`${file}.new`, file);
}

export const ways: readonly Way[] = [
  {
    name: "a newline is appended to the log",
    act: (data) => appendFileSync(log(data), "\n"),
    says: /traffic\.ndjson: another program appended 1 byte behind byte \d+/,
  },
  {
    name: "a byte without a newline is appended to the log",
    act: (data) => appendFileSync(log(data), "x"),
    says: /traffic\.ndjson: another program appended 1 byte/,
  },
  {
    name: "lines are appended to the log",
    act: (data) => appendFileSync(log(data), 'hello\n{"a":1}\n\n'),
    says: /traffic\.ndjson: another program appended \d+ bytes/,
  },
  {
    name: "half a line of the log is appended to it",
    act: (data) => appendFileSync(log(data), readFileSync(log(data)).subarray(-200, -50)),
    says: /traffic\.ndjson: another program appended 150 bytes/,
  },
  {
    name: "the log is deleted",
    act: (data) => rmSync(log(data)),
    says: /traffic\.ndjson: another program deleted or moved this file/,
  },
  {
    name: "the log is moved",
    act: (data) => renameSync(log(data), `${log(data)}.old`),
    says: /traffic\.ndjson: another program deleted or moved this file/,
  },
  {
    name: "the log is moved, and a copy is in its place",
    act(data) {
      renameSync(log(data), `${log(data)}.old`);
      copyFileSync(`${log(data)}.old`, log(data));
    },
    says: /traffic\.ndjson: another program replaced this file .* the other file is .*\.replaced/,
  },
  {
    name: "an editor saves the log with a newline",
    act: (data) => replace(log(data), `${readFileSync(log(data), "utf8")}\n`),
    says: /traffic\.ndjson: another program replaced this file/,
  },
  {
    name: "something else replaces the log",
    act: (data) => replace(log(data), "something else\n"),
    says: /traffic\.ndjson: another program replaced this file/,
  },
  {
    name: "a folder replaces the log",
    act(data) {
      rmSync(log(data));
      mkdirSync(log(data));
    },
    says: /traffic\.ndjson: another program replaced this file/,
  },
  {
    name: "the log is emptied",
    act: (data) => truncateSync(log(data)),
    says: /traffic\.ndjson: another program emptied this file while the sim ran: requests 1 to \d+ with events 1 to \d+ lost/,
    isLossy: true,
  },
  {
    name: "the end of the log is cut off",
    act: (data) => truncateSync(log(data), readFileSync(log(data)).length - 10),
    says: /traffic\.ndjson: another program removed the last lines while the sim ran: request \d+ with event \d+ lost/,
    isLossy: true,
  },
  {
    name: "the log is overwritten with something else",
    act: (data) => writeFileSync(log(data), "something else\n"),
    says: /traffic\.ndjson: another program wrote something else, which is now .*\.replaced/,
    isLossy: true,
  },
  {
    name: "a line of the log is removed in place",
    act(data) {
      const lines = readFileSync(log(data), "utf8").split("\n");
      writeFileSync(log(data), lines.toSpliced(-3, 1).join("\n"));
    },
    says: /traffic\.ndjson:\d+: lines before this one are missing: request \d+ with event \d+ lost/,
    isLossy: true,
  },
  {
    name: "a newline is appended to the persons",
    act: (data) => appendFileSync(people(data), "\n"),
    says: /people\.ndjson: another program appended 1 byte/,
  },
  {
    name: "the persons are deleted",
    act: (data) => rmSync(people(data)),
    says: /people\.ndjson: another program deleted or moved this file/,
  },
  {
    name: "the persons are emptied",
    act: (data) => truncateSync(people(data)),
    says: /people\.ndjson: another program shortened this file while the sim ran: \d+ persons? lost/,
  },
  {
    name: "world.json is deleted",
    act: (data) => rmSync(join(data, "world.json")),
    says: /world\.json: another program deleted or emptied this file/,
  },
  {
    name: "world.json is emptied",
    act: (data) => truncateSync(join(data, "world.json")),
    says: /world\.json: another program deleted or emptied this file/,
  },
  {
    name: "run.json is deleted",
    act: (data) => rmSync(join(data, "run.json")),
    says: /run\.json: another program deleted or changed this file/,
  },
  {
    name: "run.json is emptied",
    act: (data) => truncateSync(join(data, "run.json")),
    says: /run\.json: another program deleted or changed this file/,
  },
  {
    name: "the index files are deleted",
    act(data) {
      for (const name of ["requests.idx", "events.idx"]) rmSync(join(data, name), { force: true });
    },
    says: /(?:)/,
  },
  {
    name: "all files are deleted, as by git clean",
    act(data) {
      for (const name of readdirSync(data)) rmSync(join(data, name), { recursive: true, force: true });
    },
    says: /traffic\.ndjson: another program deleted or moved this file/,
  },
  {
    name: "the folder is moved",
    act: (data) => renameSync(data, `${data}.moved-${process.hrtime.bigint()}`),
    says: /traffic\.ndjson: another program deleted or moved this file/,
  },
];
