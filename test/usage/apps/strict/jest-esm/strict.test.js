import { project } from "phx-sim/jest";

test("a matcher without await", async () => {
  const ph = await project();
  expect(ph).toHaveCaptured("nope");
});

test("a limit below the wait", async () => {
  const ph = await project();
  await expect(ph).toHaveCaptured("missing at the limit");
}, 3_000);

test("a call to the real service", async () => {
  await expect(fetch("https://us.i.posthog.com/batch/", { method: "POST" })).rejects.toThrow();
});
