import { beforeAll, expect, test } from "vitest";
import { control } from "../../support/control.ts";
import { openSim } from "../../support/sim.ts";

const { sim, capture } = await openSim();
beforeAll(async () => {
  await capture({ event: "kept", distinct_id: "u" });
});

test.each([
  ["GET", "events?evnt=signup", 'unknown parameter "evnt"; did you mean event?', "?evnt"],
  ["GET", "events/1?project=1", 'unknown parameter "project"', "?project"],
  ["DELETE", "events?projct=1", 'unknown parameter "projct"; did you mean project?', "?projct"],
  ["POST", "reset?project=2", 'unknown parameter "project"', "?project"],
  ["GET", "persons?__proto__=1", 'unknown parameter "__proto__"', "?__proto__"],
  ["GET", "requests/?&limit=1&nothing", 'unknown parameter "nothing"', "?nothing"],
])("%s %s is a mistake", async (method, path, detail, pointer) => {
  const { status, answer } = await control(sim, method, path);
  expect([status, answer]).toEqual([
    400,
    { code: "invalid_input", detail, pointer, hint: expect.stringMatching(/^parameters: |^it takes none$/) },
  ]);
  expect(await sim.events.list()).toMatchObject([{ event: "kept" }]);
});
