import { defineConfig } from "@playwright/test";

/** The service's hosts lead to a stand-in, which counts what reaches it. */
const args = [`--host-resolver-rules=MAP *.posthog.com 127.0.0.1:${process.env.STAND_IN_PORT}`];

export default defineConfig({
  testDir: ".",
  reporter: "line",
  timeout: 60_000 + Number(process.env.LEAVES ?? 5) * 3_000,
  use: { launchOptions: { executablePath: process.env.CHROMIUM_PATH, args } },
});
