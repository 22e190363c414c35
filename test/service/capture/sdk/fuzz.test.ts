import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { sdkEndpoints } from "../../../../src/service/capture/sdk/rows.ts";
import { fc } from "../../../support/chance.ts";
import { aPersonalApiKey } from "../../../support/documents.ts";
import { aDesk, asker, aWorld } from "./ask.ts";

const endpoints = sdkEndpoints(await aDesk(aWorld({ personal_api_keys: [aPersonalApiKey({ key: "phx_all" })] })), [
  import.meta.dirname,
]);
const ask = asker(endpoints);

const body = fc.oneof(
  fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
  fc.jsonValue().map((value) => Buffer.from(JSON.stringify(value))),
  fc.json().map((text) => gzipSync(text)),
  fc.uint8Array({ maxLength: 50 }).map((bytes) => Buffer.concat([Buffer.from([0x1f, 0x8b]), bytes])),
);
const key = fc.constantFrom("phc_test", "phs_test", "phx_all", "phc_no", "");
const type = fc.constantFrom("application/json", "text/plain", "application/x-protobuf", "");
const segment = fc.oneof(
  fc.constantFrom("@current", "1", "..%2f", "array.js", "phc_test", "%00.js", "1.449.2"),
  fc.string({ minLength: 1, maxLength: 20, unit: "grapheme" }).map(encodeURIComponent),
);

const filled = (path: string, segments: readonly string[]): string =>
  path
    .split("/")
    .map((part, i) => (part.startsWith(":") ? (segments[i] ?? "x") : part))
    .join("/");

test("whatever is sent, the answer is no failure of ours, and a refusal says why", async () => {
  const property = fc.asyncProperty(
    fc.constantFrom(...endpoints),
    fc.array(segment, { minLength: 8, maxLength: 8 }),
    fc.record({ body, query: key, bearer: key, type }),
    async ({ path, methods }, segments, { body: bytes, query, bearer, type: contentType }) => {
      const answer = await ask(`${filled(path, segments)}?token=${query}&v=${segments[0]}&stage=${segments[1]}`, {
        method: methods[0] ?? "GET",
        headers: { authorization: `Bearer ${bearer}`, "content-type": contentType },
        body: bytes,
      });
      expect(answer.status).toBeLessThan(500);
      if (answer.status >= 400) expect(answer.json()).toMatchObject({ detail: expect.stringMatching(/./) });
    },
  );
  await fc.assert(property, { numRuns: 500 });
});
