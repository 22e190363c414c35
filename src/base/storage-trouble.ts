/** System codes of a disk that takes nothing more: no mistake in a request, and no bug. */
const troubles: Readonly<Record<string, string>> = {
  ENOSPC: "the disk is full",
  EDQUOT: "the disk quota is used up",
  EFBIG: "a file has reached its size limit",
  EIO: "the disk reports an input/output error",
  EROFS: "the file system is read-only",
};

/** Why the disk refused a write, in words; undefined for any other error. */
export function storageTrouble(error: unknown): string | undefined {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return Object.hasOwn(troubles, code) ? troubles[code] : undefined;
}
