import { command } from "../kernel/command/command.ts";

export const completion = command({
  name: "completion",
  describe: "Print the script that makes a shell complete commands, options and values",
  options: { shell: { describe: "bash or zsh", choices: ["bash", "zsh"], place: 1 } },
  examples: [
    ['eval "$(phx-sim completion bash)"', "in ~/.bashrc"],
    ['eval "$(phx-sim completion zsh)"', "in ~/.zshrc, after compinit"],
  ],
  async run({ values: { shell } }) {
    const { printCompletionScript } = await import("../kernel/command/help.ts");
    printCompletionScript(shell);
    return "ok" as const;
  },
});
