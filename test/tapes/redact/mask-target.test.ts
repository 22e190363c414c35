import { expect, test } from "vitest";
import { createTargetMask } from "../../../src/tapes/redact/mask-target.ts";

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
  expect(createTargetMask()(target)).toBe(masked);
});

test("with the rules of the project", () => {
  const mask = createTargetMask({ rules: [{ name: "door", field: "door" }] });
  expect(mask("/e/?door=1234&floor=2")).toBe("/e/?door=***&floor=2");
});
