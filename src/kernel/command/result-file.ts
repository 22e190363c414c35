import { writeWhole } from "../base/whole-file.ts";
import { clean } from "./clean-text.ts";
import { Failure } from "./failure.ts";
import { reasonOf } from "./system-reason.ts";

/** Writes a file of results whole, or not at all. @param what Names it in the message. @throws Failure failed */
export async function writeResult(file: string, text: string, what: string): Promise<void> {
  try {
    await writeWhole(file, [text], 0o666);
  } catch (error) {
    throw new Failure("failed", `${what} ${clean(file)} cannot be written: ${reasonOf(error)}`, error);
  }
}
