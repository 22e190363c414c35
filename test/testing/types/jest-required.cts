import globals = require("@jest/globals");
import phx = require("phx-sim/jest");

const { expect, test } = globals;

test("types", async () => {
  const ph: phx.Project = await phx.project();
  await expect(ph).toHaveCaptured("signed_up", { plan: "pro" });

  // @ts-expect-error an event is a name or an object
  await expect(ph).toHaveCaptured(1);
  // @ts-expect-error a flag is a boolean or a text
  await phx.project({ flags: { beta: 1 } });
});
