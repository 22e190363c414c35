import { existsSync } from "node:fs";
import { resolve } from "node:path";

const files = (folder, names) => names.split(" ").map((name) => `${folder}/${name}.ts`);
const tests = (folder, names) => names.split(" ").map((name) => `test/${folder}/${name}.test.ts`);
const each = (files, tests) => Object.fromEntries(files.map((file) => [file, tests]));

const redact = tests(
  "lab/tapes/redact",
  "redactor redactor-results places rules scan-tape memory restore personal secret-filter encoded shapes names",
);
const first = (name, tests) => [...tests].sort((a, b) => Number(b.includes(name)) - Number(a.includes(name)));
const matcher = tests("lab/tapes/match", "aliases canonical near-miss sequence match learn sessions");
const flags = [
  ...tests("service/flags/engine", "evaluate cohorts overrides ruleset"),
  "test/service/flags/explain/explain.test.ts",
];

/**
 * The core files, each with the tests that concern it; those that find most come first.
 * @type {Record<string, string[]>}
 */
export const targets = {
  "src/kernel/http/host-rules.ts": [...tests("kernel/http", "host-rules"), ...tests("sim/server", "guard")],
  "src/kernel/http/control-access.ts": tests("sim/server", "badge guard"),
  "src/lab/tapes/redact/shapes.ts": tests("lab/tapes/redact", "shapes token-formats"),
  "src/lab/tapes/redact/token-formats.ts": tests("lab/tapes/redact", "token-prefixes token-formats shapes"),
  "src/lab/tapes/redact/rules.ts": tests("lab/tapes/redact", "read-rules rules redactor"),
  "src/lab/tapes/redact/names.ts": tests("lab/tapes/redact", "names redactor memory"),
  "src/lab/tapes/redact/placeholders.ts": tests("lab/tapes/redact", "memory restore rules"),
  "src/lab/tapes/redact/secret-filter.ts": tests("lab/tapes/redact", "secret-filter redactor rules memory"),
  "src/lab/tapes/redact/fields.ts": tests("lab/tapes/redact", "fields redactor"),
  ...each(files("src/lab/tapes/redact", "packed encoded"), tests("lab/tapes/redact", "encoded redactor token-formats")),
  "src/lab/tapes/redact/scan.ts": tests("lab/tapes/redact", "scan-tape redactor rules mask"),
  "src/lab/tapes/redact/walk.ts": tests("lab/tapes/redact", "places json-text memory personal redactor rules"),
  "src/lab/tapes/redact/exchange.ts": [...tests("lab/tapes/redact", "body"), ...redact],
  "src/lab/tapes/redact/personal.ts": tests("lab/tapes/redact", "personal"),
  "src/lab/tapes/redact/redactor.ts": tests("lab/tapes/redact", "redactor-results personal"),
  "src/lab/tapes/redact/scan-tape.ts": tests("lab/tapes/redact", "scan-tape"),
  "src/lab/tapes/redact/memory.ts": tests("lab/tapes/redact", "memory"),
  "src/lab/tapes/redact/bind.ts": tests("lab/tapes/redact", "restore"),
  "src/state/documents/keyring.ts": tests("sim", "published-keys"),
  "src/lab/assert/match/nearest.ts": tests("lab/assert/match", "nearest"),
  "src/lab/assert/match/pattern.ts": tests("lab/assert/match", "pattern wire"),
  "src/lab/assert/match/operators.ts": tests("lab/assert/match", "pattern wire describe"),
  "src/lab/assert/match/differences.ts": tests("lab/assert/match", "differences"),
  "src/lab/assert/match/evaluate.ts": tests("lab/assert/match", "evaluate failure-report causes"),
  ...Object.fromEntries(
    ["near-miss", "canonical", "catalog"].map((it) => [
      `src/lab/tapes/match/${it}.ts`,
      first(it === "catalog" ? "aliases" : it, matcher),
    ]),
  ),
  "src/lab/tapes/match/keys.ts": matcher,
  "src/service/flags/engine/bucket-hash.ts": tests("service/flags/engine", "bucket-hash evaluate"),
  "src/service/flags/engine/operators.ts": tests("service/flags/engine", "operators evaluate"),
  "src/service/flags/engine/evaluate.ts": flags,
  ...each(files("src/service/flags/engine", "cohorts cohort-tree"), first("cohorts", flags)),
  "src/service/flags/engine/overrides.ts": first("overrides", flags),
  "src/service/capture/open.ts": tests("service/capture", "open"),
  "src/service/capture/merge.ts": tests("service/capture", "merge"),
  "src/service/capture/persons.ts": [
    ...tests("service/capture", "persons merge"),
    ...tests("service/capture/endpoint", "capture-v1"),
  ],
  "src/service/capture/person-ids.ts": tests("service/capture", "merge"),
  "src/service/capture/admit-legacy.ts": [
    ...tests("service/capture", "admit persons"),
    ...tests("service/capture/endpoint", "capture"),
  ],
  "src/service/capture/admit-v1.ts": [
    ...tests("service/capture", "admit"),
    ...tests("service/capture/endpoint", "capture-v1"),
  ],
  "src/service/capture/timestamp.ts": tests("service/capture", "timestamp"),
  "src/state/persons/store/state.ts": tests("state/persons", "person-hash-keys person-store person-disk"),
  "src/kernel/store/lines.ts": tests("kernel/store", "lines"),
  "src/state/journal/log/hash-index.ts": tests("state/journal/log", "hash-index"),
  "src/state/journal/filter/parse.ts": tests("state/journal/filter", "mistakes reading events"),
  "src/kernel/base/clock.ts": tests("kernel/base", "clock"),
  "src/service/capture/call-owner.ts": tests("service/capture", "call-owner"),
  "src/lab/tapes/har/read-entry.ts": tests("lab/tapes/har", "import browser hostile"),
  "src/lab/egress/guard.ts": tests("lab/egress", "guard"),
};

/** Files that change the process: a mutant that does not end its change would be there for the next one. */
export const isolated = new Set(["src/lab/egress/guard.ts"]);

/** The named files that do not exist below this folder: after a move the script must not pass over them. */
export const missingFiles = (root) =>
  [...new Set([...Object.entries(targets).flat(2), ...Object.keys(accepted)])].filter(
    (it) => !existsSync(resolve(root, it)),
  );

const shortcut = "a shortcut: the way that it saves comes to the same";
const types = "only the compiler needs it: the value is always there";
const cache = "a memory of answers: asking again comes to the same";
const provenance = "where the formats come from: printed in the docs";
const unused = "with problems, the tree is not used";
const absent = "absent is undefined";
const noPerson = "no address of a person is among what is harmless";
const noName = "no secret name has less than two letters";
const decidedBefore = "is decided before this place is reached";

/** How the forms of a UUID and of a time begin in the pattern of `secret-filter.ts`, up to a change that makes no difference. */
const [uuidForm, timeForm] = [
  "[\\da-f]{8}-(?:[\\da-f]{4}-){3}[\\da-f]{12}|",
  "\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(?:\\.\\d{1,9})?(?:Z|[+-]\\d\\d:\\d\\d)|",
];
const otherForms = [
  ...["[\\da-f]{9}", "[\\da-f]{7}", "[\\da-f]{8}-(?:[\\da-f]{5}", "[\\da-f]{8}-(?:[\\da-f]{3}"],
  ...["{4}", "{2}", "{3}[\\da-f]{13}", "{3}[\\da-f]{11}"].map((it) => `[\\da-f]{8}-(?:[\\da-f]{4}-)${it}`),
  ...["\\d{5}", "\\d{3}"].map((it) => uuidForm + it),
  ...["{2,9}", "{0,9}", "{1,10}", "{1,9})?(?:(?!)", "{1,9})?(?:Z|(?!)"].map(
    (it) => uuidForm + timeForm.slice(0, timeForm.indexOf("{1,9}")) + it,
  ),
  ...[...timeForm.matchAll(/\\d(?!\{)/g)].map(({ index }) => `${uuidForm}${timeForm.slice(0, index)}\\D`),
  ...["[$A-Za-z\\d. /,+-]{2,11}", "[$A-Za-z\\d. /,+-]{0,11}", "(?!)"].map((it) => uuidForm + timeForm + it),
].map((it) => `/^(?:${it}`);

/**
 * Mutants that change nothing that can be observed: a part of the source line, the beginning of what a mutant puts
 * there ("" is any), and the reason.
 * @type {Record<string, [line: string, to: string, why: string][]>}
 */
export const accepted = {
  "src/kernel/http/host-rules.ts": [
    ["matched === undefined ||", "isNothing", "what does not match has no part"],
    ["loopback === undefined", "address === undefined", types],
    ["address.length === 16 &&", "address.every", "an address of four bytes has no sixteenth"],
  ],
  "src/lab/tapes/redact/rules.ts": [
    ["new RegExp(source ??", "source", types],
    ["if (!isObject(value)) return", "false", "what is no object throws, which comes to the same"],
    ["path.lastIndexOf", "/(?:\\[\\])+/", "brackets of lists stand at the end of a name"],
    ["= /^\\/(.+)\\/([a-z]*)$/s.exec(String(pattern))", "/^\\/(.+)\\/([a-z]*)/s", "checked rules end with their flags"],
    ["const isNamed =", "", shortcut],
    ["const keptNames =", "/", "no field has the name of a path"],
    ["const keptPaths =", "/(?:req", "no place begins otherwise"],
    ["if (paths.length === 0)", "false", shortcut],
    ["if (keep.length === 0)", "false", shortcut],
  ],
  "src/lab/tapes/redact/token-formats.ts": [
    ['name: "', '"mutant"', provenance],
    ['version: "', '"mutant"', provenance],
    ["https://github.com/gitleaks", '"mutant"', provenance],
    ['license: "', '"mutant"', provenance],
    ['"SG\\\\."]', "(removed)", shortcut],
    ['"[a-h0-9]{32}-",', "(removed)", shortcut],
    ['"[a-f0-9]{32}-us"],', "(removed)", shortcut],
    ['"SK[0-9a-fA-F]{32}"],', "(removed)", shortcut],
    ['"access-[sdp]",', "(removed)", shortcut],
    ["(?<![A-Za-z0-9])(?:${[...new Set(", "", shortcut],
  ],
  "src/lab/tapes/redact/shapes.ts": [
    ["value.includes(hint) &&", "value.match", shortcut],
    ["!cardNetworks.some(", "!cardNetworks", "no number of one digit has the check digit of a card"],
    ["!cardNetworks.some(", "/^(\\D)", "no number of one digit has the check digit of a card"],
    ["return total + (value > 9", "(total) -", "a sum below zero ends with 0 for the same digits"],
    ["rare: /\\/(?:shared", "(removed)", shortcut],
    ["rare: /\\d", "(removed)", shortcut],
    ["rare: /\\d", "/\\d{3}", shortcut],
    ["rare: /\\d", "/\\d{4}[ -]?\\d{3}", shortcut],
    ["/^62", "/^62\\d{14,17}/", "no more than nineteen digits are looked at"],
    ["/^62", "/^62\\d{14,18}", "no more than nineteen digits are looked at"],
    ["(rare?.test(text) ?? true)", "text.includes(hint)", shortcut],
    ["(rare?.test(text) ?? true)", "rare?.test(text) ?? true", shortcut],
    ["(rare?.test(text) ?? true)", "true", shortcut],
    ...["14,19", "12,19", "13,20"].map((it) => [
      "(?:\\d{13,19}",
      `/(?<![\\w.+-])(?:\\d{${it}}`,
      "the networks decide about the length",
    ]),
    [
      "(?:\\d{13,19}",
      "/(?<![\\w.+-])(?:\\d{13,19}|\\d{4}([ -])\\d{4}\\1\\d{4}\\1\\d{4}|\\d{4}([ -])\\d{6}\\2\\d{3,5}",
      "the networks decide about the length",
    ],
  ],
  "src/lab/tapes/redact/exchange.ts": [
    ["filter.clean", "", cache],
    ["const hintOf", "/[?&]compression=([^&#]*)/.exec(url)?.[1]", absent],
    ['?.[1] ?? "";', "headers.find", "a pattern reads undefined as a word that means nothing"],
    ['bulk.hint ?? ""', "bulk.hint", "a pattern reads null as a word that means nothing"],
    ["const [, quoted, bare]", '/;\\s*boundary=(?:"([^"]{1,201})', "the beginning of a longer one will do"],
    [
      "const [, quoted, bare]",
      '/;\\s*boundary=(?:"([^"]{1,200})"|([^;\\s]{1,201})',
      "the beginning of a longer one will do",
    ],
    ["const head = part.slice(0", "1", "a line break is at the beginning"],
    ["path.replace(/\\/.*$/s", "/\\/.*/s", "it takes all that follows by itself"],
    ["/\\.path$/", "/\\.path/", "no other place has such a name in it"],
    ['|| part === ""', "i % 2", "an empty value is taken for none"],
    ["const urlParts", "/([a-z]", "every text matches from its beginning"],
    ["urlParts.exec(url) ?? []", "urlParts.exec(url)", types],
  ],
  "src/lab/tapes/redact/packed.ts": [
    ...["(header & 0x0f00) === 0x0800", "header % 31 ===", "header >>> 12 <=", "13", "8"].map((it) => [
      "(header & 0x0f00)",
      it,
      "unpacking fails by itself without a right header",
    ]),
    ["!packing.certain && textOf", "textOf(bytes)", "no text begins like gzip"],
    ["bytes.length > 8 && isZlib", "bytes.length > 8", "unpacking fails by itself without a right header"],
  ],
  "src/lab/tapes/redact/names.ts": [
    ["const mostCached", "", cache],
    ["cache", "", cache],
  ],
  "src/lab/tapes/redact/secret-filter.ts": [
    ["path.slice(path.lastIndexOf", '(path.lastIndexOf(".")) - ', "a name ends with a word of its own"],
    ["path.slice(path.lastIndexOf", '"mutant"', "a name ends with a word of its own"],
    ["path.slice(path.lastIndexOf", "/\\[\\d*\\]/", "a name behind a position is the last one"],
    ["secretRules.patterns.length === 0 &&", "secretRules.patterns.length === 0", noPerson],
    ["secretRules.patterns.length === 0 &&", "(personal) !==", noPerson],
    ["#skipsHarmless && harmless", "false", shortcut],
    ["const leastDigits", "", "no secret has from 11 to 13 digits alone"],
    ["const isShort", "(digits.length) <=", "no secret has 12 digits alone"],
    ["cleanTexts", "", cache],
    ...otherForms.map((it) => [
      "[\\da-f]{8}-",
      it,
      "what has another form is looked at, or is too little for a secret",
    ]),
    ["/^\\n*\\{", "/\\n*", "the condition on every line has the same anchor"],
    ["#count = 0", "", cache],
    ["texts.size > 5000", "this.#count !==", cache],
    ["texts.size > 5000", "5001", cache],
    ["texts.size > 5000", "4999", cache],
    ["this.#count = count;", "(removed)", cache],
    ["text.length <= 300", "", cache],
    ["cleanTexts.has(text)", "false", cache],
    ["cleanTexts.add(text)", "(removed)", cache],
    ["isPlaceholder(text)) return text", "text.length", shortcut],
  ],
  "src/lab/tapes/redact/scan.ts": [
    ['secret === "***" ?', "isPublic(kind)", "what is masked has no shape of a secret"],
    ['secret === "***" ?', '"mutant"', "what is masked has no shape of a secret"],
    ["number: 0", "1", "masks have no numbers"],
    ["body && now &&", "body", types],
    ["body && now &&", "now", types],
  ],
  "src/lab/tapes/redact/personal.ts": [
    ['digits ?? ""', "digits", types],
    ["(Number(a) - 18)", "(Number(a)) +", "an address shows seventeen bits of it"],
    ["value === 0 ||", '!["place", "phone", "text"].includes(kind)', decidedBefore],
    ["value === 0 ||", "1", decidedBefore],
  ],
  "src/lab/tapes/redact/memory.ts": [
    ...["(secret.length <= 256) ?", "257", "255"].map((it) => [
      "secret.length <= 256",
      it,
      "saves memory only: the hash tells secrets apart, too",
    ]),
    ["text.length < 12", "telling.size === 0", shortcut],
    ["text.length < 12", "11", shortcut],
    ['?? "secret"', "telling.get(secret)", types],
    ['?? "secret"', '"mutant"', types],
  ],
  "src/lab/tapes/redact/redactor.ts": [],
  "src/lab/tapes/redact/scan-tape.ts": [
    ["readdir(folder)).sort()", "await readdir(folder)", "this system lists the names in order already"],
  ],
  "src/lab/tapes/redact/bind.ts": [
    ["value !== undefined && !into", "!into", types],
    ["live.size === 1 &&", "live.size === 1", types],
  ],
  "src/lab/tapes/redact/placeholders.ts": [['!text.includes("secret")', "false", shortcut]],
  "src/lab/tapes/redact/encoded.ts": [
    ["const uuid", "", "saves a look only: the bytes of a UUID are no text"],
    ["uuid.test(found)", "false", shortcut],
    ['!text.includes("\\0")', "false", shortcut],
    ["if (after === plain) return run", "false", "the same is written again as it was"],
    ["const unbrokenRun", "/[A-Za-z0-9+/_-]{16,}={0,2}/", shortcut],
    ["{1,100000}", "/(?:[A-Za-z0-9+/_-]{32,76}(?:\\r?\\n|(?:\\\\r)?\\\\n)){1,100001}", "a bound"],
    ["const hasBrokenRun", "/(?:\\n|\\\\n)(?<=[A-Za-z0-9+/_-]{31}", "the search for lines asks for 32"],
    ['packed === "unreadable" ? undefined', '"mutant"', "that word has no text, either"],
    ["text.length < 6", "layers === 0", shortcut],
    ["text.length < 6", "5", shortcut],
    ["plain === undefined || plain === run", "plain === undefined", shortcut],
    ["/=+$/", "/=+/", "they stand at the end only"],
    ["/^(?:[\\da-fA-F]{2}){8,}$/", "/^(?:[\\da-fA-F]{2}){7,}", "a run has sixteen characters"],
    ['unicode ?? byte ?? ""', "unicode ?? byte", types],
    ["!/\\\\[ux]/.test(text)", "false", shortcut],
  ],
  "src/lab/tapes/redact/fields.ts": [
    ["!/:[ \\t]/.test(out)", "false", shortcut],
    ["const quotedHead", "/(\\\\{0,15})([\"'])([\\w.$ -]{2,80}", noName],
    ["const quotedHead", "/(\\\\{0,15})([\"'])([\\w.$ -]{0,80}", noName],
    ["const pairHead", "/(?<=^|[?&#;,\\s\"'({])([\\w.$[\\]%-]{2,80}", noName],
    ["const pairHead", "/(?<=^|[?&#;,\\s\"'({])([\\w.$[\\]%-]{0,80}", noName],
    ["const line", "/^([ \\t]{0,20}([\\w.$-]{2,80}", noName],
    ["const line", "/^([ \\t]{0,20}([\\w.$-]{0,80}", noName],
    ["const bareNumber", "/([\"'])([\\w.$ -]{2,80}", noName],
    ["const bareNumber", "/([\"'])([\\w.$ -]{0,80}", noName],
    ["const pairValue", "/(?:[^&#\\s\"'<>;,)]|#(?![\\w.-]{1,80}=)){1,100001}", "a bound"],
  ],
  "src/lab/tapes/redact/walk.ts": [
    ["name !== undefined && flagMaps", "flagMaps", types],
    ["const isLeaf = ", "", shortcut],
    ["const startsLikeJson", "/\\s*", "what only contains a bracket is no JSON"],
    ["const value: Json = JSON.parse", "it.endsWith", "a string ends as it begins"],
  ],
  "src/lab/assert/match/nearest.ts": [
    ["Math.min(a.length, b.length) * 3", "longest === 0", shortcut],
    ["Math.min(a.length, b.length) * 3", "Math.max", shortcut],
    ["Math.min(a.length, b.length) * 3", "4", shortcut],
    ["Math.min(a.length, b.length) * 3", "(longest) /", shortcut],
    ["share < 2 / 3", "(share) <=", "no share of whole letters is 2 / 3 to the last bit"],
  ],
  "src/lab/assert/match/pattern.ts": [
    ['"toJSON" in pattern', "typeof", types],
    ["predicateOf(pattern) ?? ", "predicateOf", types],
    ["predicateOf(pattern) ?? ", "true", types],
    ['case "literal"', "", decidedBefore],
    ["return shape.value === value", "", decidedBefore],
    ['case "absent"', "", decidedBefore],
    ["return value === undefined;", "", decidedBefore],
    ['?? "@…"', "", types],
  ],
  "src/lab/assert/match/differences.ts": [
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
    ['shape.is === "predicate" && value', "shape.is", "what is absent is not asked"],
    ['shape.is === "moment" &&', 'shape.is === "moment"', "a text is no number of seconds"],
  ],
  "src/lab/assert/match/evaluate.ts": [
    ["?? []", "matched[i]", types],
    ["min ?? 0", "countOf(expectation).min", "no comparison with undefined holds, as none with 0 does"],
    ["start === -1 ? []", "2", "a slice from the last event on that ends before it is empty, too"],
    ["taken.length < least && last", "taken.length < least", types],
    ["?? last.event", "start === -1 ?", types],
    ["[event, ...inner]", "(removed)", "operators and properties in one pattern are a mistake that is reported"],
  ],
  "src/lab/assert/match/operators.ts": [
    ["Number.isFinite(value)", "Number.isFinite", types],
    ["?? Number.NaN", "momentOf", types],
    ["isText(value) && isText(operand)", "isText(value)", types],
    ["isKind(name) && kinds", "kinds", types],
    ["near !== undefined", 'typeof value === "number"', types],
    ["typeof expression !==", "isText(value)", types],
  ],
  "src/lab/tapes/match/near-miss.ts": [
    ["slice(0, 100)", "1", "every path begins with a slash"],
    ["row < rows.length", "-1", "no row has this number"],
    ["row < rows.length", "(row) <=", "no row has this number"],
    ["body !== undefined && { body }", "{ body }", "absent and undefined are compared alike"],
    ["recorded === live", "false", shortcut],
    ["placeholdersIn(text).length === 0", "false", shortcut],
    ["rows[row] ?? {}", "rows[row]", types],
    ["method !== ask.method", "!isRedacted || route !== ask.route", "the documents have the method"],
  ],
  "src/lab/tapes/match/keys.ts": [
    ["slice(0, 22)", "1", "any part of a hash will do"],
    ["slice(0, 22)", "23", "any part of a hash will do"],
  ],
  "src/lab/tapes/match/canonical.ts": [
    ["object[name] ?? null", "object[name]", types],
    ["object[name] !== undefined", "!rules.drops", "JSON has no undefined"],
    ['return "…"', '"mutant"', "any text that stands for the rest will do"],
    ['join(",")', '"mutant"', "any text that keeps them apart will do"],
  ],
  "src/lab/tapes/match/catalog.ts": [
    ['live[at] ?? ""', "live[at]", types],
    ["rows[at] ?? -1", "-1", types],
    ["rows[at] ?? -1", "1", types],
    ["rows[at] ?? -1", "2", types],
    ["rows[at] ?? -1", "rows[at]", types],
    ["cursors.get(series) ?? 0", "0", shortcut],
    ["while (at < rows.length && isUsed(at)) at++", "isUsed(at)", "no row has no number"],
    ["while (at < rows.length && isUsed(at)) at++", "(at) <=", "no row has no number"],
  ],
  "src/service/flags/engine/operators.ts": [["value ?? null", "value", types]],
  "src/service/flags/engine/evaluate.ts": [
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
  "src/service/flags/engine/cohorts.ts": [
    ['case "unknown"', '"mutant"', "undefined is as false"],
    ["cohort.name ?? undefined", "compiled.get(id)?.cohort.name", "no name is no name, null or undefined"],
    ["const nothing: TreeNode", '"mutant"', "stands where no tree is evaluated"],
    ["failure: undefined", "(removed)", absent],
    ["tree: nothing", "(removed)", "stands where no tree is evaluated"],
    ["members: undefined", "(removed)", absent],
    ["throw error;", "(removed)", "no other error is thrown there"],
    ["if (known) return known", "false", cache],
    ["plans.set(id, plan)", "(removed)", cache],
    ["person !== undefined && members.has", "members.has", types],
    ["if (known !== undefined) return known", "", cache],
    ["if (run.members.has(cohort.id)) continue", "(removed)", cache],
    ["return run.members.get(id) === true", "", "who asks first only has it computed"],
  ],
  "src/service/flags/engine/cohort-tree.ts": [["filter.value ?? null", "filter.value", "an absent value is as null"]],
  "src/service/flags/engine/overrides.ts": [
    ["all.length === 0", "", shortcut],
    ["overrides.size === 0", "", shortcut],
  ],
  "src/service/capture/person-ids.ts": [
    ["id.length <= 36 &&", "personless", shortcut],
    ["id.length <= 36 &&", "37", shortcut],
  ],
  "src/service/capture/admit-legacy.ts": [['typeof timestamp !== "string" &&', "false", shortcut]],
  "src/service/capture/admit-v1.ts": [
    ["text.length > maxName ||", "Buffer.byteLength(text) > maxName", shortcut],
    ["?? noProperties;", "optionProperties(item.raw.options)", types],
  ],
  "src/kernel/store/lines.ts": [
    ["const chunkSize", "", "pieces of any size will do"],
    ["indexOf(sealStart, at + 1)", "2", "no seal begins with the second byte of another"],
    ["end > bytes.start", "(end) >=", "nothing stands before the start"],
    ["end - from", "(end) +", "what stands behind was looked at before"],
    ["at < offset", "(at) <=", "nothing is read then"],
  ],
  "src/state/journal/filter/parse.ts": [
    ["const nothing: Node", "", unused],
    ["hint !== undefined && { hint }", "{ hint }", absent],
    ["of.length === 1 && first", "of.length === 1", types],
    ["const isTouching", "2", "no negation has two characters"],
    ["node = joined(", '"mutant"', unused],
    ["node = joined(", "(removed)", unused],
    ["longestFilter.toLocaleString", '"mutant"', "the test's locale writes the same"],
    ["node: nothing,", "(removed)", unused],
  ],
  "src/lab/tapes/har/read-entry.ts": [
    ['given === ""', 'method === ""', decidedBefore],
    ["url !== null && !isOfService", "!all", types],
    ["https?:$/.test(url.protocol)", "/^https?:/", "a protocol ends with its colon"],
    ["text.replace(/#.*$/s", "/#.*/s", "it takes all that follows by itself"],
    ["Buffer.isBuffer(body) &&", "body.length", "another body has no length"],
    ['numberIn(response, "status") ?? 0', "", "every number below 100 is no status"],
    ['textIn(json, "startedDateTime") ?? ""', "textIn", "undefined is no time, either"],
    ["/\\/i\\/v\\d\\/(?:e|ai|", "/\\/i\\/v\\d\\/(?:(?!)|ai", "the row of the old paths has /e, too"],
    ["/\\/i\\/v\\d\\/(?:e|ai|", "/\\/i\\/v\\d\\/(?:e|ai|(?!)", "the row of the old paths has /batch, too"],
  ],
  "src/service/capture/call-owner.ts": [
    ['own(body, "token")) : undefined', 'own(body, "api_key")', "an item's own key is looked for next"],
    ['own(body, "token")) : undefined', '"mutant"', "an item's own key is looked for next"],
    ["json && attempt(", "attempt(", "what cannot be read has no key"],
    ["call.body.length > 0", "1", "one byte has no key"],
    ["const namedProject", "/^\\/api\\/(?:projects|environments)\\/(\\d{0,15})", "a path has no empty part"],
    ["key === undefined) return null", "false", "no project has it"],
  ],
  "src/state/journal/log/hash-index.ts": [
    ["const shardBits", "", "any number of parts will do"],
    ["const shardCount", "2", "any number of parts will do"],
    ["const delay", "", "a pause of any length will do"],
    ["!shard", "false", types],
    ["slots[i] ?? 0", "slots[i]", types],
    ["slots[i] ?? 0", "1", types],
  ],
  "src/service/capture/timestamp.ts": [
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
