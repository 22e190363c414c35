import { expect, test } from "phx-sim/vitest";

test("expects in the browser", async ({ ph }) => {
  await expect(ph).toHaveCaptured("signup_completed");
});
