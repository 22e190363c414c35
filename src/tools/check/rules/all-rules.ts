import { deliveryRules } from "./delivery-rules.ts";
import { eventRules } from "./event-rules.ts";
import { identityRules } from "./identity-rules.ts";
import type { CheckRule } from "./rule.ts";
import { sdkRules } from "./sdk-rules.ts";

/** Every rule by its code. docs/check.md lists them. */
export const checkRules: Readonly<Record<string, CheckRule>> = {
  ...sdkRules,
  ...deliveryRules,
  ...eventRules,
  ...identityRules,
};
