import { defineConfig } from "@playwright/test";

export default defineConfig({
  testDir: "suite",
  fullyParallel: true,
  reporter: "line",
  use: { launchOptions: { executablePath: process.env.CHROMIUM_PATH } },
});
