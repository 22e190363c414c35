/** Keys of the service by their prefix; `phc_` is the public project key and no secret. */
const keys = /\b(ph[abd-z]_)[\w-]{4,}/g;
const anyKey = /\bph[abd-z]_/;

/** `phx_abc…` becomes `phx_***`: which kind of key came is worth knowing, the key is not. */
export const maskKeys = (text: string): string => (anyKey.test(text) ? text.replace(keys, "$1***") : text);
