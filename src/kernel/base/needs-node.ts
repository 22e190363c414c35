// The first module of the build (build/parts.mjs): in a browser the next one fails with a message that explains nothing.
const { process }: { process?: { versions?: { node?: string } } } = globalThis;

if (process?.versions?.node === undefined)
  throw new Error(
    "phx-sim runs in Node and cannot be loaded in a browser. In the browser mode of vitest, call connectSim() in a command " +
      "of the configuration (test.browser.commands), which runs in Node: see docs/testing/vitest.md#browser-mode. For whole " +
      "pages use phx-sim/playwright",
  );
