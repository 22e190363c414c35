const { transformSync } = require("esbuild");

/** TypeScript and ES modules to CommonJS, which is what jest runs by default. */
exports.process = (code, file) =>
  transformSync(code, {
    loader: file.endsWith(".ts") ? "ts" : "js",
    format: "cjs",
    target: "node20",
    sourcemap: "inline",
    sourcefile: file,
  });
