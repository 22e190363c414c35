import config from "../../playwright/playwright.config.ts";

export default { ...config, testDir: "." };
