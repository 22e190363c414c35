/**
 * 32-bit FNV-1a over UTF-16 code units. Fast and stable; used for index rows, never for anything
 * that has to be unique: every hit is verified against the stored line.
 */
export function fnv1a(text: string, seed = 0x811c9dc5): number {
  let hash = seed >>> 0;
  for (let i = 0; i < text.length; i++) {
    hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  }
  return hash >>> 0;
}

/** Hash of a text inside one project, so that the same name in two projects has two hashes. */
export const scopedHash = (project: number, text: string): number =>
  fnv1a(text, Math.imul(project ^ 0x9e3779b9, 0x01000193) >>> 0);
