export { default } from "../../vitest-browser/vitest.config.js";
