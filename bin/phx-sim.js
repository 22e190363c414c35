#!/usr/bin/env node
// Written so that any Node can parse it: an old one must be able to say that it is too old.
const [major, minor] = process.versions.node.split(".").map(Number);

if (major < 20 || (major === 20 && minor < 19)) {
  console.error(`phx-sim: needs Node 20.19 or newer, and this is Node ${process.versions.node}`);
  process.exitCode = 3;
} else {
  // From Node 22.8 on, the next start need not compile what this one did.
  process.getBuiltinModule("module").enableCompileCache?.();
  import("../dist/cli/main.js")
    .then(({ main }) => main(process.argv.slice(2)))
    .then((code) => {
      process.exitCode = code;
    });
}
