import { spawn } from "node:child_process";

/** Opens an address in the user's browser, by the platform's own command. */
const openers: Readonly<Record<string, readonly [string, ...string[]]>> = {
  darwin: ["open"],
  win32: ["rundll32", "url.dll,FileProtocolHandler"],
};

/** Starts the browser and forgets it; `onFailure` is called when there is no command to do so. */
export function openPage(url: string, onFailure: () => void): void {
  const [program, ...args] = openers[process.platform] ?? ["xdg-open"];
  spawn(program, [...args, url], { stdio: "ignore", detached: true })
    .on("error", onFailure)
    .unref();
}
