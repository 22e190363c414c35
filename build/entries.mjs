import { readdirSync } from "node:fs";

/** Files of `src/testing` that test runners load. */
export const skins = readdirSync("src/testing").filter((it) => /^(jest|playwright|vitest)[\w-]*\.ts$/.test(it));

/** Test runners are the users' own. */
export const peers = ["vitest", "@playwright/test", "@jest/globals"];
