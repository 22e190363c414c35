import { expect, test } from "vitest";
import { type Scenario, startSim } from "../../../src/index.ts";
import { readScenario } from "../../../src/lab/scenario/load.ts";
import { linesOf } from "../../../src/lab/scenario/problems.ts";
import { folderOf } from "./files.ts";

const scenario: Scenario = {
  clock: "2026-01-02T00:00:00Z",
  users: [{ email: "Ada@acme.test" }, { email: "bob@acme.test" }],
  organizations: [
    {
      name: "Acme",
      members: { "ada@acme.test": "owner", "bob@acme.test": "member" },
      roles: [{ name: "Editors", members: ["bob@acme.test"] }, { name: "Readers" }],
      invites: [
        { target_email: "New@acme.test", level: "admin", created_at: "2026-01-01T00:00:00Z" },
        { target_email: "late@acme.test" },
      ],
      projects: [{ name: "Shop", api_key: "phc_shop" }],
    },
  ],
  personal_api_keys: [{ key: "phx_ada", scopes: ["*"] }],
};

test("roles and invites of a scenario are served, kept by a reset, and removed with their organization", async () => {
  await using sim = await startSim({ scenario });
  const ask = async (method: string, path: string) => {
    const headers = { authorization: "Bearer phx_ada" };
    const response = await fetch(`${sim.url}/api/organizations/@current/${path}`, { method, headers });
    const json = (await response.json().catch(() => ({}))) as { results?: { id: string }[] };
    return { status: response.status, results: json.results ?? [] };
  };
  const read = async () => {
    const [roles, invites] = [await ask("GET", "roles/"), await ask("GET", "invites/")];
    return { roles: roles.results, invites: invites.results };
  };
  const before = await read();
  expect(before.roles).toMatchObject([{ name: "Editors" }, { name: "Readers" }]);
  const members = await ask("GET", `roles/${before.roles[0]?.id}/role_memberships/`);
  expect(members.results).toMatchObject([{ role_id: before.roles[0]?.id, user_uuid: expect.any(String) }]);
  expect(before.invites).toHaveLength(2);
  expect(before.invites).toEqual(
    expect.arrayContaining([
      expect.objectContaining({
        target_email: "new@acme.test",
        level: 8,
        created_by: expect.objectContaining({ email: "Ada@acme.test" }),
      }),
      expect.objectContaining({ target_email: "late@acme.test", level: 1 }),
    ]),
  );

  await ask("DELETE", `roles/${before.roles[0]?.id}/`);
  expect((await read()).roles).toHaveLength(1);
  await sim.reset();
  expect(await read()).toEqual(before);

  expect((await ask("DELETE", "")).status).toBe(204);
  const { world } = (await (
    await fetch(`${sim.url}/__sim/state`, { headers: { authorization: `Bearer ${sim.controlToken}` } })
  ).json()) as { world: { resources: object[] } };
  expect(world.resources).toEqual([]);
});

const folder = folderOf();
const text = (lines: string) => `users: [{ email: ada@acme.test }, { email: bob@acme.test }]
organizations:
  - name: Acme
    members: { ada@acme.test: owner }
${lines}
    projects: [{ name: Shop, api_key: phc_shop }]
`;

test.each<[line: string, problem: string]>([
  ["    roles: [{ name: A }, { name: a }]", 'it:5:34 /organizations/0/roles/1/name: the same role of "Acme" as '],
  [
    "    roles: [{ name: A, members: [bob@acme.test] }]",
    "it:5:34 /organizations/0/roles/0/members/0: bob@acme.test is not a member",
  ],
  ["    roles: [{ name: A, members: [bib@acme.test] }]", "it:5:34 /organizations/0/roles/0/members/0: unknown user "],
  ["    roles: [{ name: A, nam: A }]", "it:5:24 /organizations/0/roles/0/nam: unknown key "],
  [
    "    invites: [{ target_email: ADA@acme.test }]",
    'it:5:31 /organizations/0/invites/0/target_email: ada@acme.test is a member of "Acme" already',
  ],
  [
    "    invites: [{ target_email: x@x.test }, { target_email: X@x.test }]",
    'it:5:59 /organizations/0/invites/1/target_email: the same invite to "Acme" as ',
  ],
  ["    invites: [{ target_email: x }]", "it:5:31 /organizations/0/invites/0/target_email: expected an e-mail address"],
  [
    "    invites: [{ target_email: x@x.test, level: 8 }]",
    'it:5:48 /organizations/0/invites/0/level: expected "member", "admin" or "owner", got 8',
  ],
])("%s", async (line, problem) => {
  const { problems } = await readScenario(folder.write("it.yaml", text(line)));
  expect(linesOf(problems, folder.path)).toEqual([expect.stringContaining(problem.replace(/^it/, "it.yaml"))]);
});
