import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { isObject, type JsonObject, parsedJson } from "../../kernel/base/json.ts";
import { counted } from "../../kernel/base/text.ts";
import { clean } from "../../kernel/command/clean-text.ts";
import { command, type Shell } from "../../kernel/command/command.ts";
import { Failure } from "../../kernel/command/failure.ts";
import type { Settings } from "../../kernel/command/settings.ts";
import { optionsOf } from "../../kernel/command/shape-options.ts";
import { ask, print, thinOptions } from "../../kernel/command/thin-command.ts";
import type { QueryResult } from "./client.ts";
import { ControlQuery } from "./shapes.ts";
import { csvLines, resultTable, textLines } from "./tabular.ts";

const options = {
  query: { describe: "HogQL, or a file: HogQL, or a query with its kind as JSON (.json)", place: 1, optional: true },
  ...optionsOf(ControlQuery.omit({ query: true })),
  csv: { kind: "switch", describe: "Print comma-separated values" },
  ...thinOptions,
} as const;

/** A file is not HogQL, which has blanks. */
const isFile = (text: string): boolean => /^\S+\.(json|sql|hogql)$/i.test(text);

async function queryIn(text: string, { cwd }: Pick<Shell, "cwd">): Promise<string | JsonObject> {
  if (!isFile(text)) return text;
  const bytes = await readFile(resolve(cwd, text), "utf8").catch((error: unknown) => {
    throw new Failure("usage", `${clean(text)} cannot be read; give HogQL or the path of a file`, error);
  });
  const content = bytes.replace(/^\ufeff/, "");
  if (!/\.json$/i.test(text)) return content;
  const value = parsedJson(content);
  if (isObject(value)) return value;
  throw new Failure("usage", `${clean(text)} is not a query: it must be a JSON object with a kind`);
}

async function run(settings: Settings<typeof options>, shell: Shell): Promise<"ok"> {
  const { query: given, insight, project, csv, json } = settings.values;
  if ((given === undefined) === (insight === undefined)) {
    const what =
      given === undefined ? "give HogQL, a file, or --insight NAME" : "QUERY and --insight exclude each other";
    throw new Failure("usage", what);
  }
  if (csv && json) throw new Failure("usage", "--csv and --json exclude each other");
  const query = given === undefined ? undefined : await queryIn(given, shell);
  const answer = await ask<QueryResult>(settings, shell, "POST", "query", { project, query, insight });
  const table = resultTable(answer);
  if (csv) return print(shell, false, answer, csvLines(table));
  if (answer.hasMore === true && !json)
    shell.err.say(`phx-sim: only ${counted(table.rows.length, "row")} shown; LIMIT in the query shows more`);
  return print(
    shell,
    json,
    answer,
    textLines(table, (text) => clean(text, 120)),
  );
}

export const query = command({
  name: "query",
  describe: "Run HogQL or an insight over the captured events",
  options,
  examples: [
    ["phx-sim query 'SELECT event, count() FROM events GROUP BY event'", "a table of events"],
    ["phx-sim query --insight 'Basket to order'", "the steps of a funnel"],
    ["phx-sim query funnel.json --csv", "a query from a file, as CSV"],
  ],
  run,
});
