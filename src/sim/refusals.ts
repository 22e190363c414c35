import { storageTrouble } from "../base/errors.ts";

/** While the disk refuses writes, one line for this time, ms: every request would have one. */
const quiet = 10_000;

/** Reports that the disk takes nothing. */
export function createRefusals(
  { folder, notice }: { folder: string | null; notice: (text: string) => void },
  now: () => number = () => performance.now(),
): (error: unknown) => void {
  let refused = 0;
  let reported = Number.NEGATIVE_INFINITY;
  return (error) => {
    refused++;
    if (now() - reported < quiet) return;
    const why = storageTrouble(error) ?? "the disk refuses it";
    const count = refused === 1 ? "" : ` (${refused} since the last report)`;
    notice(
      `the data folder ${folder ?? ""} cannot be written: ${why}; requests are refused with 503 and change nothing${count}`,
    );
    reported = now();
    refused = 0;
  };
}
