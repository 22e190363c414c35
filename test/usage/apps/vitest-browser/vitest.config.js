import { playwright } from "@vitest/browser-playwright";
import { connectSim } from "phx-sim";
import { defineConfig } from "vitest/config";

/** Projects by their keys: commands run in Node, and return JSON to the browser. */
const projects = new Map();

export default defineConfig({
  test: {
    globalSetup: "phx-sim/vitest/global",
    browser: {
      enabled: true,
      headless: true,
      provider: playwright({ launchOptions: { executablePath: process.env.CHROMIUM_PATH } }),
      instances: [{ browser: "chromium" }],
      commands: {
        async openProject(_context, url) {
          const sim = await connectSim(url);
          const { host, apiKey, ...project } = await sim.project();
          projects.set(apiKey, project);
          return { host, apiKey };
        },
        waitForEvent: (_context, apiKey, event, properties) =>
          projects.get(apiKey).events.waitFor(event, properties),
        closeProject: (_context, apiKey) => projects.get(apiKey).dispose(),
      },
    },
  },
});
