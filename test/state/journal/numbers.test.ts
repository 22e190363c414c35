import { beforeAll, describe, expect, test } from "vitest";
import { openSim } from "../../support/sim.ts";

const { sim } = await openSim();
describe("numbers in paths of the control API", () => {
  beforeAll(async () => {
    const body = JSON.stringify({ api_key: sim.apiKey, event: "seen", distinct_id: "user-1" });
    await sim.handle(new Request("http://sim.test/capture", { method: "POST", body }));
  });

  const ask = (path: string) => sim.handle(new Request(`http://sim.test/__sim/${path}`));

  test.each(["requests", "events"])("%s/1 is there", async (collection) => {
    expect((await ask(`${collection}/1`)).status).toBe(200);
  });

  const absent = ["0", "2", "-1", "1.5", "abc", "1e400", "01", "%201", "%00", "99999999999999999999"];
  test.each(absent.flatMap((it) => [`requests/${it}`, `events/${it}`]))("%s is not", async (path) => {
    const answer = await ask(path);
    expect([answer.status, await answer.json()]).toMatchObject([404, { code: "not_found", hint: null }]);
  });
});
