import { closeSync, constants, openSync, readFileSync, writeSync } from "node:fs";
import { type ClockSetting, isInRange } from "../kernel/clock.ts";
import { isObject, type Json } from "../kernel/json.ts";

/** The clock as it was set, in a file of its own: a restart goes on from there. */
export interface ClockFile {
  /** Undefined when the clock was never set, or the file cannot be read. */
  read(): ClockSetting | undefined;
  /** @throws the system's error; then the file is as it was */
  keep(setting: ClockSetting): void;
}

/** Every text has this length, so that a later one takes no more space: only the first can find the disk full. */
const length = 64;

export function clockFile(path: string): ClockFile {
  return {
    read() {
      try {
        const value: Json = JSON.parse(readFileSync(path, "utf8"));
        return isObject(value) && value.version === 1 ? settingIn(value.stands, value.ahead) : undefined;
      } catch {
        return undefined;
      }
    },
    keep(setting) {
      const text = `${JSON.stringify({ version: 1, ...setting }).padEnd(length - 1)}\n`;
      const fd = openSync(path, constants.O_RDWR | constants.O_CREAT, 0o600);
      try {
        writeSync(fd, text, 0);
      } finally {
        closeSync(fd);
      }
    },
  };
}

function settingIn(stands: Json | undefined, ahead: Json | undefined): ClockSetting | undefined {
  if (typeof stands === "number" && isInRange(stands)) return { stands };
  return typeof ahead === "number" && Number.isSafeInteger(ahead) ? { ahead } : undefined;
}
