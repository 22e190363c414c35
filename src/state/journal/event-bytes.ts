import type { Json } from "../../kernel/base/json.ts";
import type { EventFacts } from "./event.ts";
import { factsProperty, isOfItem, keptProperty, keysOf } from "./show.ts";
import type { EventKey, TrafficLine } from "./traffic.ts";

/** The bytes of a request's line, and the seqs of those of its events that are to be read. */
export interface LineBytes {
  readonly bytes: Buffer;
  readonly seqs: readonly number[];
}

/** A value of an event: JSON in the bytes of its line, or made of it. */
export interface EventValue {
  /** The place in the bytes; equal for a missing value. */
  from: number;
  to: number;
  /** Set if the bytes do not have the value as it is stored. */
  made: { readonly value: Json | undefined } | undefined;
}

/** An event in the bytes of a line. A reader has one object for all events. */
export interface EventBytes {
  bytes: Buffer;
  seq: number;
  shape: "legacy" | "v1";
  /** ms since the epoch */
  time: number;
  /** As sent, with the limits of `EventKey` still to be applied; `made` has them. */
  readonly name: EventValue;
  readonly id: EventValue;
  readonly person: EventValue;
  /** In the order of the reader's names. */
  readonly properties: readonly EventValue[];
}

/** Events between two yields of a reader. */
const eventsPerStep = 64;

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const colon = 0x3a;
const openArray = 0x5b;
const closeArray = 0x5d;
const openObject = 0x7b;
const closeObject = 0x7d;
const letterN = 0x6e;
const space = 0x20;

/** From inside of a string to behind its closing quote. */
function afterString(bytes: Buffer, from: number): number {
  const end = bytes.length;
  for (let at = from; at < end; at++) {
    const byte = bytes[at];
    if (byte === quote) return at + 1;
    if (byte === backslash) at++;
  }
  return end;
}

/** From the start of a value to behind it. */
function afterValue(bytes: Buffer, from: number): number {
  const end = bytes.length;
  const first = bytes[from];
  let at = from + 1;
  if (first === quote) return afterString(bytes, at);
  if (first !== openObject && first !== openArray) {
    for (; at < end; at++) {
      const byte = bytes[at] ?? 0;
      if (byte === comma || byte === closeObject || byte === closeArray || byte <= space) break;
    }
    return at;
  }
  for (let depth = 1; depth > 0 && at < end; ) {
    const byte = bytes[at++];
    if (byte === quote) at = afterString(bytes, at);
    else if (byte === openObject || byte === openArray) depth++;
    else if (byte === closeObject || byte === closeArray) depth--;
  }
  return at;
}

/** Behind blanks, and commas between members. */
function afterBlanks(bytes: Buffer, from: number): number {
  let at = from;
  for (let byte = bytes[at] ?? quote; byte <= space || byte === comma; byte = bytes[++at] ?? quote);
  return at;
}

/** From behind a key to its value. */
function valueAfter(bytes: Buffer, from: number): number {
  let at = from;
  for (let byte = bytes[at] ?? quote; byte <= space || byte === colon; byte = bytes[++at] ?? quote);
  return at;
}

/** True if the bytes of [from, to) are these. */
function isText(bytes: Buffer, from: number, to: number, text: Buffer): boolean {
  if (to - from !== text.length) return false;
  for (let i = 0; i < text.length; i++) if (bytes[from + i] !== text[i]) return false;
  return true;
}

const jsonIn = (bytes: Buffer, from: number, to: number): Json => JSON.parse(bytes.toString("utf8", from, to));

/** Keys that are looked for, as bytes. */
const keys = {
  seq: Buffer.from("seq"),
  shape: Buffer.from("shape"),
  events: Buffer.from("events"),
  body: Buffer.from("body"),
  time: Buffer.from("time"),
  person: Buffer.from("person"),
  uuid: Buffer.from("uuid"),
  batch: Buffer.from("batch"),
  apiKey: Buffer.from("api_key"),
  token: Buffer.from("token"),
  event: Buffer.from("event"),
  distinctId: Buffer.from("distinct_id"),
  $distinctId: Buffer.from("$distinct_id"),
  properties: Buffer.from("properties"),
};

/** Places that are noted of an item: pairs of numbers, after which those of the properties follow. */
const place = { item: 0, name: 2, id: 4, otherId: 6, propertyId: 8, properties: 10 } as const;

/** Reads chosen properties of events from the bytes of their lines, and parses only what is unusual. */
export interface EventBytesReader {
  /** Calls `use` for each of the line's events that is to be read, in order. */
  read(line: LineBytes, use: (event: EventBytes) => void): Generator<undefined, void, undefined>;
}

const missing = (): EventValue => ({ from: 0, to: 0, made: undefined });

export function createEventBytesReader(names: readonly string[]): EventBytesReader {
  const wanted = names.map((name) => Buffer.from(name));
  /** 1 for each length, up to 255, of a name that is looked for. */
  const lengths = new Uint8Array(256);
  for (const { length } of [keys.distinctId, ...wanted]) lengths[Math.min(length, 255)] = 1;
  const stride = place.properties + 2 * wanted.length;

  let bytes: Buffer = Buffer.alloc(0);
  /** True once a key with an escape was passed. */
  let isEscaped = false;
  /** The places of items: the body itself first, then the items of its array. */
  let places = new Int32Array(stride * 2);
  /** 1 for items with keys that must be unescaped. */
  let odd = new Uint8Array(2);
  let items = 0;
  let times = new Float64Array(1);
  /** For each event: its person, and its facts if they are unusual. */
  let facts = new Int32Array(4);

  function keyEnd(from: number): number {
    const here = bytes;
    for (let at = from; at < here.length; at++) {
      const byte = here[at];
      if (byte === quote) return at;
      if (byte === backslash) {
        isEscaped = true;
        at++;
      }
    }
    return here.length;
  }

  function note(base: number, what: number, from: number, to: number): void {
    places[base + what] = from;
    places[base + what + 1] = to;
  }

  /** Notes the wanted properties. @returns where the object ends */
  function readProperties(from: number, base: number): number {
    const here = bytes;
    let at = afterBlanks(here, from + 1);
    while (here[at] === quote) {
      const keyFrom = at + 1;
      const keyTo = keyEnd(keyFrom);
      const valueFrom = valueAfter(here, keyTo + 1);
      const valueTo = afterValue(here, valueFrom);
      const length = keyTo - keyFrom;
      if (lengths[length < 255 ? length : 255] === 1) {
        if (isText(here, keyFrom, keyTo, keys.distinctId)) note(base, place.propertyId, valueFrom, valueTo);
        for (let k = 0; k < wanted.length; k++) {
          const name = wanted[k];
          if (name && isText(here, keyFrom, keyTo, name)) note(base, place.properties + 2 * k, valueFrom, valueTo);
        }
      }
      at = afterBlanks(here, valueTo);
    }
    return at + 1;
  }

  /** Notes a member of an item; a later one of the same name wins. @returns where its value ends */
  function readMember(keyFrom: number, keyTo: number, valueFrom: number, base: number): number {
    const length = keyTo - keyFrom;
    if (length === 10 && isText(bytes, keyFrom, keyTo, keys.properties)) {
      places.fill(0, base + place.propertyId, base + stride);
      if (bytes[valueFrom] === openObject) return readProperties(valueFrom, base);
    }
    const valueTo = afterValue(bytes, valueFrom);
    const from = bytes[valueFrom] === letterN ? 0 : valueFrom;
    const to = from === 0 ? 0 : valueTo;
    if (length === 5 && isText(bytes, keyFrom, keyTo, keys.event)) note(base, place.name, from, to);
    else if (length === 11 && isText(bytes, keyFrom, keyTo, keys.distinctId)) note(base, place.id, from, to);
    else if (length === 12 && isText(bytes, keyFrom, keyTo, keys.$distinctId)) note(base, place.otherId, from, to);
    return valueTo;
  }

  /** Makes room for the places of an item. @returns where they begin */
  function placesOf(item: number): number {
    const base = item * stride;
    if (base + stride > places.length) {
      const larger = new Int32Array(places.length * 2);
      larger.set(places);
      places = larger;
      const more = new Uint8Array(places.length / stride);
      more.set(odd);
      odd = more;
    }
    places.fill(0, base, base + stride);
    odd[item] = 0;
    return base;
  }

  /** Notes an item. @returns where it ends */
  function readItem(from: number, item: number): number {
    const base = placesOf(item);
    isEscaped = false;
    let at = afterBlanks(bytes, from + 1);
    while (bytes[at] === quote) {
      const keyTo = keyEnd(at + 1);
      at = afterBlanks(bytes, readMember(at + 1, keyTo, valueAfter(bytes, keyTo + 1), base));
    }
    note(base, place.item, from, at + 1);
    if (isEscaped) odd[item] = 1;
    return at + 1;
  }

  /** Notes the items of an array. @returns where it ends */
  function* readItems(from: number): Generator<undefined, number, undefined> {
    items = 0;
    let at = afterBlanks(bytes, from + 1);
    while (at < bytes.length && bytes[at] !== closeArray) {
      items++;
      if (bytes[at] === openObject) at = readItem(at, items);
      else {
        const to = afterValue(bytes, at);
        note(placesOf(items), place.item, at, to);
        odd[items] = 1;
        at = to;
      }
      at = afterBlanks(bytes, at);
      if (items % eventsPerStep === 0) yield;
    }
    return at + 1;
  }

  /** Notes the items of a body. @returns true if the body is the one item */
  function* readBody(from: number, isV1: boolean): Generator<undefined, boolean, undefined> {
    if (bytes[from] === openArray && !isV1) {
      yield* readItems(from);
      return false;
    }
    placesOf(0);
    if (bytes[from] !== openObject) {
      odd[0] = 1;
      note(0, place.item, from, afterValue(bytes, from));
      return !isV1;
    }
    let hasBatch = false;
    /** First bytes of the keys of the project. */
    let [apiKey, token]: (number | undefined)[] = [undefined, undefined];
    let isOdd = false;
    let at = afterBlanks(bytes, from + 1);
    while (bytes[at] === quote) {
      isEscaped = false;
      const keyFrom = at + 1;
      const keyTo = keyEnd(keyFrom);
      const valueFrom = valueAfter(bytes, keyTo + 1);
      const first = bytes[valueFrom];
      isOdd ||= isEscaped;
      if (isText(bytes, keyFrom, keyTo, keys.batch)) {
        hasBatch = first === openArray;
        at = afterBlanks(bytes, hasBatch ? yield* readItems(valueFrom) : afterValue(bytes, valueFrom));
        continue;
      }
      if (isText(bytes, keyFrom, keyTo, keys.apiKey)) apiKey = first;
      if (isText(bytes, keyFrom, keyTo, keys.token)) token = first;
      at = afterBlanks(bytes, readMember(keyFrom, keyTo, valueFrom, 0));
      isOdd ||= isEscaped;
    }
    note(0, place.item, from, at + 1);
    if (isOdd) odd[0] = 1;
    if (!hasBatch) items = 0;
    if (isV1) return false;
    const key = apiKey === undefined || apiKey === letterN ? token : apiKey;
    const name = places[place.name] ?? 0;
    return !(hasBatch && (name === 0 || bytes[name] !== quote || key === quote));
  }

  function numberIn(from: number, to: number): number {
    let value = 0;
    for (let at = from; at < to; at++) {
      const digit = (bytes[at] ?? 0) - 0x30;
      if (digit < 0 || digit > 9) return Number(bytes.toString("latin1", from, to));
      value = value * 10 + digit;
    }
    return value;
  }

  /** Notes time, person and place of the facts of an event. @returns where they end */
  function readFacts(from: number, index: number): number {
    if (index >= times.length) {
      const [moreTimes, moreFacts] = [new Float64Array(index * 2), new Int32Array(index * 8)];
      moreTimes.set(times);
      moreFacts.set(facts);
      [times, facts] = [moreTimes, moreFacts];
    }
    const base = index * 4;
    facts.fill(0, base, base + 4);
    let isUsual = true;
    let at = afterBlanks(bytes, from + 1);
    while (bytes[at] === quote) {
      const keyFrom = at + 1;
      const keyTo = keyEnd(keyFrom);
      const valueFrom = valueAfter(bytes, keyTo + 1);
      const valueTo = afterValue(bytes, valueFrom);
      if (isText(bytes, keyFrom, keyTo, keys.time)) times[index] = numberIn(valueFrom, valueTo);
      else if (!isText(bytes, keyFrom, keyTo, keys.person)) isUsual &&= isText(bytes, keyFrom, keyTo, keys.uuid);
      else if (bytes[valueFrom] === quote) {
        facts[base] = valueFrom;
        facts[base + 1] = valueTo;
      }
      at = afterBlanks(bytes, valueTo);
    }
    if (!isUsual) {
      facts[base + 2] = from;
      facts[base + 3] = at + 1;
    }
    return at + 1;
  }

  const event = {
    ...{ bytes, seq: 0, shape: "legacy" as EventBytes["shape"], time: 0 },
    ...{ name: missing(), id: missing(), person: missing(), properties: names.map(missing) },
  } satisfies EventBytes;

  /** For each name: true if the bytes of an item may have its value as it is stored. */
  const isSent = {
    legacy: names.map((name) => isOfItem("legacy", name)),
    v1: names.map((name) => isOfItem("v1", name)),
  };

  function take(value: EventValue, at: number): void {
    value.from = places[at] ?? 0;
    value.to = places[at + 1] ?? 0;
    value.made = undefined;
  }

  const make = (to: EventValue, value: Json | undefined): void => {
    to.from = to.to;
    to.made = { value };
  };

  /** The facts of an event; the usual ones are not parsed. */
  function factsOf(index: number): EventFacts {
    const [from = 0, to = 0] = facts.subarray(index * 4 + 2, index * 4 + 4);
    if (from === to) return { uuid: null, time: times[index] ?? 0, person: null };
    // written by phx-sim: it is checked
    return jsonIn(bytes, from, to) as unknown as EventFacts;
  }

  /** What is known of a line once its members are passed. */
  interface PassedLine {
    /** Seq of its first event, and how many there are. */
    first: number;
    count: number;
    /** True if the body is the one item. */
    isSelf: boolean;
    /** Places of the members that are neither facts nor body. */
    head: number[];
    /** The same members, and the whole line, once they are parsed. */
    headLine?: TrafficLine;
    wholeLine?: TrafficLine;
    keys?: readonly EventKey[];
  }

  /** A line that has one event alone, and its index in it: the whole line if its body is unusual. */
  function parsed(passed: PassedLine, index: number, item: number): [line: TrafficLine, index: number] {
    if (odd[0] === 1) {
      passed.wholeLine ??= jsonIn(bytes, 0, bytes.length) as unknown as TrafficLine;
      return [passed.wholeLine, index];
    }
    if (!passed.headLine) {
      const members: string[] = [];
      for (let i = 0; i < passed.head.length; i += 2)
        members.push(bytes.toString("utf8", passed.head[i], passed.head[i + 1]));
      passed.headLine = JSON.parse(`{${members.join()}}`) as TrafficLine;
    }
    const line: TrafficLine = { ...passed.headLine, events: [factsOf(index)] };
    if (item !== -1) {
      const at = item * stride + place.item;
      const found = jsonIn(bytes, places[at] ?? 0, places[at + 1] ?? 0);
      line.body = passed.isSelf ? found : event.shape === "v1" ? { batch: [found] } : [found];
    }
    return [line, 0];
  }

  function keyOf(passed: PassedLine, line: TrafficLine, index: number): EventKey | undefined {
    if (line !== passed.wholeLine) return keysOf(line)[index];
    passed.keys ??= keysOf(line);
    return passed.keys[index];
  }

  /** Makes the values of an event that the bytes do not have. */
  function makeValues(passed: PassedLine, index: number, item: number): void {
    const isUnusual = (facts[index * 4 + 3] ?? 0) > 0;
    // an item of /engage may leave its name out
    const isNameless = passed.isSelf && event.name.from === event.name.to;
    const isAlone = odd[0] === 1 || item === -1 || odd[item] === 1 || isNameless;
    const sent = isSent[event.shape];
    const hasOthers = sent.includes(false);
    if (!isAlone && !isUnusual && !hasOthers) return;
    const own = factsOf(index);
    const [line, at] = isAlone || hasOthers ? parsed(passed, index, item) : [undefined, 0];
    for (let k = 0; k < names.length; k++) {
      const [value, name] = [event.properties[k], names[k]];
      if (value === undefined || name === undefined) continue;
      if (line && (isAlone || !sent[k])) make(value, keptProperty(line, at, name));
      else {
        const decided = factsProperty(own, name);
        if (decided) make(value, decided.value);
      }
    }
    if (own.id !== undefined && !isAlone) make(event.id, own.id);
    if (!isAlone || !line) return;
    const key = keyOf(passed, line, at);
    make(event.name, key?.event ?? "");
    make(event.id, key?.distinct_id ?? "");
  }

  /** Where the distinct id of an item is, as `idText` and `v1Key` find it. */
  function placeOfId(base: number): number {
    if (event.shape === "v1" || (places[base + place.id] ?? 0) > 0) return place.id;
    return (places[base + place.otherId] ?? 0) > 0 ? place.otherId : place.propertyId;
  }

  function readEvent(passed: PassedLine, index: number): void {
    const item = passed.isSelf ? (index === 0 ? 0 : -1) : index < items ? index + 1 : -1;
    const base = Math.max(0, item) * stride;
    event.seq = passed.first + index;
    event.time = times[index] ?? 0;
    event.person.from = facts[index * 4] ?? 0;
    event.person.to = facts[index * 4 + 1] ?? 0;
    take(event.name, base + place.name);
    take(event.id, base + placeOfId(base));
    for (let k = 0; k < names.length; k++) {
      const value = event.properties[k];
      if (value) take(value, base + place.properties + 2 * k);
    }
    makeValues(passed, index, item);
  }

  /** Passes over a line. @returns undefined if its events are none that are read */
  function* pass(): Generator<undefined, PassedLine | undefined, undefined> {
    const passed: PassedLine = { first: 0, count: 0, isSelf: false, head: [] };
    // the body is the last member
    for (let at = afterBlanks(bytes, 1); bytes[at] === quote; at = afterBlanks(bytes, at)) {
      const keyTo = keyEnd(at + 1);
      const from = valueAfter(bytes, keyTo + 1);
      if (isText(bytes, at + 1, keyTo, keys.body)) {
        passed.isSelf = yield* readBody(from, event.shape === "v1");
        return passed;
      }
      if (isText(bytes, at + 1, keyTo, keys.events)) {
        at = afterBlanks(bytes, from + 1);
        for (; bytes[at] === openObject; at = afterBlanks(bytes, at)) {
          at = readFacts(at, passed.count++);
          if (passed.count % eventsPerStep === 0) yield;
        }
        at++;
        continue;
      }
      const to = afterValue(bytes, from);
      if (isText(bytes, at + 1, keyTo, keys.seq)) passed.first = numberIn(from, to);
      else if (isText(bytes, at + 1, keyTo, keys.shape)) {
        const shape = bytes.toString("latin1", from + 1, to - 1);
        if (shape === "recording") return undefined;
        if (shape === "v1") event.shape = shape;
      }
      passed.head.push(at, to);
      at = to;
    }
    return passed;
  }

  return {
    *read(line, use) {
      bytes = line.bytes;
      event.bytes = bytes;
      event.shape = "legacy";
      odd[0] = 0;
      items = 0;
      const passed = yield* pass();
      if (!passed) return;
      let steps = 0;
      for (const seq of line.seqs) {
        const index = seq - passed.first;
        if (index < 0 || index >= passed.count) continue;
        readEvent(passed, index);
        use(event);
        if (++steps % eventsPerStep === 0) yield;
      }
    },
  };
}
