/**
 * 32-bit FNV-1a over UTF-16 code units, never 0 (which means "no hash" in index rows). Fast and stable;
 * never for anything that has to be unique: every hit is verified against the stored line.
 */
export function fnv1a(text: string, seed = 0x811c9dc5): number {
  let hash = seed >>> 0;
  for (let i = 0; i < text.length; i++) {
    hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  }
  return hash >>> 0 || 1;
}
