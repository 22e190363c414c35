import type { ExportFiles } from "../../exports/ports.ts";
import type { Call } from "../../http/call.ts";
import type { Reply } from "../../http/reply.ts";
import { SimError } from "../../kernel/errors.ts";
import type { BatchExportRun } from "../../model/world.ts";
import type { ControlDesk } from "../desk.ts";
import type { ShownExportFile } from "./answers.ts";

/** Where files are served. */
export const filesRoot = "/__sim/exports/files";

interface KnownFile extends ShownExportFile {
  /** As the port knows it. */
  readonly path: string;
}

/** What a run that is not completed left behind is nobody's: it starts again. */
async function knownFiles(files: ExportFiles, run: BatchExportRun): Promise<KnownFile[]> {
  if (run.status !== "Completed") return [];
  const folder = `${run.batch_export}/${run.id}/`;
  return (await files.list(run.batch_export, run.id)).map(({ path, bytes }) => {
    const name = path.slice(folder.length);
    return { name, bytes, url: `${filesRoot}/${folder}${encodeURIComponent(name)}`, path };
  });
}

/** The files of a run, by name. */
export async function filesOf(files: ExportFiles, run: BatchExportRun): Promise<ShownExportFile[]> {
  const known = await knownFiles(files, run);
  return known.map(({ name, bytes, url }) => ({ name, bytes, url }));
}

/** By the end of a name. Upstream names Parquet files by the compression inside of them. */
const types: readonly (readonly [end: RegExp, type: string])[] = [
  [/\.parquet(\.(gz|br|sz))?$/, "application/vnd.apache.parquet"],
  [/\.gz$/, "application/gzip"],
  [/\.jsonl$/, "application/x-ndjson"],
  [/\.json$/, "application/json"],
];

const typeOf = (name: string): string =>
  types.find(([end]) => end.test(name))?.[1] ?? "application/octet-stream";

/** Letters that need no spelling in a header's extended value. */
const spelled = (text: string): string =>
  encodeURIComponent(text).replace(/['()*]/g, (it) => `%${it.charCodeAt(0).toString(16).toUpperCase()}`);

const replyOf = (name: string, body: Buffer): Reply => ({
  status: 200,
  headers: [
    ...["content-type", typeOf(name)],
    ...["content-disposition", `attachment; filename*=UTF-8''${spelled(name.split("/").at(-1) ?? name)}`],
  ],
  body,
});

/**
 * A file of a completed run. Only what is listed is read, whatever the path says.
 * @throws SimError not_found
 */
export async function serveFile({ worlds, exports }: ControlDesk, { params }: Call): Promise<Reply> {
  const { batch_export = "", run: id = "", name = "" } = params;
  const run = worlds.get("batch_export_runs", id);
  const known = run?.batch_export === batch_export ? await knownFiles(exports.files, run) : [];
  const file = known.find((it) => it.name === name);
  const content = file && (await exports.files.read(file.path));
  if (content) return replyOf(name, content);
  throw new SimError("not_found", `there is no file "${name}" of run ${id}`, {
    hint: `GET /__sim/exports/runs/${id} lists its files`,
  });
}
