import { createHash, randomFillSync } from "node:crypto";
import type { Clock } from "./clock.ts";

/** Where every generated id comes from. */
export interface Ids {
  /** A new UUIDv7 stamped with the clock's time. */
  uuid(): string;
}

const hex = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));
const at = (bytes: Uint8Array, i: number): string => hex[bytes[i] ?? 0] ?? "00";

function format(b: Uint8Array, o = 0): string {
  return `${at(b, o)}${at(b, o + 1)}${at(b, o + 2)}${at(b, o + 3)}-${at(b, o + 4)}${at(b, o + 5)}-${at(b, o + 6)}${at(b, o + 7)}-${at(b, o + 8)}${at(b, o + 9)}-${at(b, o + 10)}${at(b, o + 11)}${at(b, o + 12)}${at(b, o + 13)}${at(b, o + 14)}${at(b, o + 15)}`;
}

/** Random ids. Random bytes are drawn 16 kB at a time: one system call for a thousand ids. */
export function randomIds(clock: Clock): Ids {
  const pool = Buffer.alloc(16_384);
  let used = pool.length;
  return {
    uuid() {
      if (used === pool.length) {
        randomFillSync(pool);
        used = 0;
      }
      const o = used;
      used += 16;
      const now = clock.now();
      pool.writeUIntBE(now >= 0 ? Math.min(now, 2 ** 48 - 1) : 0, o, 6);
      pool[o + 6] = 0x70 | ((pool[o + 6] ?? 0) & 0x0f);
      pool[o + 8] = 0x80 | ((pool[o + 8] ?? 0) & 0x3f);
      return format(pool, o);
    },
  };
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

const uuidShape = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Is it a UUID of any version, in its usual spelling? */
export const isUuid = (text: unknown): text is string => typeof text === "string" && uuidShape.test(text);
