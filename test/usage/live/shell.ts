import { join } from "node:path";

const bin = join(import.meta.dirname, "../../../bin/phx-sim.js");

/** Runs an example of the documentation in a shell, with the sim's address and `phx-sim` as it was built. */
export const inShell = (
  example: string,
  url: string,
): [program: string, args: string[], options: { env: NodeJS.ProcessEnv }] => [
  "bash",
  ["-euc", `phx-sim() { "${process.execPath}" "${bin}" "$@"; }\n${example}`],
  { env: { ...process.env, PHX_SIM_URL: url } },
];
