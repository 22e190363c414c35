import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";

/** The folder of a module's package, or undefined for one of ours. */
const folderOf = (id) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(id.replaceAll("\\", "/"))?.[0];

/**
 * Writes name, version, licence and licence text of every package with one of these modules.
 * @throws Error for a package without a licence
 */
export function writeLicences(modules, file) {
  const folders = [...new Set(modules.map(folderOf).filter(Boolean))];
  const texts = folders.filter((it) => existsSync(join(it, "package.json"))).map(licenceOf);
  const unique = [...new Set(texts)].sort();
  const title = "phx-sim contains these packages, under their own licences.";
  writeFileSync(file, `${[title, ...unique].join(`\n\n${"-".repeat(80)}\n\n`)}\n`);
}

function licenceOf(folder) {
  const facts = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const { name, version, author } = facts;
  const license = facts.license ?? facts.licenses?.map(({ type }) => type).join(" or ");
  if (!license) throw new Error(`${name} ${version} names no licence: replace it, or ask its authors`);
  const files = readdirSync(folder).filter((it) => /^(licen[cs]e|copying|notice)/i.test(basename(it)));
  const by = typeof author === "object" ? author.name : author;
  const texts = files.map((it) => readFileSync(join(folder, it), "utf8").replaceAll("\r\n", "\n").trim());
  return [
    `${name} ${version} (${license})${texts.length > 0 || !by ? "" : `\nCopyright ${by}`}`,
    ...texts,
  ].join("\n\n");
}
