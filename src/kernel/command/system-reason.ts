import { systemCode } from "../base/errors.ts";
import { clean } from "./clean-text.ts";

const reasons: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file or folder",
  EISDIR: "it is a folder",
  NOT_REGULAR: "it is a pipe, a socket or a device",
  ENXIO: "it is a pipe, a socket or a device",
  TOO_LARGE: "it is too large",
  ELOOP: "it is a symbolic link to itself",
  ENOTDIR: "a part of its path is not a folder",
  EACCES: "permission denied",
  EPERM: "permission denied",
  EROFS: "the file system is read-only",
  ENOSPC: "the disk is full",
};

/** The reason of a failed file access in words; undefined for other errors. */
export const systemReason = (error: unknown): string | undefined => {
  const code = systemCode(error);
  return Object.hasOwn(reasons, code) ? reasons[code] : undefined;
};

export const reasonOf = (error: unknown): string =>
  systemReason(error) ?? clean(error instanceof Error ? error.message : String(error));
