import { expect, test } from "vitest";
import { createMask } from "../../../../src/lab/tapes/redact/scan.ts";

/** Put together here, so that none stands in this file. */
const [personal, project] = ["phx", "phc"].map((it) => `${it}_${"a1B2c3D4e5F6".repeat(3)}`);

test.each<[target: string, masked: string]>([
  [`/api/users/?personal_api_key=${personal}`, "/api/users/?personal_api_key=phx_***"],
  [`/x/${personal}/y`, "/x/phx_***/y"],
  [`/flags/?token=${project}&v=2`, `/flags/?token=${project}&v=2`],
  ["/flags/?token=***&password=***", "/flags/?token=***&password=***"],
  ["/e/?password=correct-horse", "/e/?password=***"],
  ["/e/?door=1234", "/e/?door=1234"],
])("%s", (target, masked) => {
  expect(createMask().target(target)).toBe(masked);
});

test("with the rules of the project", () => {
  const mask = createMask({ rules: [{ name: "door", field: "door" }] });
  expect(mask.target("/e/?door=1234&floor=2")).toBe("/e/?door=***&floor=2");
});

test("of a text, in JSON and in whatever it is encoded", () => {
  const mask = createMask({ rules: [{ name: "door", field: "door" }] });
  const base64 = (text: string): string => Buffer.from(text).toString("base64");
  expect(mask.text(`the key is ${personal}, password=correct-horse`)).toBe("the key is phx_***, password=***");
  expect(mask.text(JSON.stringify({ door: "1234", a: [{ password: "x1" }], b: project, n: 1 }))).toBe(
    JSON.stringify({ door: "***", a: [{ password: "***" }], b: project, n: 1 }),
  );
  expect(mask.text(base64(JSON.stringify({ a: personal })))).toBe(base64(JSON.stringify({ a: "phx_***" })));
});
