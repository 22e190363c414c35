import { defineConfig } from "vitest/config";

export default defineConfig({
  test: { setupFiles: "phx-sim/vitest/matchers", provide: { phxSim: { scenario: "shop" } } },
});
