const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=";

const inAlphabet = new Uint8Array(256);
for (const char of alphabet) inAlphabet[char.charCodeAt(0)] = 1;

const space = 0x20;

function isAlphabetOnly(bytes: Buffer, spacesToo: boolean): boolean {
  // By index: an iterator costs five times as much, and a body may have 20 MB.
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i] ?? 0;
    if (inAlphabet[byte] !== 1 && !(spacesToo && byte === space)) return false;
  }
  return bytes.length > 0;
}

/** True if the whole string is padded base64. Ordinary JSON fails at its first byte. */
export const isBase64 = (bytes: Buffer): boolean => bytes.length % 4 === 0 && isAlphabetOnly(bytes, false);

export const isLooseBase64 = (bytes: Buffer): boolean => isAlphabetOnly(bytes, true);

/** Decodes standard base64; spaces stand for `+`. */
export const fromBase64 = (bytes: Buffer): Buffer =>
  Buffer.from(bytes.toString("latin1").replaceAll(" ", "+"), "base64");
