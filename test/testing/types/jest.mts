import { expect, test } from "@jest/globals";
import { type Project, project, sim, withProject } from "phx-sim/jest";

test("types", async () => {
  const ph: Project = await project({ flags: { beta: "a" } });
  const done: Promise<void> = expect(ph).toHaveCaptured("signed_up", { plan: expect.any(String) });
  await done;
  await expect(await sim()).not.toHaveCaptured("a");
  await expect(ph).toHaveServedFlag("beta", "test", { distinctId: "anna" });

  // @ts-expect-error only a project or a sim has the matchers
  await expect("text").toHaveCaptured("a");
  // @ts-expect-error there is no such operator
  await expect(ph).toHaveCaptured("a", { amount: { "@gtee": 3 } });
  // @ts-expect-error an event is a name or an object
  await expect(ph).toHaveCaptured(1);
  // @ts-expect-error the count is a number
  await expect(ph).toHaveCapturedTimes("a", "2");
  // @ts-expect-error a flag is a boolean or a text
  await project({ flags: { beta: 1 } });
});

test(
  "body",
  withProject(async (ph) => {
    await expect(ph).toHaveMerged("a", "b");
  }),
);
