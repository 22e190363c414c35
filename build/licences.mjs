import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { bundledIn, compiledIn, missingText } from "./embedded.mjs";

/** The folder of a module's package, or undefined for one of ours. */
const folderOf = (id) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(id.replaceAll("\\", "/"))?.[0];

/**
 * Writes name, version, licence and licence text of every package with one of these modules, and of what is inside their
 * ready-made files. @throws Error for a package or a crate without a licence
 */
export function writeLicences(modules, file) {
  const folders = [...new Set(modules.map(folderOf).filter(Boolean))].filter((it) =>
    existsSync(join(it, "package.json")),
  );
  const bundled = folders.flatMap((it) => [...bundledIn(it)]);
  const wasm = modules.filter((it) => it.endsWith(".wasm"));
  const texts = [
    ...folders.map((it) => licenceOf(it)),
    ...bundled.map(([folder, version]) => licenceOf(folder, version)),
    ...folders.flatMap((it) =>
      compiledIn(
        nameOf(it),
        wasm.filter((path) => folderOf(path) === it),
      ),
    ),
  ];
  const unique = [...new Set(texts)].sort();
  const title = "phx-sim contains these packages, under their own licences.";
  writeFileSync(file, `${[title, ...unique].join(`\n\n${"-".repeat(80)}\n\n`)}\n`);
}

const factsOf = (folder) => JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));

const nameOf = (folder) => factsOf(folder).name;

/** @param version That of a copy in another package's bundle, where it is known */
function licenceOf(folder, version = factsOf(folder).version) {
  const facts = factsOf(folder);
  const { name, author } = facts;
  const license = facts.license ?? facts.licenses?.map(({ type }) => type).join(" or ");
  if (!license) throw new Error(`${name} ${version} names no licence: replace it, or ask its authors`);
  const files = readdirSync(folder).filter((it) => /^(licen[cs]e|copying|notice)/i.test(basename(it)));
  const by = typeof author === "object" ? author.name : author;
  const known = missingText(name);
  const texts = known
    ? [known]
    : files.map((it) => readFileSync(join(folder, it), "utf8").replaceAll("\r\n", "\n").trim());
  return [`${name} ${version} (${license})${texts.length > 0 || !by ? "" : `\nCopyright ${by}`}`, ...texts].join(
    "\n\n",
  );
}
