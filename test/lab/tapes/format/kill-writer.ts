import { writeSync } from "node:fs";
import { setImmediate as nextTurn } from "node:timers/promises";
import { TapeWriter } from "../../../../src/lab/tapes/format/write.ts";

/** A program that records until it is killed, and says which exchanges are on the tape. Some have side files. */
const writer = new TapeWriter(process.argv[2] ?? "", { redactor: { profile: "none", redact: (exchange) => exchange } });
for (;;) {
  const i = writer.arrive();
  const body = Buffer.from(JSON.stringify({ i, fill: "x".repeat(i % 10 === 0 ? 70_000 : 1500) }));
  const url = "https://us.i.posthog.com/batch/";
  writer.append({ at: Date.now(), method: "POST", url, http: "1.1", headers: [], body, answer: null }, i);
  writeSync(1, `${i}\n`);
  await nextTurn();
}
