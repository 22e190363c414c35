export default {
  globalSetup: "phx-sim/jest/global",
  globalTeardown: "phx-sim/jest/teardown",
  setupFilesAfterEnv: ["phx-sim/jest"],
  testEnvironment: "jsdom",
  transform: { "/apps/.*\\.[jt]s$": "../../jest/transform.cjs" },
};
