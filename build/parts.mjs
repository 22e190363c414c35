// The rule that says which files of a slice are its commands and its part of the client.

const commands = /\/commands\/|\/(command(-[\w-]+)?|[\w-]+-command)\.ts$/;
const client = /\/(client|[\w-]+-client|client-(assertions|judged|pattern))\.ts$/;

/**
 * `cli` for commands, `client` for parts of the client, else the slice, which is the first folder.
 * @param path Below src, with slashes.
 */
export function partOf(path) {
  const [slice = ""] = path.replace(/\.ts$/, "").split("/");
  if (["sim", "client", "cli", "testing", "index"].includes(slice)) return slice;
  if (commands.test(path)) return "cli";
  return client.test(path) ? "client" : slice;
}
