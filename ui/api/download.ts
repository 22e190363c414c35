import { bytesOf } from "./call.ts";

/** Saves an answer of the control API as a file. @throws SimProblem */
export async function download(path: string, name: string): Promise<void> {
  const address = URL.createObjectURL(await bytesOf(path));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  // some browsers read the bytes only after a while
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
