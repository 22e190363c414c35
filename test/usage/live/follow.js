import { createInterface } from "node:readline";
import { Readable } from "node:stream";

const url = process.env.PHX_SIM_URL ?? "http://127.0.0.1:7490";

const response = await fetch(`${url}/__sim/events/stream?filter=event:signed_up`);
let kind;
for await (const line of createInterface({ input: Readable.fromWeb(response.body) })) {
  const [name, value] = line.split(/: (.*)/);
  if (name === "event") kind = value;
  if (name === "data" && kind === "event") console.log(JSON.parse(value).distinct_id);
}
