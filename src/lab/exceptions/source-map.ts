import { dirname, isAbsolute, join } from "node:path";
import { fileURLToPath } from "node:url";
import { originalPositionFor, sourceContentFor, TraceMap } from "@jridgewell/trace-mapping";
import { candidatesFor, readBelow, type SourceFile } from "./source-files.ts";

interface Original {
  readonly map: string;
  readonly name: string;
  readonly line: number;
  /** From 0. */
  readonly column: number;
  /** The author's file on disk; undefined if only the map has its text. */
  readonly disk: SourceFile | undefined;
  readonly text: string;
}

export type MapReading = Original | "none" | { readonly why: string };

/** The last comment counts: code may contain others as text. */
function mappingUrl(text: string): string | undefined {
  const at = Math.max(text.lastIndexOf("//# sourceMappingURL="), text.lastIndexOf("//@ sourceMappingURL="));
  return at === -1 ? undefined : /^\S+/.exec(text.slice(at + "//# sourceMappingURL=".length))?.[0];
}

async function mapText(folder: string, generated: SourceFile): Promise<{ text: string; name: string } | undefined> {
  const url = mappingUrl(generated.text);
  const inline = url === undefined ? null : /^data:application\/json[^,]*?(;base64)?,(.*)$/s.exec(url);
  if (inline) {
    const [, base64, data = ""] = inline;
    const text = base64 === undefined ? decodeURIComponent(data) : Buffer.from(data, "base64").toString("utf8");
    return { text, name: `inline in ${generated.path}` };
  }
  // the one beside it also without a comment; other schemes are not fetched
  const isFile = url !== undefined && !/^([a-z][a-z+.-]*:|\/)/i.test(url);
  const names = [...(isFile ? [join(dirname(generated.file), decodeURIComponent(url))] : []), `${generated.file}.map`];
  for (const name of names) {
    const reading = await readBelow(folder, name, "map");
    if ("text" in reading) return { text: reading.text, name: reading.path };
  }
  return undefined;
}

function filesOf(folder: string, generated: SourceFile, source: string): string[] {
  if (/^webpack|^turbopack/.test(source)) return candidatesFor(folder, source);
  if (source.startsWith("file:")) return [fileURLToPath(source)];
  if (/^[a-z][a-z+.-]+:/i.test(source)) return [];
  return [isAbsolute(source) ? source : join(dirname(generated.file), source)];
}

/** Follows the source map of a generated file. A broken map is an answer, not an error. */
export async function originalOf(
  folder: string,
  generated: SourceFile,
  at: { readonly line: number; readonly column: number },
): Promise<MapReading> {
  try {
    const found = await mapText(folder, generated);
    if (!found) return "none";
    const map = new TraceMap(found.text);
    const { source, line, column } = originalPositionFor(map, at);
    if (source === null) return { why: `the source map (${found.name}) does not cover this position` };
    const place = { map: found.name, line, column };
    for (const file of filesOf(folder, generated, source)) {
      const disk = await readBelow(folder, file);
      if ("text" in disk) return { ...place, name: disk.path, disk, text: disk.text };
    }
    const content = sourceContentFor(map, source);
    if (content === null) return { why: `the source map (${found.name}) leads to a file that cannot be read` };
    return { ...place, name: source.slice(0, 300), disk: undefined, text: content };
  } catch {
    return { why: "the source map cannot be read" };
  }
}
