import { rmSync, symlinkSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { readScenario } from "../../../src/lab/scenario/load.ts";
import { linesOf } from "../../../src/lab/scenario/problems.ts";
import { folderOf } from "./files.ts";

/** A sound scenario whose last line is in the middle of its project: what follows it begins in line 8. */
const project = `version: 1
personal_api_keys: [{ key: phx_k, scopes: ["*"] }]
organizations:
  - name: Org
    projects:
      - name: P
        api_key: phc_p
`;

/** The sound scenario with a text behind it, and one change before. */
const inProject = (text: string, from = "", to = ""): string => `${project.replace(from, to)}${text}`;

type Row = readonly [name: string, format: "json" | "yaml", text: string, ...lines: string[]];

/** Mistakes that authors make, with everything that they are reported. */
const mistakes: readonly Row[] = [
  ["a missing comma", "json", '{\n  "version": 1\n  "users": []\n}', "it:3:3: expected a comma before this"],
  ["single quotes", "json", "{ 'version': 1 }", "it:1:3: this is not JSON; keys and strings must be in double quotes"],
  [
    "a key without quotes",
    "json",
    "{ version: 1 }",
    "it:1:3: this is not JSON; keys and strings must be in double quotes",
  ],
  [
    "a text that is not closed",
    "json",
    '{\n  "version": 1,\n  "description": "half\n}',
    'it:3:18: expected " at the end of the string, in the same line',
  ],
  ["a brace that is not closed", "json", '{ "version": 1, "users": [', "it:1:27: expected ] at the end of the list"],
  ["two scenarios in a file", "json", '{ "version": 1 } { "version": 1 }', "it:1:18: expected the end of the file"],
  [
    "a tab that indents",
    "yaml",
    "version: 1\nusers:\n\t- email: a@b.c\n",
    "it:3:1: this is not YAML: Tabs are not allowed as indentation; indent with spaces",
  ],
  [
    "a bracket in YAML that is not closed",
    "yaml",
    "version: 1\nusers: [{ email: a@b.c }\n",
    "it:3:1: this is not YAML: Flow sequence in block collection must be sufficiently indented and end with a ]",
  ],
  [
    "an indentation that fits nothing",
    "yaml",
    "version: 1\nusers:\n    - email: a@b.c\n  - email: b@b.c\n",
    "it:4:1: this is not YAML: A block sequence may not be used as an implicit map key",
  ],
  [
    "a tag",
    "yaml",
    inProject("        timezone: !zone UTC\n"),
    "it:8:25 /organizations/0/projects/0/timezone: expected a value without the tag !zone",
  ],
  [
    "an alias of nothing",
    "yaml",
    inProject("        flags: *nothing\n"),
    "it:8:16 /organizations/0/projects/0/flags: *nothing is an anchor that nothing before it has",
  ],
  [
    "an alias of itself",
    "yaml",
    inProject("        settings: &loop { again: *loop }\n"),
    "it:8:34 /organizations/0/projects/0/settings/again: *loop is a value inside itself",
  ],
  [
    "a number that JSON has not",
    "yaml",
    inProject("        flags: { half: { rollout: .nan } }\n"),
    "it:8:35 /organizations/0/projects/0/flags/half/rollout: expected a number that JSON can hold",
  ],
  [
    "a flag with rules of another version",
    "yaml",
    inProject("        flags:\n          next:\n            filters: { version: 3, rules: [] }\n"),
    "it:10:33 /organizations/0/projects/0/flags/next/filters/version: expected 1 or 2 (rules of other versions are not evaluated), got 3",
  ],
  [
    "a flag with rules of version 2",
    "yaml",
    inProject(
      "        flags:\n          next:\n            filters: { version: 2, default_value: 1, rules: [{ id: 1 }] }\n",
    ),
    "it:10:22 /organizations/0/projects/0/flags/next/filters/return_type: this field is required",
    "it:10:62 /organizations/0/projects/0/flags/next/filters/rules/0/rule_type: this field is required",
  ],
  [
    "a key twice in JSON",
    "json",
    '{\n  "version": 1,\n  "version": 1\n}',
    'it:3:3 /version: the key "version" is there twice, as in line 2',
  ],
  [
    "a key twice in YAML",
    "yaml",
    inProject("        flags:\n          beta: true\n          beta: false\n"),
    'it:10:11 /organizations/0/projects/0/flags/beta: the key "beta" is there twice, as in line 9',
  ],
  [
    "a key that is a list",
    "yaml",
    inProject("        settings: { [a]: 1 }\n"),
    "it:8:21 /organizations/0/projects/0/settings: expected a string as key",
  ],
  ["an empty file", "yaml", "", "it: is empty; `phx-sim scenario init` writes a scenario to begin with"],
  ["an empty file of JSON", "json", " \n", "it: is empty; `phx-sim scenario init` writes a scenario to begin with"],
  ["a binary file", "yaml", "flags\u0000: {}", "it: is not text in UTF-8; save it as UTF-8"],
  [
    "lists in lists without end",
    "yaml",
    "[".repeat(20_000),
    "it:1:1: expected at most 100 levels of lists and objects",
  ],
  [
    "projects at the top",
    "yaml",
    "projects:\n  - name: A\n",
    'it:1:1 /projects: unknown key "projects"; it belongs in an organization',
  ],
  ["a list", "json", "[]", "it:1:1: expected an object, got an empty list"],
  ["another version", "yaml", inProject("", "version: 1", "version: 2"), "it:1:10 /version: expected 1, got 2"],
  [
    "a key with a slip",
    "yaml",
    inProject("        dashbords: []\n"),
    'it:8:9 /organizations/0/projects/0/dashbords: unknown key "dashbords"; did you mean "dashboards"?',
  ],
  [
    "a key in the wrong place",
    "yaml",
    inProject("is_demo: true\n"),
    'it:8:1 /is_demo: unknown key "is_demo"; it belongs in a project',
  ],
  [
    "a key that is nowhere near",
    "yaml",
    inProject("        colour: red\n"),
    'it:8:9 /organizations/0/projects/0/colour: unknown key "colour"',
  ],
  [
    "a key of a flag",
    "yaml",
    inProject("        flags: { beta: { rolout: 50 } }\n"),
    'it:8:26 /organizations/0/projects/0/flags/beta/rolout: unknown key "rolout"; did you mean "rollout"?',
  ],
  [
    "too much rollout",
    "yaml",
    inProject("        flags: { beta: { rollout: 150 } }\n"),
    "it:8:35 /organizations/0/projects/0/flags/beta/rollout: expected a number of at most 100, got 150",
  ],
  [
    "a number in quotes",
    "yaml",
    inProject('        flags: { beta: { rollout: "50" } }\n'),
    'it:8:35 /organizations/0/projects/0/flags/beta/rollout: expected a number, got "50"; leave the quotes out',
  ],
  [
    "a number where a text stands",
    "yaml",
    inProject("        secret_api_key: 1234\n"),
    "it:8:25 /organizations/0/projects/0/secret_api_key: expected a string, got (hidden); put it in quotes",
  ],
  [
    "a flag that is a text",
    "yaml",
    inProject('        flags: { beta: "on" }\n'),
    'it:8:24 /organizations/0/projects/0/flags/beta: expected a flag: true, false or an object, got "on"; write true',
  ],
  [
    "an id that is not whole",
    "yaml",
    inProject("        id: 1.5\n"),
    "it:8:13 /organizations/0/projects/0/id: expected a whole number, got 1.5",
  ],
  [
    "an id below one",
    "yaml",
    inProject("        id: 0\n"),
    "it:8:13 /organizations/0/projects/0/id: expected a number above 0, got 0",
  ],
  [
    "a level with a slip",
    "yaml",
    inProject("users: [{ email: a@b.c }]\n", "    projects:", "    members: { a@b.c: admn }\n    projects:"),
    'it:5:23 /organizations/0/members/a@b.c: expected "member", "admin" or "owner", got "admn"; did you mean "admin"?',
  ],
  [
    "an address without @",
    "yaml",
    inProject("users: [{ email: nobody }]\n"),
    'it:8:18 /users/0/email: expected an e-mail address, got "nobody"',
  ],
  [
    "a member that is no address",
    "yaml",
    inProject("", "    projects:", "    members: { nobody: admin }\n    projects:"),
    'it:5:16 /organizations/0/members/nobody: expected an e-mail address as key, got "nobody"',
  ],
  [
    "a user without an address",
    "yaml",
    inProject("users: [{ first_name: Ann }]\n"),
    "it:8:9 /users/0/email: is missing; expected a string",
  ],
  [
    "no users at all",
    "yaml",
    inProject("users: []\n"),
    "it:8:8 /users: expected at least one entry, got an empty list",
  ],
  [
    "a personal key for a project",
    "yaml",
    inProject("", "phc_p", "phx_p"),
    "it:7:18 /organizations/0/projects/0/api_key: expected a project key: up to 64 ASCII characters, not phx_…, got (hidden)",
  ],
  [
    "a time without an offset",
    "yaml",
    inProject("        created_at: 2025-01-01T12:00:00\n"),
    'it:8:21 /organizations/0/projects/0/created_at: expected a time with its offset, such as 2025-01-01T00:00:00Z, got "2025-01-01T12:00:00"',
  ],
  [
    "a day that there is not",
    "yaml",
    inProject("        created_at: 2025-02-30T25:00:00Z\n"),
    'it:8:21 /organizations/0/projects/0/created_at: expected a time with its offset, such as 2025-01-01T00:00:00Z, got "2025-02-30T25:00:00Z"',
  ],
  [
    "a uuid that is none",
    "yaml",
    inProject("        uuid: 12345\n"),
    "it:8:15 /organizations/0/projects/0/uuid: expected a UUID, got 12345; put it in quotes",
  ],
  [
    "a tile with neither",
    "yaml",
    inProject("        dashboards: [{ tiles: [{ color: blue }] }]\n"),
    "it:8:32 /organizations/0/projects/0/dashboards/0/tiles/0: expected a tile: an object with either `text` or `insight`",
  ],
  [
    "a tile with both",
    "yaml",
    inProject("        insights: [{ name: I }]\n        dashboards: [{ tiles: [{ text: a, insight: I }] }]\n"),
    'it:9:43 /organizations/0/projects/0/dashboards/0/tiles/0/insight: "insight" cannot be combined with the other keys',
  ],
  [
    "a restriction that is none",
    "yaml",
    inProject("        dashboards: [{ restriction_level: 36 }]\n"),
    "it:8:43 /organizations/0/projects/0/dashboards/0/restriction_level: expected 21 or 37, got 36",
  ],
  [
    "a status with a slip",
    "yaml",
    inProject(
      "        batch_exports:\n          - name: E\n            interval: hour\n            destination: { type: S3, config: {} }\n            runs: [{ status: Complete, data_interval_start: null, data_interval_end: 2025-01-01 }]\n",
    ),
    'it:12:30 /organizations/0/projects/0/batch_exports/0/runs/0/status: expected "Starting", "Running", "Completed", "Failed", "FailedRetryable", "FailedBilling", "Cancelled", "Terminated", "TimedOut" or "ContinuedAsNew", got "Complete"; did you mean "Completed"?',
  ],
  [
    "an interval that there is not",
    "yaml",
    inProject(
      "        batch_exports:\n          - { name: E, interval: month, destination: { type: S3, config: {} } }\n",
    ),
    'it:9:34 /organizations/0/projects/0/batch_exports/0/interval: expected "hour", "day", "week", "every 5 minutes" or "every 15 minutes", got "month"',
  ],
  [
    "an address that is none",
    "yaml",
    inProject("geoip: [{ address: localhost }]\n"),
    'it:8:20 /geoip/0/address: expected an IP address, or a range such as 203.0.113.0/24, got "localhost"',
  ],
  [
    "six types of groups",
    "yaml",
    inProject("        group_types: [a, b, c, d, e, f]\n"),
    "it:8:22 /organizations/0/projects/0/group_types: expected at most 5 entries, got a list of 6",
  ],
  [
    "a person without ids",
    "yaml",
    inProject("        persons: [{ distinct_ids: [] }]\n"),
    "it:8:35 /organizations/0/projects/0/persons/0/distinct_ids: expected at least one entry, got an empty list",
  ],
  [
    "a scope list that is a text",
    "yaml",
    inProject("", '["*"]', '"*"'),
    'it:2:43 /personal_api_keys/0/scopes: expected a list, got "*"',
  ],
  [
    "an insight with a slip",
    "yaml",
    inProject(
      "        insights: [{ name: Pageviews }]\n        dashboards:\n          - tiles:\n              - insight: Pageveiws\n",
    ),
    'it:11:26 /organizations/0/projects/0/dashboards/0/tiles/0/insight: unknown insight "Pageveiws"; did you mean "Pageviews"?',
  ],
  [
    "a user who does not exist",
    "yaml",
    inProject("        dashboards: [{ created_by: eve@b.c }]\n"),
    'it:8:36 /organizations/0/projects/0/dashboards/0/created_by: unknown user "eve@b.c"',
  ],
  [
    "a primary dashboard with a slip",
    "yaml",
    inProject("        dashboards: [{ name: Overview }]\n        primary_dashboard: Overveiw\n"),
    'it:9:28 /organizations/0/projects/0/primary_dashboard: unknown dashboard "Overveiw"; did you mean "Overview"?',
  ],
  [
    "a project of a key",
    "yaml",
    inProject("", '["*"] }', '["*"], projects: [P, Q2] }'),
    'it:2:64 /personal_api_keys/0/projects/1: unknown project "Q2"',
  ],
  [
    "a member of a cohort",
    "yaml",
    inProject(
      "        persons: [{ distinct_ids: [ann] }]\n        cohorts: [{ name: C, is_static: true, persons: [anm] }]\n",
    ),
    'it:9:57 /organizations/0/projects/0/cohorts/0/persons/0: unknown person "anm"; did you mean "ann"?',
  ],
  [
    "a sixth type of groups",
    "yaml",
    inProject("        group_types: [a, b, c, d, e]\n        groups: [{ type: f, key: k }]\n"),
    "it:9:26 /organizations/0/projects/0/groups/0/type: expected at most 5 types of groups",
  ],
  [
    "two users of an address",
    "yaml",
    inProject("users:\n  - email: a@b.c\n  - email: A@b.c\n"),
    "it:10:12 /users/1/email: the same e-mail address as /users/0/email",
  ],
  [
    "two projects of a key",
    "yaml",
    inProject("      - name: P2\n        api_key: phc_p\n"),
    "it:9:18 /organizations/0/projects/1/api_key: the same project key as /organizations/0/projects/0/api_key",
  ],
  [
    "two dashboards of a number",
    "yaml",
    inProject("        dashboards:\n          - { id: 3 }\n          - { id: 3 }\n"),
    "it:10:19 /organizations/0/projects/0/dashboards/1/id: the same id in dashboards as /organizations/0/projects/0/dashboards/0/id",
  ],
  [
    "a distinct id of two persons",
    "yaml",
    inProject("        persons:\n          - distinct_ids: [ann]\n          - distinct_ids: [bob, ann]\n"),
    "it:10:33 /organizations/0/projects/0/persons/1/distinct_ids/1: the same distinct id in project 1 as /organizations/0/projects/0/persons/0/distinct_ids/0",
  ],
  [
    "a group twice",
    "yaml",
    inProject("        groups:\n          - { type: team, key: red }\n          - { type: team, key: red }\n"),
    "it:10:32 /organizations/0/projects/0/groups/1/key: the same team in project 1 as /organizations/0/projects/0/groups/0/key",
  ],
  [
    "all at once: of references, twice",
    "yaml",
    inProject(
      "        dashboards: [{ created_by: eve@b.c, tiles: [{ insight: I }] }]\n        persons:\n          - distinct_ids: [ann]\n          - distinct_ids: [ann]\n",
    ),
    'it:8:36 /organizations/0/projects/0/dashboards/0/created_by: unknown user "eve@b.c"',
    'it:8:64 /organizations/0/projects/0/dashboards/0/tiles/0/insight: unknown insight "I"',
    "it:11:28 /organizations/0/projects/0/persons/1/distinct_ids/0: the same distinct id in project 1 as /organizations/0/projects/0/persons/0/distinct_ids/0",
  ],
];

const folder = folderOf();

describe("files that cannot be read", () => {
  test.each([
    ["nowhere.yaml", "does not exist", expect.stringMatching(/^shipped scenarios are /)],
    ["shpo.yaml", "does not exist", expect.stringMatching(/^did you mean ".*shop\.yml"\?$/)],
    ["loop.yaml", "is a symbolic link to itself", null],
  ])("%s", async (name, message, hint) => {
    folder.write("shop.yml", project);
    folder.write("bomb.yaml", project);
    rmSync(folder.file("loop.yaml"), { force: true });
    symlinkSync("loop.yaml", folder.file("loop.yaml"));
    const { problems } = await readScenario(folder.file(name));
    expect(problems).toMatchObject([{ message, hint }]);
  });
});

describe("mistakes", () => {
  test("there are enough of them", () => expect(mistakes.length).toBeGreaterThanOrEqual(30));

  test("but none in what they are made of", async () => {
    const file = folder.write("sound.yaml", project);
    expect(await readScenario(file)).toMatchObject({ problems: [], files: [file] });
  });

  test.each(mistakes.map(([name, ...row]) => [name, row] as const))("%s", async (_, [format, text, ...lines]) => {
    const { problems } = await readScenario(folder.write(`it.${format}`, text));
    expect(linesOf(problems, folder.path)).toEqual(lines.map((line) => line.replace(/^it/, `it.${format}`)));
  });
});
