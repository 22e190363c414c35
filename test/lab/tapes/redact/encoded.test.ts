import { deflateSync, gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { openedText, replaceEncoded } from "../../../../src/lab/tapes/redact/encoded.ts";
import { repackable } from "../../../../src/lab/tapes/redact/packed.ts";

const replaced = (text: string): string =>
  replaceEncoded(text, { text: (plain) => plain.replaceAll(/hidden|~~/g, "found"), whole: () => "(whole)" });

const wide = (text: string): string => Buffer.from(text, "utf16le").toString("latin1");
const wideBig = (text: string): string => Buffer.from(text, "utf16le").swap16().toString("latin1");
const slashes = (count: number): string => "\\".repeat(count);
const escaped = (text: string, lead: string): string =>
  [...text].map((it) => lead + it.charCodeAt(0).toString(16)).join("");
const base64 = (text: string): string => Buffer.from(text).toString("base64");
const base64url = (text: string): string => Buffer.from(text).toString("base64url");
const bare = (text: string): string => base64(text).replace(/=+$/, "");
const hex = (text: string): string => Buffer.from(text).toString("hex");
const lines = (text: string, width: number, end: string): string =>
  base64(text).replace(new RegExp(`.{${width}}(?=.)`, "g"), `$&${end}`);
const long = (word: string): string => `${"filler ".repeat(20)}${word}${" filler".repeat(20)}!`;
const shape = Buffer.concat([Buffer.from([0, 255, 254]), Buffer.from("phx_abcdefgh"), Buffer.from([0, 200])]);

const words27 = "filler filler filler hidden";
const more = `${"words ".repeat(18)}hidden`;

const rows: [what: string, text: string, after: string][] = [
  ["unicode escapes", "\\u0068idden", "found"],
  ["unicode escapes in capitals", "\\u006Cet hi\\u0064den", "let found"],
  ["UTF-16", `\x00${wide("a hidden b")}`, `\x00${wide("a found b")}`],
  ["UTF-16 of another order", `x${wideBig("a hidden b")}`, `x${wideBig("a found b")}`],
  ["UTF-16 of 6 letters", wide("hidden"), wide("found")],
  ["UTF-16 of 6 letters in another order", wideBig("hidden"), wideBig("found")],
  ["UTF-16 of 5 letters", wide("aa~~a"), wide("aa~~a")],
  ["UTF-16 of 5 letters in another order", wideBig("aa~~a"), wideBig("aa~~a")],
  ["UTF-16 among bytes", `\xff${wide("a\thidden\r\n~")}\xfe`, `\xff${wide("a\tfound\r\n~")}\xfe`],
  ["UTF-16, and more", `${wide("hidden")} ${base64("hidden-words")}`, `${wide("found")} ${base64("found-words")}`],
  ["a key in UTF-16 in base64", Buffer.from(wide("phx_abcdefgh"), "latin1").toString("base64"), "(whole)"],
  [
    "a key in UTF-16 of another order in base64",
    Buffer.from(wideBig("phx_abcdefgh"), "latin1").toString("base64"),
    "(whole)",
  ],
  ["byte escapes", "hi\\x64den", "found"],
  ["the first and the last character", "\\u0020hidden\\u007E", " found~"],
  ["an escape before the first character", "\\u001fhidden\\u0068", "\\u001ffoundh"],
  ["an escape behind the last character", "\\u0080hidden\\u0068", "\\u0080foundh"],
  ["escaped quotes and backslashes", "\\u0022\\u005c\\u007fhidden\\u0068", "\\u0022\\u005c\\u007ffoundh"],
  ...[2, 16].flatMap((count): [string, string, string][] => [
    [`${count} backslashes, unicode`, escaped("hidden", `${slashes(count)}u00`), "found"],
    [`${count} backslashes, bytes`, escaped("hidden", `${slashes(count)}x`), "found"],
  ]),
  ["17 backslashes", escaped("~~", `${slashes(17)}u00`), escaped("~~", `${slashes(17)}u00`)],
  ["17 backslashes, bytes", escaped("~~", `${slashes(17)}x`), escaped("~~", `${slashes(17)}x`)],
  ["one digit behind %", "~~~~%7x", "~~~~%7x"],
  ["base64 in two lines", lines("hidden".padEnd(60, "!"), 76, "\n"), base64("found".padEnd(59, "!"))],
  ["damaged gzip in hex", `1f8b08${"ff".repeat(9)}`, `1f8b08${"ff".repeat(9)}`],
  ["percent-encoding", "a=%68idden b", "a%3Dfound b"],
  ["percent-encoding in small letters", "%7e%7e", "found"],
  ["percent-encoding of 5 characters", "%7E~x", "%7E~x"],
  ["no percent-encoding", "~~~~~~", "~~~~~~"],
  ["percent-encoding of something else", "%41%42%43", "%41%42%43"],
  ["16 characters of base64", base64("hidden-words"), base64("found-words")],
  ["15 characters of base64", bare("hidden-word"), bare("hidden-word")],
  ["base64 with =", base64("hidden-words!"), base64("found-words!")],
  ["base64 without =", bare("hidden-words!"), bare("found-words!")],
  ["base64 with ==", base64("hidden-words!?"), base64("found-words!?")],
  ["base64 with -", base64url("hidden>>>>>>a"), base64url("found>>>>>>a")],
  ["base64 with _", base64url("hidden??????a"), base64url("found??????a")],
  ["base64 with + and /", base64("hidden>>>???a"), base64("found>>>???a")],
  ["base64 among words", `a ${base64("hidden-words")}, b`, `a ${base64("found-words")}, b`],
  ...["\n", "\r\n", "\\n", "\\r\\n"].flatMap((end) =>
    [32, 76].map((width): [string, string, string] => [
      `base64 in lines of ${width} that end with ${JSON.stringify(end)}`,
      lines(long("hidden"), width, end),
      base64(long("found")),
    ]),
  ),
  ["base64 with too many =", `${base64("hidden-words!?")}==`, `${base64("found-words!?")}=`],
  ["base64 with an = that is none of its", `${base64("hidden-words!!!")}=`, base64("found-words!!!")],
  ["lines of which the last has one character", lines(words27, 35, "\n"), base64("filler filler filler found")],
  ["lines, and one character more", `${lines(more, 76, "\n")}A`, `${base64(more.replace("hidden", "found"))}A`],
  ["lines with too many =", `${lines(`${more}!`, 76, "\n")}=`, `${base64(`${more}!`.replace("hidden", "found"))}=`],
  ...[
    ["lines of 31", lines("filler filler filler hidden filler", 31, "\n"), undefined],
    ["lines of 77", lines(`${"x".repeat(54)}hidden${"!".repeat(20)}`, 77, "\n"), undefined],
    ["15 characters", bare("hidden-word"), undefined],
    ["16 characters", base64("hidden-words"), base64("found-words")],
    ["a line that ends", `${base64(words27)}\n`, `${base64("filler filler filler found")}\n`],
    ["too many =", `${base64("hidden-words!?")}==`, `${base64("found-words!?")}=`],
  ].map(([what, text, after = text]): [string, string, string] => {
    const before = lines(long("words"), 76, "\n");
    return [`beside lines: ${what}`, `${before}, ${text}`, `${before}, ${after}`];
  }),
  ["escapes of two depths", `\\u0068${escaped("idden", "\\\\u00")}`, `\\u0068${escaped("idden", "\\\\u00")}`],
  ["bytes of two depths", `\\x68${escaped("idden", "\\\\x")}`, `\\x68${escaped("idden", "\\\\x")}`],
  ["what is not percent-encoded, beside what is", "~~~~~~ %41%42%43", "~~~~~~ %41%42%43"],
  ["hex, then a g", `${hex("hidden!!")}gg`, `${hex("hidden!!")}gg`],
  ["hex with a g in it", `${hex("hidden")}g${hex("harmless")}`, `${hex("hidden")}g${hex("harmless")}`],
  ["hex and half a byte", `${hex("hidden!!")}6`, `${hex("hidden!!")}6`],
  ["hex of 8 bytes", hex("hidden!!"), hex("found!!")],
  ["hex in capitals", hex("hidden>>").toUpperCase(), hex("found>>")],
  ["hex of something else", hex("harmless"), hex("harmless")],
  ["a UUID", "68696464-656e-6869-6464-656e68696464", "68696464-656e-6869-6464-656e68696464"],
  ...['{"a":"hidden"}', '{ "a": "hidden" }', '[{"a":"hidden"}]'].flatMap((json): [string, string, string][] => {
    const after = json.replace("hidden", "found");
    return [
      [`${json} behind a path`, `/some/path/${base64(json)}`, `/some/path/${base64(after)}`],
      [`${json} behind a letter`, `x${base64(json)}`, `x${base64(after)}`],
    ];
  }),
  ["the four places of a cut run", shape.toString("base64"), "(whole)"],
  ...["x", "xy", "xyz"].map((lead): [string, string, string] => [
    `a secret in bytes, behind ${lead}`,
    lead + shape.toString("base64"),
    "(whole)",
  ]),
  [
    "gzip that cannot be read, in base64",
    Buffer.from([31, 139, 8, ...Buffer.from("x".repeat(20))]).toString("base64"),
    "(whole)",
  ],
  ["gzip that cannot be read", `\x1f\x8b\x08${"x".repeat(20)}`, "(whole)"],
  ["what only begins like gzip", "\x1f\x8bhidden", "\x1f\x8bhidden"],
];

/** What is packed is unpacked here, to compare. */
const unpackedText = (bytes: Buffer): string | undefined => {
  const packed = repackable(bytes);
  return packed === undefined || packed === "unreadable" ? packed : packed.text;
};

describe("what is encoded in a text", () => {
  test.each(rows)("%s", (_, text, after) => {
    expect(replaced(text)).toBe(after);
  });

  const text = "so hidden it is";
  const binary: [what: string, bytes: Buffer][] = [
    ["gzip", gzipSync(text)],
    ...[1, 5, 6, 9].map((level): [string, Buffer] => [`zlib of level ${level}`, deflateSync(text, { level })]),
  ];
  test.each(binary)("%s, as characters, in base64 and in hex", (_, bytes) => {
    const after = "so found it is";
    expect(unpackedText(Buffer.from(replaced(bytes.toString("latin1")), "latin1"))).toBe(after);
    expect(unpackedText(Buffer.from(replaced(bytes.toString("base64")), "base64"))).toBe(after);
    expect(unpackedText(Buffer.from(replaced(bytes.toString("hex")), "hex"))).toBe(after);
    const other = Buffer.from(`${bytes.toString("latin1")}\u0100`);
    expect(replaced(other.toString())).toBe(other.toString());
  });
});

describe("a text that is opened", () => {
  const percent = (word: string, layers: number): string =>
    layers === 0 ? word : percent(encodeURIComponent(word), layers - 1);
  const json = '{"a":"some words"}';

  test.each<[what: string, text: string, opened: string]>([
    ["nothing is encoded", "harmless words", "harmless words"],
    ["6 characters", "%41bcd", "Abcd"],
    ["5 characters", "%41bc", "%41bc"],
    ["percent-encoding among words", "a %41bcd, %42cde", "a Abcd, Bcde"],
    ["percent-encoding of no UTF-8", "%41%ffabc%4", "A\ufffdabc%4"],
    ["six layers", percent("a b cdef", 6), "a b cdef"],
    ["seven layers", percent("a b cdef", 7), percent("a b cdef", 1)],
    ["base64", base64("some words and"), "some words and"],
    ["15 characters of base64", bare("hidden-word"), bare("hidden-word")],
    ["base64 among words", `a ${base64("some words and")}, b`, "a some words and, b"],
    ["base64 in percent-encoding", encodeURIComponent(base64("words words w")), "words words w"],
    ["base64 in base64", base64(base64("some words and")), "some words and"],
    ["base64 behind a path", `/some/path/${base64(json)}`, json],
    ["base64 behind a letter", `x${base64(json)}`, json],
    ["base64 of JSON behind a word", base64(`abc${json}`), `abc${json}`],
    ["base64 behind a letter, not of JSON", `x${base64("words all over")}`, `x${base64("words all over")}`],
    ...["\n", "\r\n", "\\n", "\\r\\n"].map((end): [string, string, string] => [
      `base64 in lines that end with ${JSON.stringify(end)}`,
      lines(long("words"), 76, end),
      long("words"),
    ]),
    ["gzip in base64", gzipSync("some words").toString("base64"), "some words"],
    ["bytes in base64", shape.toString("base64"), shape.toString("base64")],
    [
      "gzip that cannot be read",
      Buffer.from([31, 139, 8, ...Buffer.from("x".repeat(20))]).toString("base64"),
      Buffer.from([31, 139, 8, ...Buffer.from("x".repeat(20))]).toString("base64"),
    ],
    ["a UUID", "68696464-656e-6869-6464-656e68696464", "68696464-656e-6869-6464-656e68696464"],
  ])("%s", (_, text, opened) => {
    expect(openedText(text)).toBe(opened);
  });

  test("at most the requested number of layers", () => {
    const text = percent("a b cdef", 3);
    expect([0, 1, 2].map((layers) => openedText(text, layers))).toEqual([
      text,
      percent("a b cdef", 2),
      percent("a b cdef", 1),
    ]);
  });
});

describe("the text in some bytes", () => {
  const nested = (layers: number): Buffer => (layers === 0 ? Buffer.from("text") : gzipSync(nested(layers - 1)));
  const most = 32 * 1024 * 1024;
  const bytes = (...it: number[]): Buffer => Buffer.from([...Buffer.from("text"), ...it]);

  test.each<[what: string, given: Buffer, text: string | undefined]>([
    ["four letters", Buffer.from("text"), "text"],
    ["three letters", Buffer.from("tex"), undefined],
    ["no UTF-8", bytes(0xff), undefined],
    ...[0x00, 0x08, 0x0e, 0x1a].map((it): [string, Buffer, undefined] => [`with ${it}`, bytes(it), undefined]),
    ...[0x09, 0x0d, 0x1b].map((it): [string, Buffer, string] => [
      `with ${it}`,
      bytes(it),
      `text${String.fromCharCode(it)}`,
    ]),
    ["letters that begin like zlib", Buffer.from("x^abcdefgh"), "x^abcdefgh"],
    ["letters that can be unpacked like zlib", Buffer.from("x^KzSxABUlq"), "x^KzSxABUlq"],
    ["nothing, by zlib", deflateSync(""), undefined],
    ["three layers", nested(3), "text"],
    ["four layers", nested(4), "unreadable"],
    ["bytes in gzip", gzipSync(Buffer.from([0, 255])), "\x00\xff"],
    ["gzip cut off", gzipSync("text".repeat(99)).subarray(0, -9), "text".repeat(99)],
    ["gzip damaged", Buffer.from([31, 139, 8, 255, 255, 255]), "unreadable"],
    ["what only begins like zlib", Buffer.from([0x78, 0x9c, ...Array<number>(9).fill(255)]), undefined],
    ["another method", Buffer.from([31, 139, 9, 255, 255, 255]), undefined],
    ["another first byte", Buffer.from([30, 139, 8, 255, 255, 255]), undefined],
    ["another second byte", Buffer.from([31, 140, 8, 255, 255, 255]), undefined],
    ["one letter, by zlib", deflateSync("a"), "a"],
    ["more than is looked at", gzipSync(Buffer.alloc(most + 1, " ")), "unreadable"],
  ])("%s", (_, given, text) => {
    expect(unpackedText(given)).toBe(text);
  });

  test("as much as is looked at", () => {
    expect(unpackedText(gzipSync(Buffer.alloc(most, " ")))).toHaveLength(most);
  });

  test.each<[what: string, given: Buffer]>([
    ["plain", Buffer.from("text ä")],
    ["gzip", gzipSync("text ä")],
    ["zlib", deflateSync("text ä")],
    ["bytes in gzip in gzip", gzipSync(gzipSync(Buffer.from([0, 255])))],
  ])("is packed as it was: %s", (_, given) => {
    const packed = repackable(given);
    if (packed === undefined || packed === "unreadable") throw new Error("not packed");
    expect(packed.pack(packed.text)).toEqual(given);
    expect(unpackedText(packed.pack(`${packed.text}!`))).toBe(`${packed.text}!`);
  });
});
