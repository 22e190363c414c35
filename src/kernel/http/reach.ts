/** Completes "must be …". */
export const controlTokenExpected = "16 to 512 characters of A-Z a-z 0-9 - . _ ~ + / =";

/** True if the text can be a control token: it fits a header and a link as it is, and is too long to be guessed. */
export const isControlToken = (text: string): boolean =>
  text.length >= 16 && text.length <= 512 && /^[\w.~+/-]+=*$/.test(text);

/** Completes "must be …". */
export const publicUrlExpected = "an http address without a path, such as http://sim:7490";

/** Scheme, host and port; undefined if the text is no such address, or has anything else. */
export function readPublicUrl(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) return undefined;
  return url.href === `${url.origin}/` && !text.endsWith("?") && !text.endsWith("#") ? url.origin : undefined;
}
