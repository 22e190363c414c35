import { TapeWriter } from "../../../../src/lab/tapes/format/write.ts";

/** A program that records 60 exchanges where no file may grow beyond a limit, and says what came of it. */
process.on("SIGXFSZ", () => {});
const writer = new TapeWriter(process.argv[2] ?? "", {
  redactor: { profile: "none", redact: (exchange) => exchange },
  onTrouble: ({ detail }) => console.error(detail),
});
const body = Buffer.from(JSON.stringify({ fill: "x".repeat(1500) }));
for (let n = 0; n < 60; n++) {
  const url = "https://us.i.posthog.com/batch/";
  writer.append({ at: Date.now(), method: "POST", url, http: "1.1", headers: [], body, answer: null });
}
console.log(JSON.stringify(await writer.close()));
