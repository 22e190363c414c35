import { defineConfig } from "vitest/config";

export default defineConfig({
  test: { globalSetup: "phx-sim/vitest/global", provide: { phxSim: { scenario: "../monthly.json" } } },
});
