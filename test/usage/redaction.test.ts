import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startSim } from "../../src/index.ts";
import { newFolder } from "../support/folder.ts";

test("secrets of one's own", async () => {
  const tape = join(newFolder(), "orders.tape.ndjson");
  await using service = await startSim();
  await using recording = await startSim({
    upstream: service.url,
    tape,
    redaction: {
      rules: [{ name: "order_token", pattern: /ord-[a-z0-9]{12}/ }],
      ignore: ["req.body.request_id"],
    },
  });

  const body = { api_key: service.apiKey, event: "paid ord-0123456789ab", distinct_id: "u" };
  await fetch(`${recording.url}/capture/`, { method: "POST", body: JSON.stringify(body) });
  await recording.recording.stop();

  expect(readFileSync(tape, "utf8")).toContain("paid {{secret:order_token#1}}");
});
