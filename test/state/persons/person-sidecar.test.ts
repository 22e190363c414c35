import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { type Bytes, FileBytes } from "../../../src/kernel/store/bytes.ts";
import {
  groupLine,
  groupTypeLine,
  hashKeysLine,
  idLine,
  personLine,
  personlessLine,
  readLine,
} from "../../../src/state/persons/store/line.ts";
import { LineLog } from "../../../src/state/persons/store/log.ts";
import { Sidecar } from "../../../src/state/persons/store/sidecar.ts";
import { keyHash, PersonStoreState } from "../../../src/state/persons/store/state.ts";
import { group, newFolder, person } from "./person-fixture.ts";

/** Bytes of the log before the place that an index covers whose change is noticed. */
const printed = 4096;

const ann = person(1, { pad: "x".repeat(2 * printed) });
const lines = [
  personLine(ann),
  idLine(1, "a", ann.uuid),
  personlessLine(1, "p"),
  hashKeysLine({ project: 1, uuid: ann.uuid, keys: new Map([["flag", "a"]]) }),
  groupTypeLine(2, "company"),
  groupLine(group(0, "acme", { pad: "y".repeat(printed) }, 2)),
];

function open(folder: string) {
  const bytes = new FileBytes(join(folder, "people.ndjson"));
  const log = new LineLog(bytes);
  const state = new PersonStoreState(log, keyHash);
  const path = join(folder, "people.idx");
  return { bytes, log, state, path, sidecar: new Sidecar(path, state) };
}

function fill({ log, state }: ReturnType<typeof open>, added: readonly string[]): void {
  for (const line of added) {
    const offset = log.append(line);
    state.apply(readLine(line), { offset, length: log.end - offset });
  }
  log.flush();
}

/** A folder with a log and an index of all of it. */
function saved(content: readonly string[] = lines): string {
  const folder = newFolder();
  const made = open(folder);
  fill(made, content);
  made.sidecar.saveNow(made.bytes);
  expect(made.sidecar.covered).toBe(made.bytes.size);
  made.bytes.close();
  return folder;
}

interface Loaded {
  covered: number;
  isWhole: boolean;
  steps: number;
  state: PersonStoreState;
}

/** What a start takes over of an index. */
function load(folder: string): Loaded {
  const { bytes, state, sidecar } = open(folder);
  sidecar.open(bytes);
  const { covered } = sidecar;
  const filling = sidecar.fill();
  for (let steps = 0; ; steps++) {
    const next = filling.next();
    if (!next.done) continue;
    if (!next.value) expect(sidecar.covered).toBe(0);
    return { covered, isWhole: next.value, steps, state };
  }
}

const edit = (file: string, change: (bytes: Buffer) => Buffer | undefined): void => {
  const bytes = readFileSync(file);
  writeFileSync(file, change(bytes) ?? bytes);
};

/** The index files that this process has open. */
const openIn = (folder: string): string[] =>
  readdirSync("/proc/self/fd").flatMap((fd) => {
    try {
      const file = readlinkSync(`/proc/self/fd/${fd}`);
      return file.startsWith(join(folder, "people.idx")) ? [file] : [];
    } catch {
      // The list itself was open while it was made.
      return [];
    }
  });

const flipped = (at: number) => (bytes: Buffer) => {
  const place = at < 0 ? bytes.length + at : at;
  bytes.writeUInt8(bytes.readUInt8(place) ^ 1, place);
  return bytes;
};

describe("an index of people", () => {
  test("holds the rows of all tables, and what is known of projects", () => {
    const folder = saved();
    const { covered, isWhole, steps, state } = load(folder);
    expect([covered, isWhole, steps]).toEqual([statSync(join(folder, "people.ndjson")).size, true, 4]);
    expect(state.projects.entries).toEqual([
      { project: 1, persons: 1, ids: 1, personless: 1, groups: 0, groupTypes: [] },
      { project: 2, persons: 0, ids: 0, personless: 0, groups: 1, groupTypes: ["company"] },
    ]);
    expect(state.persons.at(state.findPerson(1, ann.uuid))).toEqual(ann);
    expect(state.ids.person(state.findId(1, "a"))).toBe(state.findPerson(1, ann.uuid));
    expect(state.ids.person(state.findId(1, "p"))).toBe(-1);
    expect(state.findGroup(2, 0, "acme")).toBe(0);
    expect(state.findHashKeys(1, ann.uuid)).toBe(0);
    for (const { table } of [state.persons, state.ids, state.groups, state.hashKeys]) {
      const rows = Array.from({ length: table.rows.length }, (_, row) => table.place(row).length * 0.75);
      expect(table.living).toBe(rows.reduce((sum, it) => sum + it, 0));
    }
  });

  test("of several pages, each of which is a step", () => {
    const ids = Array.from({ length: 16_385 }, (_, i) => personlessLine(1, `p${i}`));
    const folder = saved(ids);
    const { isWhole, steps, state } = load(folder);
    expect([isWhole, steps]).toEqual([true, 2]);
    expect(["p0", "p16383", "p16384", "p16385"].map((id) => state.findId(1, id))).toEqual([0, 16_383, 16_384, -1]);
    edit(join(folder, "people.idx"), flipped(-100));
    expect(load(folder)).toMatchObject({ isWhole: false, steps: 1 });
  });

  test("says how much it would write", () => {
    const made = open(newFolder());
    expect(made.sidecar.size).toBe(0);
    fill(made, lines);
    // Two ids, with five columns of four bytes; a person, a group and keys with four.
    expect(made.sidecar.size).toBe(2 * 20 + 3 * 16);
  });

  test("is none before it is written", () => {
    expect(load(newFolder())).toMatchObject({ covered: 0, isWhole: false });
  });

  const start = "phx-people-3-LE\n".length;
  test.each<[name: string, change: (bytes: Buffer) => Buffer]>([
    ["is empty", () => Buffer.alloc(0)],
    ["is of another version", flipped("phx-people-".length)],
    ["is of another length", flipped(start + 11)],
    [
      "has no length",
      (bytes) => Buffer.concat([bytes.subarray(0, start), Buffer.from("x".repeat(12)), bytes.subarray(start + 12)]),
    ],
    ["has another checksum", flipped(start + 23)],
    ["has a damaged head", flipped(start + 24 + 20)],
    ["is cut by a byte", (bytes) => bytes.subarray(0, -1)],
    ["is cut in its head", (bytes) => bytes.subarray(0, start + 30)],
    ["lacks a part of its rows", (bytes) => Buffer.concat([bytes.subarray(0, -100), bytes.subarray(-start)])],
    ["is longer by a byte", (bytes) => Buffer.concat([bytes, Buffer.from("\n")])],
    ["has another end", flipped(-2)],
  ])("that %s is not used", (_, change) => {
    const folder = saved();
    edit(join(folder, "people.idx"), change);
    const { covered, isWhole, steps, state } = load(folder);
    expect([covered, isWhole, steps]).toEqual([0, false, 0]);
    expect(state.projects.entries).toEqual([]);
    expect(state.persons.table.living).toBe(0);
  });

  test.each([0, 1, 2, 3])("with a damaged page of table %i is not used", (table) => {
    const folder = saved();
    const path = join(folder, "people.idx");
    const sizes = [5, 4, 4, 4].map((width) => width * 4 * 16_384);
    const end = statSync(path).size - start - sizes.slice(table).reduce((sum, it) => sum + it, 0);
    for (const at of [0, (sizes[table] ?? 0) - 1]) {
      edit(path, flipped(end + at));
      expect(load(folder)).toMatchObject({ isWhole: false, steps: table });
      edit(path, flipped(end + at));
    }
    expect(load(folder).isWhole).toBe(true);
  });

  test("covers what was there when it was written, also after more came", () => {
    const folder = saved();
    const log = join(folder, "people.ndjson");
    const { size } = statSync(log);
    appendFileSync(log, `${personlessLine(1, "later")}\n`);
    expect(load(folder)).toMatchObject({ covered: size, isWhole: true });
  });

  test("of a short log that is changed at its start", () => {
    const folder = saved([personlessLine(1, "p")]);
    edit(join(folder, "people.ndjson"), flipped(0));
    expect(load(folder).covered).toBe(0);
  });

  test("is for its owner only", () => {
    expect(statSync(join(saved(), "people.idx")).mode & 0o777).toBe(0o600);
  });

  test.runIf(process.platform === "linux")("leaves no file open", () => {
    const folder = saved();
    load(folder);
    expect(openIn(folder)).toEqual([]);
  });

  test.each([
    ["shorter", (bytes: Buffer) => bytes.subarray(0, -1), false],
    ["changed at its end", flipped(-1), false],
    ["changed in its last 4 KB", flipped(-printed), false],
    // Such a change is found when the line is read.
    ["changed before them", flipped(-printed - 1), true],
  ])("of a log that is %s", (_, change, isUsed) => {
    const folder = saved();
    edit(join(folder, "people.ndjson"), change);
    const { covered, isWhole } = load(folder);
    expect([covered > 0, isWhole]).toEqual([isUsed, isUsed]);
  });
});

describe("while the sim runs", () => {
  const settled = async (holds: () => boolean): Promise<void> => {
    while (!holds()) await nextTurn();
  };
  const running = () => {
    const folder = newFolder();
    const made = open(folder);
    fill(made, lines);
    return { ...made, folder };
  };
  const sizeOf = (bytes: Bytes) => bytes.size;

  test("it is put in place once the disk has it, and covers what was there when it was begun", async () => {
    const { sidecar, bytes, path, folder, ...made } = running();
    const size = sizeOf(bytes);
    sidecar.save(bytes);
    expect([sidecar.covered, existsSync(path)]).toEqual([0, false]);
    fill({ sidecar, bytes, path, ...made }, [personlessLine(1, "later")]);
    await settled(() => existsSync(path));
    await settled(() => sidecar.covered > 0);
    expect(sidecar.covered).toBe(size);
    expect(existsSync(`${path}.tmp`)).toBe(false);
    expect(load(folder)).toMatchObject({ covered: size, isWhole: true });
  });

  test("what was dropped meanwhile is not put in place", async () => {
    const { sidecar, bytes, path, folder } = running();
    sidecar.save(bytes);
    sidecar.drop();
    writeFileSync(`${path}.tmp`, "of another process");
    const other = join(folder, "other");
    mkdirSync(other);
    const later = new Sidecar(join(other, "people.idx"), open(folder).state);
    later.save(bytes);
    await settled(() => later.covered > 0);
    if (process.platform === "linux") await settled(() => openIn(folder).length === 0);
    for (let turn = 0; turn < 100; turn++) await nextTurn();
    expect([sidecar.covered, existsSync(path)]).toEqual([0, false]);
  });

  test("the last one that was begun counts", async () => {
    const { sidecar, bytes, path, folder, ...made } = running();
    sidecar.save(bytes);
    fill({ sidecar, bytes, path, ...made }, [personlessLine(1, "later")]);
    sidecar.save(bytes);
    await settled(() => sidecar.covered > 0);
    expect(sidecar.covered).toBe(sizeOf(bytes));
    expect(load(folder)).toMatchObject({ covered: sizeOf(bytes), isWhole: true });
  });

  test("the end overtakes what was begun", async () => {
    const { sidecar, bytes, path, folder, ...made } = running();
    sidecar.save(bytes);
    fill({ sidecar, bytes, path, ...made }, [personlessLine(1, "later")]);
    sidecar.saveNow(bytes);
    writeFileSync(`${path}.tmp`, "of another process");
    const size = sizeOf(bytes);
    for (let turn = 0; turn < 100; turn++) await nextTurn();
    expect(sidecar.covered).toBe(size);
    expect(load(folder)).toMatchObject({ covered: size, isWhole: true });
  });

  test("dropping it removes it", () => {
    const { sidecar, bytes, path, folder } = running();
    sidecar.saveNow(bytes);
    sidecar.drop();
    expect([sidecar.covered, existsSync(path)]).toEqual([0, false]);
    expect(load(folder)).toMatchObject({ covered: 0, isWhole: false });
  });
});
