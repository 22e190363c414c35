import { bytesOf } from "../../api/call.ts";
import { type HarWish, harName, harPath } from "./har-wish.ts";

/** Has the browser save a HAR. @throws SimProblem */
export async function downloadHar(wish: HarWish): Promise<void> {
  const address = URL.createObjectURL(await bytesOf(harPath(wish)));
  const link = document.createElement("a");
  link.href = address;
  link.download = harName(wish);
  link.click();
  // the browser has taken the bytes by the next minute at the latest
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
