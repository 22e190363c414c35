import { closeSync, constants, existsSync, openSync, readFileSync, statSync, writeSync } from "node:fs";
import { type ClockState, isInRange } from "../base/clock.ts";
import { isObject, type Json } from "../base/json.ts";
import type { Damage } from "./damage.ts";
import { sealed, unsealed } from "./lines.ts";

interface KeptClock {
  setting: ClockState;
  seen: number | undefined;
}

/** Every text has this length, so that a later one takes no more space: only the first can find the disk full. */
const length = 96;

/** The clock as it was set, in a file of its own: a restart continues from there. */
export function clockFile(path: string, report: (damage: Damage) => void) {
  return {
    /** Undefined when the clock was never set, or the file cannot be read, which is reported. */
    read() {
      // Empty: the disk had no space for the first text.
      if (!existsSync(path) || statSync(path).size === 0) return undefined;
      const kept = clockIn(path);
      if (!kept) report({ file: path, line: null, detail: "this file is damaged: how the clock was set is lost" });
      return kept;
    },
    /** @throws the system's error; then the file is as it was */
    keep(setting: ClockState) {
      const seen = "stands" in setting ? setting.stands : Date.now() + setting.ahead;
      const text = `${sealed(JSON.stringify({ version: 1, ...setting, seen })).padEnd(length - 1)}\n`;
      const fd = openSync(path, constants.O_RDWR | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0), 0o600);
      try {
        writeSync(fd, text, 0);
      } finally {
        closeSync(fd);
      }
    },
  };
}

export type ClockFile = ReturnType<typeof clockFile>;

function clockIn(path: string): KeptClock | undefined {
  try {
    const text = unsealed(Buffer.from(readFileSync(path, "latin1").trimEnd(), "latin1"));
    const value: Json = JSON.parse(text ?? "");
    if (!isObject(value) || value.version !== 1) return undefined;
    const { stands, ahead } = value;
    // Older versions did not write it.
    const seen = typeof value.seen === "number" ? value.seen : undefined;
    if (typeof stands === "number" && isInRange(stands)) return { setting: { stands }, seen };
    return typeof ahead === "number" && Number.isSafeInteger(ahead) ? { setting: { ahead }, seen } : undefined;
  } catch {
    return undefined;
  }
}
