import { type Command, command, type Shell } from "../../../kernel/command/command.ts";
import { type SendSettings, sendOptions } from "./options.ts";

export const send: Command = command({
  name: "send",
  describe: "Send a tape's requests again, to a sim, a staging service, or another one",
  options: sendOptions,
  examples: [
    ["phx-sim send checkout --to http://127.0.0.1:7490 --token phc_sim_default", "to a sim on this machine, at once"],
    ["phx-sim send checkout --to https://staging.example", "elsewhere: first lists what would be sent"],
    [
      "phx-sim send checkout --to https://staging.example --yes --allow-host staging.example --token phc_staging",
      "then sends it",
    ],
    [
      "phx-sim send checkout --to http://127.0.0.1:7490 --token phc_sim_default --exclude event:login --exclude path:event.properties.card",
      "without some events, and without one property of all",
    ],
    [
      "phx-sim send checkout --to http://127.0.0.1:7490 --token phc_sim_default --only capture --timestamps shift --uuids new",
      "a demo",
    ],
  ],
  confirms: true,
  run: async ({ values }: SendSettings, shell: Shell) => (await import("./send-run.ts")).sendTape(values, shell),
});
