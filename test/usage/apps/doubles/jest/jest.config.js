export default {
  globalSetup: "phx-sim/jest/global",
  globalTeardown: "phx-sim/jest/teardown",
  setupFilesAfterEnv: ["phx-sim/jest"],
  // Babel, SWC or ts-jest in your project.
  transform: { "/(apps|rettime|until-async|deferred-promise)/.*\\.m?[jt]s$": "../../jest/transform.cjs" },
  // Packages of MSW that are ES modules.
  transformIgnorePatterns: ["/node_modules/(?!(rettime|until-async|@open-draft/deferred-promise)/)"],
  // One process for every file: what a file leaves behind, the next one finds.
  maxWorkers: 1,
};
