// Runs command lines one after the other, each as in a process of its own; test/support/phx-sim.ts starts it. A command is over
// when nothing is left that would keep its process alive.
import { main } from "../../dist/cli/main.js";

const home = process.cwd();
const { stdout, stderr } = process;

/** What keeps this process alive. */
const open = () => process.getActiveResourcesInfo().sort().join();

/** Does not keep the process alive itself. */
const pause = () => new Promise((done) => setTimeout(done, 2).unref());

async function run({ args, cwd, env, mark }, atRest) {
  process.chdir(cwd);
  for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name];
  Object.assign(process.env, env);
  let isOver = false;
  // A command that has failed may leave something open.
  const exit = (code) => isOver || process.exit(code);
  const code = await main(args, { env: process.env, stdout, stderr, cwd: () => cwd, exit });
  while (open() !== atRest) await pause();
  isOver = true;
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.removeAllListeners(signal);
  for (const it of [stdout, stderr]) it.removeAllListeners("error").write(mark);
  process.chdir(home);
  process.send({ code });
}

let atRest = "";
process.on("message", (order) => void run(order, atRest));
process.on("disconnect", () => process.exit());
await pause();
atRest = open();
process.send({});
