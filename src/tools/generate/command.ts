import { clean } from "../../kernel/command/clean-text.ts";
import { type CommandEnd, command, type Shell } from "../../kernel/command/command.ts";
import { Failure } from "../../kernel/command/failure.ts";
import { type GenerateValues, generateOptions } from "./options.ts";

export const generate = command({
  name: "generate",
  describe: "Generate the traffic of a kind of users, with its true figures",
  options: generateOptions,
  examples: [
    ["phx-sim generate", "90 days of 500 customers of a shop, captured by the running sim"],
    ["phx-sim generate --persona saas --users 2000 --days 30 --seed 7", "a product for teams, with groups"],
    ["phx-sim generate --figures figures.json", "what trends, funnels and retention must come to"],
    ["phx-sim generate --persona bakery.yaml --out events.ndjson", "your own persona, into a file"],
  ],
  confirms: true,
  async run(settings: GenerateValues, shell: Shell): Promise<CommandEnd> {
    const { runGenerate } = await import("./command-run.ts");
    try {
      return await runGenerate(settings, shell);
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      throw new Failure(
        "usage",
        error.message
          .split("\n")
          .map((it) => clean(it, 900))
          .join("\n"),
        error,
      );
    }
  },
});
