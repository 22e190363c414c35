export default {
  globalSetup: "phx-sim/jest/global",
  globalTeardown: "phx-sim/jest/teardown",
  setupFilesAfterEnv: ["phx-sim/jest"],
  transform: { "/apps/.*\\.[jt]s$": "../../jest/transform.cjs" },
  globals: { phxGuard: "reroute" },
};
