export default {
  globalSetup: "phx-sim/jest/global",
  globalTeardown: "phx-sim/jest/teardown",
  setupFilesAfterEnv: ["phx-sim/jest"],
  // Babel, SWC or ts-jest in your project.
  transform: { "/apps/.*\\.[jt]s$": "../../jest/transform.cjs" },
};
