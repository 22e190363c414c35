const { project } = require("phx-sim/jest");

test("there is no sim", async () => {
  await project();
});
