import { slice } from "../../../kernel/http/slice.ts";
import type { Desk } from "../../capture/desk.ts";
import type { Rulesets } from "../rulesets.ts";
import { definitionEndpoints } from "./definitions.ts";
import { flagEndpoints } from "./flags-rows.ts";
import { flagRemoteConfigEndpoints } from "./remote-config.ts";

interface EvaluationPorts {
  readonly desk: Desk;
  readonly rulesets: Rulesets;
  notice(text: string): void;
}

export const evaluationSlice = slice(["desk", "rulesets", "notice"], ({ desk, rulesets, notice }: EvaluationPorts) => [
  ...flagEndpoints(desk, rulesets, notice),
  ...definitionEndpoints(desk, rulesets),
  ...flagRemoteConfigEndpoints(desk),
]);
