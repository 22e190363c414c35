const files = (folder, names) => names.split(" ").map((name) => `${folder}/${name}.ts`);
const tests = (folder, names) => names.split(" ").map((name) => `test/${folder}/${name}.test.ts`);
const each = (files, tests) => Object.fromEntries(files.map((file) => [file, tests]));

const redact = tests(
  "tape/redact",
  "redactor places scan-tape memory restore personal sieve encoded shapes names",
);
const first = (name, tests) => [...tests].sort((a, b) => Number(b.includes(name)) - Number(a.includes(name)));
const deck = tests("tape/deck", "aliases canonical near-miss sequence match learn sessions");
const flags = tests("flags", "evaluate cohorts overrides ruleset explain");

/**
 * The core files, each with the tests that concern it; those that find most come first.
 * @type {Record<string, string[]>}
 */
export const targets = {
  "src/kernel/host-rules.ts": [...tests("kernel", "host-rules"), ...tests("control", "guard")],
  "src/control/guard.ts": tests("control", "guard"),
  "src/tape/redact/shapes.ts": tests("tape/redact", "shapes"),
  "src/tape/redact/names.ts": tests("tape/redact", "names redactor memory"),
  "src/tape/redact/placeholders.ts": tests("tape/redact", "memory restore"),
  "src/tape/redact/sieve.ts": tests("tape/redact", "sieve redactor"),
  "src/tape/redact/fields.ts": tests("tape/redact", "fields redactor"),
  ...each(files("src/tape/redact", "packed encoded"), tests("tape/redact", "encoded redactor")),
  "src/tape/redact/scan.ts": tests("tape/redact", "scan-tape redactor"),
  ...each(files("src/tape/redact", "walk head"), tests("tape/redact", "places memory personal redactor")),
  "src/tape/redact/personal.ts": tests("tape/redact", "personal"),
  ...each(files("src/tape/redact", "exchange redactor scan-tape memory bind body json-text"), redact),
  "src/model/keyring.ts": tests("sim", "published-keys"),
  "src/match/nearest.ts": tests("match", "nearest"),
  "src/match/pattern.ts": tests("match", "pattern wire"),
  "src/match/operators.ts": tests("match", "pattern wire describe"),
  "src/match/differences.ts": tests("match", "differences"),
  "src/match/judge.ts": tests("match", "judge report queues"),
  ...Object.fromEntries(
    ["near-miss", "canonical", "aliases", "sequence"].map((it) => [
      `src/tape/deck/${it}.ts`,
      first(it, deck),
    ]),
  ),
  "src/tape/deck/keys.ts": deck,
  "src/flags/bucket.ts": tests("flags", "bucket evaluate"),
  "src/flags/operators.ts": tests("flags", "operators evaluate"),
  "src/flags/evaluate.ts": flags,
  ...each(files("src/flags", "cohorts cohort-tree"), first("cohorts", flags)),
  "src/flags/overrides.ts": first("overrides", flags),
  "src/ingest/open.ts": tests("ingest", "open"),
  "src/ingest/merge.ts": tests("ingest", "merge"),
  "src/ingest/persons.ts": [...tests("ingest", "persons merge"), ...tests("ingestion", "capture-v1")],
  "src/ingest/illegal-ids.ts": tests("ingest", "merge"),
  "src/ingest/admit-legacy.ts": [...tests("ingest", "admit persons"), ...tests("ingestion", "capture")],
  "src/ingest/admit-v1.ts": [...tests("ingest", "admit"), ...tests("ingestion", "capture-v1")],
  "src/ingest/timestamp.ts": tests("ingest", "timestamp"),
  "src/store/people/apply.ts": tests("store", "people-apply people-hash-keys people"),
  "src/store/people/sidecar.ts": tests("store", "people-sidecar"),
  "src/store/lines.ts": tests("store", "lines"),
  "src/store/hash-index.ts": tests("store", "hash-index"),
};

const shortcut = "a shortcut: the way that it saves comes to the same";
const types = "only the compiler needs it: the value is always there";
const cache = "a memory of answers: asking again comes to the same";
const absent = "absent is undefined";
const noName = "no secret name has less than two letters";
const decidedBefore = "is decided before this place is reached";

/**
 * Mutants that change nothing that can be observed: a part of the source line, the beginning of what a mutant puts
 * there ("" is any), and the reason.
 * @type {Record<string, [line: string, to: string, why: string][]>}
 */
export const accepted = {
  "src/kernel/host-rules.ts": [
    ["matched === undefined ||", "isNothing", "what does not match has no part"],
    ["loopback === undefined", "address === undefined", types],
    ["address.length === 16 &&", "address.every", "an address of four bytes has no sixteenth"],
  ],
  "src/tape/redact/shapes.ts": [
    ["if (!out.includes(hint)) continue", "false", shortcut],
    ["if (!out.includes(hint)) continue", "(removed)", shortcut],
    ["if (!text.includes(hint)) return false", "false", shortcut],
    ["value.includes(hint) &&", "value.match", shortcut],
  ],
  "src/tape/redact/names.ts": [
    ["const mostJudged", "", cache],
    ["judged", "", cache],
  ],
  "src/tape/redact/sieve.ts": [
    ["/^\\n*\\{", "/\\n*", "the condition on every line has the same anchor"],
    ["let count = 0", "", cache],
    ["texts.size > 5000", "count !==", cache],
    ["texts.size > 5000", "5001", cache],
    ["texts.size > 5000", "4999", cache],
    ["count = knownCount();", "(removed)", cache],
    ["text.length <= 300", "", cache],
    ["clean.has(it)", "false", cache],
    ["clean.add(it)", "(removed)", cache],
    ["isPlaceholder(text)) return text", "text.length", shortcut],
  ],
  "src/tape/redact/scan.ts": [
    ["const unknowing", "1", cache],
    ["body && now &&", "body", types],
    ["body && now &&", "now", types],
  ],
  "src/tape/redact/personal.ts": [
    ['digits ?? ""', "digits", types],
    ["value === 0 ||", '!["place", "phone", "text"].includes(kind)', decidedBefore],
    ["value === 0 ||", "1", decidedBefore],
  ],
  "src/tape/redact/placeholders.ts": [['!text.includes("secret")', "false", shortcut]],
  "src/tape/redact/encoded.ts": [
    ["const uuid", "", "saves a look only: the bytes of a UUID are no text"],
    ["uuid.test(found)", "false", shortcut],
    ['like.endsWith("=") ||', "like", "padded base64 is a multiple of four long"],
    ["/=+$/", "/=+/", "they stand at the end only"],
    ["/^(?:[\\da-fA-F]{2}){8,}$/", "/^(?:[\\da-fA-F]{2}){7,}", "a run has sixteen characters"],
    ['unicode ?? byte ?? ""', "unicode ?? byte", types],
    ["!/\\\\[ux]/.test(text)", "false", shortcut],
  ],
  "src/tape/redact/packed.ts": [
    ["bytes.readUInt16BE(0) % 31", "bytes.length > 8 && bytes[0] === 0x78", shortcut],
  ],
  "src/tape/redact/fields.ts": [
    ["const quotedHead", "/(\\\\{0,15})([\"'])([\\w.$ -]{2,80}", noName],
    ["const quotedHead", "/(\\\\{0,15})([\"'])([\\w.$ -]{0,80}", noName],
    ["const pair", "/(?<=^|[?&;,\\s\"'({])([\\w.$[\\]%-]{2,80}", noName],
    ["const pair", "/(?<=^|[?&;,\\s\"'({])([\\w.$[\\]%-]{0,80}", noName],
    ["const line", "/^([ \\t]{0,20}([\\w.$-]{2,80}", noName],
    ["const line", "/^([ \\t]{0,20}([\\w.$-]{0,80}", noName],
    ["const bareNumber", "/([\"'])([\\w.$ -]{2,80}", noName],
    ["const bareNumber", "/([\"'])([\\w.$ -]{0,80}", noName],
    ["const pair", "/(?<=^|[?&;,\\s\"'({])([\\w.$[\\]%-]{1,80})=([^&\\s\"'<>;,)]{1,100001}", "a bound"],
  ],
  "src/tape/redact/walk.ts": [
    ["name !== undefined && flagMaps", "flagMaps", types],
    ["value === null", 'typeof value !== "object"', "null is never taken"],
  ],
  "src/tape/redact/head.ts": [
    ['|| part === ""', "i % 2", "an empty value is taken for none"],
    ["const urlParts", "/([a-z]", "every text matches from its beginning"],
    ["urlParts.exec(url) ?? []", "urlParts.exec(url)", types],
  ],
  "src/match/nearest.ts": [
    ["Math.min(a.length, b.length) * 3", "longest === 0", shortcut],
    ["Math.min(a.length, b.length) * 3", "Math.max", shortcut],
    ["Math.min(a.length, b.length) * 3", "4", shortcut],
    ["Math.min(a.length, b.length) * 3", "(longest) /", shortcut],
    ["share < 2 / 3", "(share) <=", "no share of whole letters is 2 / 3 to the last bit"],
  ],
  "src/match/pattern.ts": [
    ['"toJSON" in pattern', "typeof", types],
    ["askerOf(pattern) ?? ", "askerOf", types],
    ["askerOf(pattern) ?? ", "true", types],
    ['case "literal"', "", decidedBefore],
    ["return shape.value === value", "", decidedBefore],
    ['case "absent"', "", decidedBefore],
    ["return value === undefined;", "", decidedBefore],
    ['?? "@…"', "", types],
  ],
  "src/match/differences.ts": [
    ["place !== not &&", "Object.hasOwn(value, property)", "where it is missing it is not"],
    ["value !== undefined ? hintFor", "isJson", "nothing resembles an absent value"],
    ["value !== undefined ? hintFor", "value", "nothing resembles a pattern that is no JSON"],
    [": -1;", "1", types],
    [": -1;", "2", types],
    ["at === -1) add", "!Array.isArray(value)", "a list without an item that does not fit does fit"],
    ["at === -1) add", "at ===", types],
    ["at === -1) add", "2", "a list without an item that does not fit does fit"],
    ["if (value === undefined) return null", "false", "nothing resembles an absent value"],
    ['typeof expression !== "string" &&', "expression.gaveUp", types],
    ['key === "@eq" && isJson', 'key === "@eq"', "nothing resembles a pattern that is no JSON"],
    ["const denies", '["@ne", "@nin", "@not"].some', types],
    ["reading.value !== value &&", "fits", "the value itself does not fit"],
    ["const known = typeof", "typeof pattern", types],
    ["const known = typeof", "pattern !== null", types],
    ["!isObject(known.sample)", "known?.name", types],
    ["walk.found.length >= most", "depth > deepest", shortcut],
    ["walk.found.length >= most", "(walk.found", shortcut],
    ['shape.is === "literal" && isJson', "isJson", types],
    ['shape.is === "literal" && isJson', "shape.is", "nothing resembles a pattern that is no JSON"],
    ['shape.is === "asker" && value', "shape.is", "what is absent is not asked"],
    ['shape.is === "moment" &&', 'shape.is === "moment"', "a text is no number of seconds"],
  ],
  "src/match/judge.ts": [
    ["?? []", "matched[i]", types],
    ["min ?? 0", "countOf(expectation).min", "no comparison with undefined holds, as none with 0 does"],
    ["start === -1 ? []", "2", "a slice from the last event on that ends before it is empty, too"],
    ["taken.length < least && last", "taken.length < least", types],
    ["?? last.event", "start === -1 ?", types],
    ["failed: undefined", "(removed)", absent],
    ["(chosen[i]?.length ?? 0)", "chosen[i]?.length", types],
    ["(chosen[i]?.length ?? 0)", "1", types],
    [
      "[event, ...inner]",
      "(removed)",
      "operators and properties in one pattern are a mistake that is reported",
    ],
  ],
  "src/match/operators.ts": [
    ["Number.isFinite(value)", "Number.isFinite", types],
    ["?? Number.NaN", "momentOf", types],
    ["isText(value) && isText(operand)", "isText(value)", types],
    ["isKind(name) && kinds", "kinds", types],
    ["near !== undefined", 'typeof value === "number"', types],
    ["typeof expression !==", "isText(value)", types],
  ],
  "src/tape/deck/near-miss.ts": [
    ["slice(0, 100)", "1", "every path begins with a slash"],
    ["row < rows.length", "-1", "no row has this number"],
    ["row < rows.length", "(row) <=", "no row has this number"],
    ["body !== undefined && { body }", "{ body }", "absent and undefined are compared alike"],
    ["recorded === live", "false", shortcut],
    ['name === "" ? "_"', '"mutant"', "any name that means nothing will do"],
  ],
  "src/tape/deck/keys.ts": [
    ["slice(0, 22)", "1", "any part of a hash will do"],
    ["slice(0, 22)", "23", "any part of a hash will do"],
  ],
  "src/tape/deck/canonical.ts": [
    ['text.includes("%7B%7B")', "text.includes", shortcut],
    ["object[name] ?? null", "object[name]", types],
    ["object[name] !== undefined", "!rules.drops", "JSON has no undefined"],
    ['return "…"', '"mutant"', "any text that stands for the rest will do"],
    ['join(",")', '"mutant"', "any text that keeps them apart will do"],
  ],
  "src/tape/deck/aliases.ts": [['live[at] ?? ""', "live[at]", types]],
  "src/tape/deck/sequence.ts": [
    ["rows[at] ?? -1", "-1", types],
    ["rows[at] ?? -1", "1", types],
    ["rows[at] ?? -1", "2", types],
    ["rows[at] ?? -1", "rows[at]", types],
    ["cursors.get(series) ?? 0", "0", shortcut],
    ["while (at < rows.length && isUsed(at)) at++", "isUsed(at)", "no row has no number"],
    ["while (at < rows.length && isUsed(at)) at++", "(at) <=", "no row has no number"],
  ],
  "src/flags/operators.ts": [["value ?? null", "value", types]],
  "src/flags/evaluate.ts": [
    ["variantEnds[position] ??", "variantEnds[position]", types],
    ["variantEnds[position] ??", "1", types],
    ["?? compiled.unconditioned", "condition.matched[position]", types],
    ["lacksGroup && last &&", "lacksGroup", types],
    ["enrollment === undefined ||", "choice === undefined", "without an enrollment there is no choice"],
    ["holdout.percentage >= 100", "false", shortcut],
    ["holdout.percentage >= 100", "101", shortcut],
    ["throw error;", "(removed)", "no other error is thrown there"],
    ["members: undefined", "(removed)", absent],
    ["recorder: undefined", "(removed)", absent],
  ],
  "src/flags/cohorts.ts": [
    ['case "unknown"', '"mutant"', "undefined is as false"],
    ["cohort.name ?? undefined", "compiled.get(id)?.cohort.name", "no name is no name, null or undefined"],
    ["const nothing: TreeNode", '"mutant"', "stands where no tree is evaluated"],
    ["failure: undefined", "(removed)", absent],
    ["tree: nothing", "(removed)", "stands where no tree is evaluated"],
    ["members: undefined", "(removed)", absent],
    ["throw error;", "(removed)", "no other error is thrown there"],
    ["?? []", "dependents.get", types],
    ["?? 0", "", types],
    ["if (known) return known", "false", cache],
    ["plans.set(id, plan)", "(removed)", cache],
    ["person !== undefined && members.has", "members.has", types],
    ["if (known !== undefined) return known", "", cache],
    ["if (run.members.has(cohort.id)) continue", "(removed)", cache],
    ["return run.members.get(id) === true", "", "who asks first only has it computed"],
  ],
  "src/flags/cohort-tree.ts": [["filter.value ?? null", "filter.value", "an absent value is as null"]],
  "src/flags/overrides.ts": [
    ["all.length === 0", "", shortcut],
    ["overrides.size === 0", "", shortcut],
  ],
  "src/ingest/illegal-ids.ts": [
    ["id.length <= 36 &&", "personless", shortcut],
    ["id.length <= 36 &&", "37", shortcut],
  ],
  "src/ingest/open.ts": [["envelope: undefined", "(removed)", absent]],
  "src/ingest/admit-legacy.ts": [
    ['typeof timestamp !== "string" &&', "false", shortcut],
    ...["place", "warnings", "dropped", "detail"].map((it) => [`${it}: undefined`, "(removed)", absent]),
  ],
  "src/ingest/admit-v1.ts": [
    ["text.length > maxName ||", "Buffer.byteLength(text) > maxName", shortcut],
    ["?? noProperties;", "optionProperties(item.raw.options)", types],
    ...["set", "setOnce", "place", "dropped", "detail"].map((it) => [
      `${it}: undefined`,
      "(removed)",
      absent,
    ]),
  ],
  "src/store/lines.ts": [
    ["const chunkSize", "", "pieces of any size will do"],
    ["indexOf(sealStart, at + 1)", "2", "no seal begins with the second byte of another"],
    ["end > bytes.start", "(end) >=", "nothing stands before the start"],
    ["end - from", "(end) +", "what stands behind was looked at before"],
    ["at < offset", "(at) <=", "nothing is read then"],
  ],
  "src/store/hash-index.ts": [
    ["const shardBits", "", "any number of parts will do"],
    ["const shardCount", "2", "any number of parts will do"],
    ["const delay", "", "a pause of any length will do"],
    ["!shard", "false", types],
    ["?? new Uint32Array(1)", "", types],
    ["slots[i] ?? 0", "slots[i]", types],
    ["slots[i] ?? 0", "1", types],
  ],
  "src/ingest/timestamp.ts": [
    ["/^([+-]?", "/^([+-]?\\d{4,6})[-/](\\d{0,2})", "an empty month is none of the calendar"],
    ["/^([+-]?", "/^([+-]?\\d{4,6})[-/](\\d{1,2})[-/](\\d{0,2})", "an empty day is none of the calendar"],
    ["const rfc2822", "/^(?:[A-Za-z]{3},\\s*)?(\\d{0,2})", "an empty day is none of the calendar"],
    [
      "const rfc2822",
      "/^(?:[A-Za-z]{3},\\s*)?(\\d{1,2})(\\s+[A-Za-z]{3}\\s+\\d{4})\\s+\\d{2}:\\d{2}(?::\\d{2})?\\s+\\S{0,6}",
      "there is no space at the end",
    ],
    [
      "const rfc2822",
      "/^(?:[A-Za-z]{3},\\s*)?(\\d{1,2})(\\s+[A-Za-z]{3}\\s+\\d{4})\\s+\\d{2}:\\d{2}(?::\\d{2})?\\s+\\S{1,7}",
      "no zone has seven letters",
    ],
    [
      "const rfc3339",
      "/^\\d{4}-\\d{2}-\\d{2}[Tt ]\\d{2}:\\d{2}:\\d{2}(?:\\.\\d+)?(?:[Zz]|[+-]\\d{2}:\\d{2})/",
      shortcut,
    ],
    ["if (!zone ||", "!/^[+-]/", types],
    ["if (!zone ||", "/[+-]/", "the sign is the first letter"],
    ["calendar.exec(text) ?? []", "calendar.exec(text)", types],
    ["if (year === undefined ||", "Number(hours) > 23", "without a year there is no date"],
    ["(text.length === 24 || text.length === 20)", "", shortcut],
    ["if (isUsual(text))", "false", shortcut],
    ["isDay(time, text.slice(8, 10))", "false", shortcut],
    ["isDay(time, text.slice(8, 10))", "9", shortcut],
    ["isDay(time, text.slice(8, 10))", "11", shortcut],
  ],
};
