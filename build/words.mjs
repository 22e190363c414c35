// Rejects words of our earlier private dialect (CONTRIBUTING.md, Style). Texts of the real service are its own.
import { readdirSync, readFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";

const banned = [
  ...["told", "tells", "nobody", "somebody", "whoever", "whom", "mend", "besides", "lately", "wish"],
  ...[
    "so many",
    "so long",
    "in the place of",
    "all the same",
    "unless told",
    "is there already",
    "is not there",
  ],
];

const root = resolve(import.meta.dirname, "..");
const pattern = new RegExp(`\\b(?:${banned.join("|")})\\b`, "i");

const found = ["src", "ui", "docs"]
  .flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).map((it) =>
      join(root, folder, it),
    ),
  )
  .filter((file) => /\.(ts|tsx|css|md)$/.test(file))
  .map((file) => relative(root, file).replaceAll("\\", "/"))
  .flatMap((file) =>
    readFileSync(join(root, file), "utf8")
      .split("\n")
      .flatMap((line, i) => {
        const word = pattern.exec(line)?.[0];
        return word === undefined ? [] : [`${file}:${i + 1}: "${word}": use a plain word: ${line.trim()}`];
      }),
  );
for (const line of found) console.error(line);
process.exitCode = found.length > 0 ? 1 : 0;
