import { readFile } from "node:fs/promises";
import { join } from "node:path";

/** A view as ui/app/views.ts lists it. */
export interface ListedView {
  readonly id: string;
  readonly label: string;
  readonly key: string;
}

const row = /\{ id: "(\w+)", label: "([^"]+)", key: "(\w)", Component/g;

/** The inspector's views, read from its list: its modules need a browser. */
export async function views(): Promise<ListedView[]> {
  const text = await readFile(join(import.meta.dirname, "../../ui/app/views.ts"), "utf8");
  const found = [...text.matchAll(row)].map(([, id = "", label = "", key = ""]) => ({ id, label, key }));
  if (found.length === 0) throw new Error("ui/app/views.ts lists no views in the form that is expected");
  return found;
}
