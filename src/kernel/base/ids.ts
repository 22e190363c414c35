import { createHash, randomFillSync } from "node:crypto";
import type { TimeSource } from "./clock.ts";

export interface Ids {
  uuid(): string;
}

const hex = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));
const at = (bytes: Uint8Array, i: number): string => hex[bytes[i] ?? 0] ?? "00";

function format(bytes: Buffer): string {
  const digits = bytes.toString("hex", 0, 16);
  return [8, 12, 16, 20, 32].map((end, i, ends) => digits.slice(ends[i - 1] ?? 0, end)).join("-");
}

/** Random ids. Random bytes are drawn 8 kB at a time: one system call for many ids. */
export function randomIds(clock: TimeSource): Ids {
  const pool = Buffer.alloc(8_192);
  let used = pool.length;
  let stamped = Number.NaN;
  let stamp = "";
  return {
    uuid() {
      if (used + 10 > pool.length) {
        randomFillSync(pool);
        used = 0;
      }
      const b = pool;
      const o = used;
      used += 10;
      const now = clock.now();
      if (now !== stamped) {
        stamped = now;
        stamp = stampOf(now);
      }
      const version = hex[0x70 | ((b[o] ?? 0) & 0x0f)];
      const variant = hex[0x80 | ((b[o + 2] ?? 0) & 0x3f)];
      return `${stamp}-${version}${at(b, o + 1)}-${variant}${at(b, o + 3)}-${at(b, o + 4)}${at(b, o + 5)}${at(b, o + 6)}${at(b, o + 7)}${at(b, o + 8)}${at(b, o + 9)}`;
    },
  };
}

/** The 48 bits of time at the front of a UUIDv7; times before 1970 count as 1970. */
function stampOf(now: number): string {
  const digits = Math.min(Math.max(now, 0), 2 ** 48 - 1)
    .toString(16)
    .padStart(12, "0");
  return `${digits.slice(0, 8)}-${digits.slice(8)}`;
}

function bytesOf(uuid: string): Buffer {
  return Buffer.from(uuid.replaceAll("-", ""), "hex");
}

/** RFC 9562 UUIDv5 of a name in a namespace (itself a UUID). */
export function uuidV5(namespace: string, name: string): string {
  const digest = createHash("sha1").update(bytesOf(namespace)).update(name, "utf8").digest();
  digest[6] = 0x50 | ((digest[6] ?? 0) & 0x0f);
  digest[8] = 0x80 | ((digest[8] ?? 0) & 0x3f);
  return format(digest);
}

const hexDigits = (value: number, count: number): string => value.toString(16).padStart(count, "0");

/** The UUIDv7 of a time, ms since the epoch; the same numbers of `random` (from 0 up to 1) make the same id. */
export function uuidV7(time: number, random: () => number): string {
  const bits = Math.floor(random() * 2 ** 26);
  const end = hexDigits(Math.floor(random() * 2 ** 24), 6) + hexDigits(Math.floor(random() * 2 ** 24), 6);
  const variant = hexDigits(0x8000 | (bits & 0x3fff), 4);
  return `${stampOf(time)}-7${hexDigits(bits >>> 14, 3)}-${variant}-${end}`;
}
