import { duplicateUuid } from "./rules/duplicate-uuid.ts";
import { flagCalled } from "./rules/flag-called.ts";
import { flagMismatch } from "./rules/flag-mismatch.ts";
import { groupIdentify } from "./rules/group-identify.ts";
import { largeBody } from "./rules/large-body.ts";
import { personalData } from "./rules/personal-data.ts";
import { similarNames } from "./rules/similar-names.ts";
import { times } from "./rules/times.ts";
import { typeFlip } from "./rules/type-flip.ts";
import type { Rule, RuleContext } from "./types.ts";

/** All rules; a new one is a file and a row here. */
export const rules: readonly ((context: RuleContext) => Rule)[] = [
  flagMismatch,
  flagCalled,
  duplicateUuid,
  times,
  personalData,
  typeFlip,
  similarNames,
  groupIdentify,
  largeBody,
];
