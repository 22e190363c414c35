import { slice } from "../../../kernel/http/slice.ts";
import type { Desk } from "../../capture/desk.ts";
import type { FlagBook } from "../flag-book.ts";
import { definitionEndpoints } from "./definitions.ts";
import { flagEndpoints } from "./flags-rows.ts";
import { flagRemoteConfigEndpoints } from "./remote-config.ts";

interface EvaluationPorts {
  readonly desk: Desk;
  readonly flagBook: FlagBook;
  notice(text: string): void;
}

/** The flag endpoints of the SDKs. */
export const evaluationSlice = slice(
  ["desk", "flagBook", "notice"],
  ({ desk, flagBook, notice }: EvaluationPorts) => [
    ...flagEndpoints(desk, flagBook, notice),
    ...definitionEndpoints(desk, flagBook),
    ...flagRemoteConfigEndpoints(desk),
  ],
);
