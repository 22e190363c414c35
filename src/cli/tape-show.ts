import { resolve } from "node:path";
import { tapePlace, tapesFolder } from "../tape/place.ts";
import type { Exchange, TapeProblem } from "../tape/types.ts";
import { clean } from "./clean-text.ts";
import type { Shell } from "./command.ts";
import { Failure } from "./failure.ts";
import {
  exchangeLine,
  exchangeLines,
  headerLines,
  infoLine,
  jsonLine,
  tapeProblemLine,
} from "./tape-lines.ts";
import { onFile } from "./tape-trouble.ts";

/** Lists the tapes of a folder. @throws Failure */
export async function listTapes(given: string | undefined, json: boolean, shell: Shell): Promise<"ok"> {
  const folder = given ?? resolve(shell.cwd, tapesFolder);
  const { tapesIn } = await import("../tape/read.ts");
  const { existsSync } = await import("node:fs");
  const isNoneYet = given === undefined && !existsSync(folder);
  const tapes = isNoneYet ? [] : await onFile(folder, () => tapesIn(folder));
  if (json) shell.out.say(jsonLine({ folder, tapes }));
  else if (tapes.length === 0) shell.out.say(`no tapes in ${clean(folder)}`);
  else shell.out.say(...tapes.map((it) => infoLine(it, shell.outStyle)));
  return "ok";
}

export interface ShowRequest {
  tape: string;
  /** Number of the only exchange that is shown, with all it has. */
  exchange: number | undefined;
  json: boolean;
}

/** Waits for the reader of our output now and then: a tape may be larger than memory. */
const linesPerTurn = 500;

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Shows what is on a tape: all exchanges on a line each, or one in full. @throws Failure */
export async function showTape({ tape: name, exchange, json }: ShowRequest, shell: Shell): Promise<"ok"> {
  const tape = tapePlace(name, shell.cwd);
  const { readHeader } = await import("../tape/header.ts");
  const { readTape } = await import("../tape/read.ts");
  const onProblem = (problem: TapeProblem) => shell.err.say(`phx-sim: ${tapeProblemLine(problem)}`);
  return onFile<"ok">(tape, async () => {
    const header = await readHeader(tape);
    if (exchange !== undefined) {
      const exchanges = readTape(tape, { onProblem, bodies: "whole" });
      shell.out.say(...shownExchange(await numbered(exchanges, exchange, tape), json, shell));
      return "ok";
    }
    shell.out.say(...(json ? [jsonLine(header)] : [...headerLines(header, shell.outStyle), ""]));
    let count = 0;
    for await (const it of readTape(tape, { onProblem })) {
      shell.out.say(json ? jsonLine(it) : exchangeLine(it, shell.outStyle));
      if (++count % linesPerTurn === 0) await nextTurn();
    }
    return "ok";
  });
}

const shownExchange = (exchange: Exchange, json: boolean, shell: Shell): string[] =>
  json ? [jsonLine(exchange)] : exchangeLines(exchange, shell.outStyle);

async function numbered(exchanges: AsyncIterable<Exchange>, wanted: number, tape: string): Promise<Exchange> {
  let [count, highest] = [0, 0];
  for await (const it of exchanges) {
    if (it.i === wanted) return it;
    count++;
    highest = Math.max(highest, it.i);
  }
  const has = count === 0 ? "it has none" : `the highest number of its ${count} is ${highest}`;
  throw new Failure("usage", `${clean(tape)} has no exchange ${wanted}; ${has}`);
}
