import { type Json, own } from "../../kernel/base/json.ts";
import { groupKeyText, type Person } from "../../state/persons/person.ts";
import type { PersonStore } from "../../state/persons/person-store.ts";
import type { EventRows, PropertyColumn } from "./event-rows.ts";
import { rowsPerStep, type Steps, type ValueColumn } from "./table.ts";
import { distinctJson, withRoom } from "./values.ts";

type PersonStoreChange = Parameters<Parameters<PersonStore["onChange"]>[0]>[0];

/** What a joined column is made of: a code for each row, and a value for each code. */
interface JoinSource {
  readonly byRow: Uint32Array;
  readonly rows: number;
  /** Changes when rows get other codes. */
  readonly version: unknown;
  /** Number of codes. */
  readonly codes: number;
  valueFor(code: number): Json | undefined;
}

/** A current property of the persons, or of the groups, of events. */
export interface JoinedColumn extends ValueColumn {
  /** Rows that are joined. */
  readonly length: number;
  /** Another object once rows that were joined have other codes. */
  readonly version: object;
  /** What it takes, in bytes. */
  readonly bytes: number;
  /** Reads the values of these codes again, all if it is undefined. */
  refresh(codes: Iterable<number> | undefined, valueFor: JoinSource["valueFor"]): void;
  /** Joins the rows that are new. */
  join(source: JoinSource): Steps<void>;
}

/** Values that no code has any more, above which all are read again. */
const mostUnused = 10_000;

export function createJoinedColumn(): JoinedColumn {
  let distinct = distinctJson();
  let byCode = new Uint32Array(0);
  let known = 0;
  let codes = new Uint32Array(0);
  let length = 0;
  let version = {};
  let joinedVersion: unknown;
  return {
    get codes() {
      return codes;
    },
    get values() {
      return distinct.values;
    },
    get length() {
      return length;
    },
    get version() {
      return version;
    },
    get bytes() {
      return byCode.byteLength + codes.byteLength + distinct.bytes;
    },
    refresh(changed, valueFor) {
      if (changed === undefined || distinct.values.length > known + mostUnused) {
        distinct = distinctJson();
        known = 0;
        length = 0;
        return;
      }
      for (const code of changed) {
        if (code >= known) continue;
        const value = distinct.codeOf(valueFor(code));
        if (byCode[code] !== value) length = 0;
        byCode[code] = value;
      }
    },
    *join(source) {
      byCode = withRoom(byCode, source.codes);
      for (; known < source.codes; known++) {
        byCode[known] = known === 0 ? 0 : distinct.codeOf(source.valueFor(known));
        yield;
      }
      if (joinedVersion !== source.version) length = 0;
      joinedVersion = source.version;
      if (length === 0) {
        // tables have the codes of before
        codes = new Uint32Array(source.rows);
        version = {};
      }
      codes = withRoom(codes, source.rows);
      for (; length < source.rows; length++) {
        codes[length] = byCode[source.byRow[length] ?? 0] ?? 0;
        if (length % rowsPerStep === 0) yield;
      }
    },
  };
}

/** What changed since people were read. */
interface Stale {
  isAll: boolean;
  readonly ids: Set<string>;
  /** Uuids of persons that lost their ids, and of all that changed. */
  readonly owners: Set<string>;
  readonly persons: Set<string>;
}

/** Above this number of changes all are read again. */
const mostStale = 20_000;

const freshStale = (isAll: boolean): Stale => ({ isAll, ids: new Set(), owners: new Set(), persons: new Set() });

/** undefined: perhaps of all. */
function projectOf(change: PersonStoreChange): number | undefined {
  if (change?.kind === "person") return change.person.project;
  if (change?.kind === "group") return change.group.project;
  return change?.kind === "hash_keys" ? change.keys.project : change?.project;
}

function noteChange(stale: Stale, change: PersonStoreChange): void {
  if (change?.kind === "id") stale.ids.add(change.distinctId);
  else if (change?.kind === "person") stale.persons.add(change.person.uuid);
  else if (change?.kind === "gone" || change?.kind === "removed") {
    stale.owners.add(change.uuid);
    stale.persons.add(change.uuid);
  } else if (change === undefined || change.kind === "clear") stale.isAll = true;
  if (stale.ids.size + stale.persons.size > mostStale) stale.isAll = true;
}

/** A property of groups: their keys are a column of the events. */
interface GroupJoin {
  readonly type: number;
  readonly name: string;
  readonly keys: PropertyColumn;
  readonly column: JoinedColumn;
}

/** A property of persons. */
export interface PersonJoin {
  readonly name: string;
  readonly column: JoinedColumn;
}

/** Joins the persons and groups of now to the events of a project. Of people that changed, only those are read again. */
export interface Joins {
  /** The person of each row: the one that has its distinct id; if there is none, the one of when it arrived. */
  readonly persons: Uint32Array;
  /** Rows whose persons are joined. */
  readonly length: number;
  /** Another object once rows that were joined have other persons. */
  readonly version: object;
  /** True if people changed since the persons were joined. */
  readonly isStale: boolean;
  /** To be called with each change of people. */
  note(change: PersonStoreChange): void;
  /** Joins the persons, and these of their properties. `known`: all columns of persons' properties. */
  readPersons(wanted: readonly PersonJoin[], known: readonly PersonJoin[]): Steps<void>;
  readGroups(wanted: readonly GroupJoin[]): Steps<void>;
  /** True if groups did not change since a column of their properties was read. */
  isCurrent(column: JoinedColumn): boolean;
}

export function createJoins(people: PersonStore, project: number, rows: EventRows): Joins {
  let stale = freshStale(true);
  let groupVersion = {};
  /** The version that a column of groups' properties was read at. */
  const readAt = new WeakMap<JoinedColumn, object>();
  /** The stored person of each distinct id, 0 for none; and an id of each person, 0 for none that is known. */
  let owners = new Uint32Array(0);
  let ids = 0;
  let idOf = new Uint32Array(0);
  let codes = new Uint32Array(0);
  let length = 0;
  /** Changes when a row that was joined gets another person. */
  let version = {};

  const idTexts = () => rows.idTexts.values;
  const personTexts = () => rows.personTexts.values;

  function readOwner(id: number): void {
    const person = people.personOf(project, idTexts()[id] ?? "");
    const owner = person ? rows.personTexts.codeOf(person.uuid) : 0;
    if (id < ids && owners[id] !== owner) length = 0;
    owners[id] = owner;
    if (owner === 0) return;
    idOf = withRoom(idOf, owner + 1);
    idOf[owner] = id;
  }

  function* readOwners({ isAll, ids: texts, owners: lost }: Stale): Steps<void> {
    if (isAll) {
      ids = 0;
      length = 0;
    }
    owners = withRoom(owners, idTexts().length);
    for (const text of texts) {
      const id = rows.idTexts.find(text);
      if (id !== undefined && id < ids) readOwner(id);
    }
    const gone = new Set([...lost].map(rows.personTexts.find));
    for (let id = 0; gone.size > 0 && id < ids; id++) {
      if (owners[id] !== 0 && gone.has(owners[id])) readOwner(id);
      if (id % rowsPerStep === 0) yield;
    }
    const end = idTexts().length;
    for (; ids < end; ids++) {
      readOwner(ids);
      yield;
    }
  }

  function* joinRows(): Steps<void> {
    const end = rows.length;
    if (length === 0) {
      // tables have the codes of before
      codes = new Uint32Array(end);
      version = {};
    }
    codes = withRoom(codes, end);
    for (; length < end; length++) {
      codes[length] = owners[rows.ids[length] ?? 0] || (rows.persons[length] ?? 0);
      if (length % rowsPerStep === 0) yield;
    }
  }

  function personOf(code: number): Person | undefined {
    const uuid = personTexts()[code] ?? "";
    const id = idOf[code] ?? 0;
    const found = id === 0 ? undefined : people.personOf(project, idTexts()[id] ?? "");
    return found?.uuid === uuid ? found : people.person(project, uuid);
  }

  const propertyOf =
    (name: string) =>
    (code: number): Json | undefined => {
      const person = personOf(code);
      return person && own(person.properties, name);
    };

  function* readPersons(wanted: readonly PersonJoin[], known: readonly PersonJoin[], changed: Stale): Steps<void> {
    yield* readOwners(changed);
    yield* joinRows();
    const persons = [...changed.persons].flatMap((it) => rows.personTexts.find(it) ?? []);
    for (const { column, name } of known) {
      column.refresh(changed.isAll ? undefined : persons, propertyOf(name));
      yield;
    }
    const source = { byRow: codes, rows: length, version, codes: personTexts().length };
    for (const { column, name } of wanted) yield* column.join({ ...source, valueFor: propertyOf(name) });
  }

  return {
    get persons() {
      return codes;
    },
    get length() {
      return length;
    },
    get version() {
      return version;
    },
    get isStale() {
      return stale.isAll || stale.ids.size + stale.persons.size > 0;
    },
    note(change) {
      if ((projectOf(change) ?? project) !== project) return;
      noteChange(stale, change);
      if (change === undefined || change.kind === "clear" || change.kind === "group") groupVersion = {};
    },
    *readPersons(wanted, known) {
      const changed = stale;
      stale = freshStale(false);
      let isDone = false;
      try {
        yield* readPersons(wanted, known, changed);
        isDone = true;
      } finally {
        if (!isDone) stale.isAll = true;
      }
    },
    isCurrent: (column) => readAt.get(column) === groupVersion,
    *readGroups(wanted) {
      for (const { type, name, keys, column } of wanted) {
        const at = groupVersion;
        const valueFor = (code: number): Json | undefined => {
          const group = people.group(project, type, groupKeyText(keys.distinct.values[code]));
          return group && own(group.properties, name);
        };
        if (readAt.get(column) !== at) column.refresh(undefined, valueFor);
        const source = { byRow: keys.codes, rows: keys.length, version: keys };
        yield* column.join({ ...source, codes: keys.distinct.values.length, valueFor });
        readAt.set(column, at);
      }
    },
  };
}
