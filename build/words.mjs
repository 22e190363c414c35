// Rejects words of our earlier private dialect (CONTRIBUTING.md, Style). Texts of the real service are its own.
import { readdirSync, readFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";

const banned = [
  ...["told", "tells", "nobody", "somebody", "whoever", "whom", "mend", "besides", "lately", "wish"],
  ...["so many", "so long", "as often as", "in the place of", "all the same", "unless told"],
  ...["belongs into", "is there already", "is not there"],
];

/** The service's name for the end of a month, in relative dates. */
const serviceWord = /\bmEnd\b/g;

const root = resolve(import.meta.dirname, "..");
const pattern = new RegExp(`\\b(?:${banned.join("|")})\\b`, "i");

const filesIn = (folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((file) => /\.(ts|tsx|css|md)$/.test(file) && !file.includes("node_modules"))
    .map((file) => relative(root, join(root, folder, file)).replaceAll("\\", "/"));

/** Words that tests use as data: ids, names of events, parts of addresses. */
const withoutData = (line) =>
  line.replace(/(["'`])[^\s"'`]*\1|"[^"]*'s"|\b(?:email|event|members)[:/] ?\{? ?nobody\b/g, "");

const found = ["src", "ui", "docs", "test", "scripts"].flatMap(filesIn).flatMap((file) =>
  readFileSync(join(root, file), "utf8")
    .split("\n")
    .flatMap((line, i) => {
      const own = line.replaceAll(serviceWord, "");
      const word = pattern.exec(file.startsWith("test/") ? withoutData(own) : own)?.[0];
      return word === undefined ? [] : [`${file}:${i + 1}: "${word}": use a plain word: ${line.trim()}`];
    }),
);
for (const line of found) console.error(line);
process.exitCode = found.length > 0 ? 1 : 0;
