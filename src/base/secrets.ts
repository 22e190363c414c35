/**
 * Keys of the service by their prefix; `phc_` is the public project key and no secret. A letter right before one may be
 * the end of an escape: `%3Dphx_…`, `\nphx_…`.
 */
const keys =
  /(?:\b|(?<=%[\dA-Fa-f]{2}|\\[bfnrt]|\\u[\dA-Fa-f]{4}))(ph[abd-z](?:_|%5[Ff]))(?:[\w-]|%[\dA-Fa-f]{2}){4,}/g;
const anyKey = /ph[abd-z](?:_|%5[Ff])/;

/** `phx_abc…` becomes `phx_***`: which kind of key came is worth knowing, the key is not. */
export const maskKeys = (text: string): string => (anyKey.test(text) ? text.replace(keys, "$1***") : text);

const secretName = String.raw`[\w.$-]*(?:password|passphrase|secret|private_key|access_key|credential|api_key|token|client_email)[\w.$-]*`;
const jsonField = new RegExp(String.raw`("${secretName}"\s*:\s*)"(?:[^"\\]|\\.)*"?`, "gi");
const formField = new RegExp(`((?:^|&)${secretName}=)[^&]*`, "gi");
const partField = new RegExp(
  String.raw`(name="${secretName}"(?:\r\n[^\r\n]+)*\r\n\r\n)[\s\S]*?(?=\r\n--|$)`,
  "gi",
);

/**
 * Masks the values of fields whose names say that they are secret, in the text of a JSON, form or multipart
 * body. It works on text, because a body that cannot be parsed may hold a password as well.
 */
export const maskSecretFields = (text: string): string =>
  text.replace(jsonField, '$1"***"').replace(formField, "$1***").replace(partField, "$1***");

/** An address as it may be shown: keys, and the values of parameters (of its fragment, too) whose names say that they are secret. */
export function maskTargetSecrets(target: string): string {
  const at = target.search(/[?#]/);
  return at === -1
    ? maskKeys(target)
    : maskKeys(`${target.slice(0, at + 1)}${maskSecretFields(target.slice(at + 1))}`);
}
