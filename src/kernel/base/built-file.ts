import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { unreadPart } from "./errors.ts";

/** A file of the build that is run by itself, by its path in `dist` with `/`: in the package it is beside the chunks. */
export function builtFile(path: string): string {
  for (let folder = import.meta.dirname; ; folder = dirname(folder)) {
    const file = join(folder, "dist", path);
    if (existsSync(file)) return file;
    if (dirname(folder) === folder) {
      const missing = new Error(`dist/${path} is missing: install phx-sim again, or build it`);
      throw Object.assign(missing, { code: unreadPart });
    }
  }
}

const place = '"phx-sim: data"';

/** A page with its data, which are inert: no `<` can end their element or begin a comment. @throws Error without a place */
export function htmlWithData(template: string, data: object): string {
  const [before, after] = template.split(place);
  if (before === undefined || after === undefined) throw new Error(`the template has no ${place}`);
  return `${before}${JSON.stringify(data).replaceAll("<", "\\u003c")}${after}`;
}
