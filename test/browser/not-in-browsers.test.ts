import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { chromiumOfFile } from "../support/chromium.ts";

const root = join(import.meta.dirname, "../..");
const browser = chromiumOfFile();

/** What bundlers for browsers make of a runner, and of Node's own modules. */
const page = `<script type="importmap">{"imports": {"vitest": "/others.js", "node:module": "/others.js"}}</script>`;
const others = "export const [expect, inject, test, createRequire] = [];";

test.each(["index.js", "testing/vitest.js", "testing/vitest-matchers.js"])(
  "%s in a browser fails with an error that says what to use",
  async (file) => {
    const tab = await browser().newPage();
    await tab.route("http://phx.test/**", async (route) => {
      const { pathname } = new URL(route.request().url());
      if (pathname === "/") return route.fulfill({ contentType: "text/html", body: page });
      const body = pathname === "/others.js" ? others : await readFile(join(root, pathname), "utf8");
      return route.fulfill({ contentType: "text/javascript", body });
    });
    await tab.goto("http://phx.test/");
    const message = await tab.evaluate(`import("/dist/${file}").then(() => "it was loaded", String)`);
    expect(message).toMatch(/phx-sim runs in Node and cannot be loaded in a browser.*test\.browser\.commands/);
    await tab.close();
  },
);
