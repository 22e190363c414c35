/** The content type that makes a body a form; with parameters it does not count, as upstream. */
export const formType = "application/x-www-form-urlencoded";

/** True if the text starts like a form that carries events. Upstream capture looks for the same names. */
const front = /^(?:[\w.]{1,32}=[^&{["]{0,256}&){0,8}data=/;

const window = 2048;

export const looksLikeForm = (bytes: Buffer): boolean =>
  bytes.includes("data=") && front.test(bytes.toString("latin1", 0, window));

interface Form {
  data: Buffer | undefined;
  compression: string | undefined;
}

export function readForm(text: string): Form {
  const fields = new URLSearchParams(text);
  const data = fields.get("data");
  return { data: data === null ? undefined : Buffer.from(data), compression: fields.get("compression") ?? undefined };
}
