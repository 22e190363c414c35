/** Why an upstream gave no answer. */
export interface UpstreamFailure {
  /** The system's code, e.g. `ECONNREFUSED`. */
  readonly code: string;
  /** A sentence with what to do. */
  readonly detail: string;
}

const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: "nobody listens there: is it running, is the port right?",
  ENOTFOUND: "its name is not known: is it spelled right, is there a network?",
  EAI_AGAIN: "names cannot be looked up: is there a network?",
  ECONNRESET: "it closed the connection",
  EPIPE: "it closed the connection",
  ETIMEDOUT: "it does not answer",
  EHOSTUNREACH: "there is no way to it",
  ENETUNREACH: "there is no way to it",
  EPROTO: "it does not speak TLS",
  ERR_SSL_WRONG_VERSION_NUMBER: "it does not speak TLS: should the address begin with http://?",
  LOOP: "it is this sim itself",
};

/** What OpenSSL and Node call a certificate that cannot be trusted. */
const isCertificate = (code: string): boolean => /CERT|SELF_SIGNED|ALTNAME|UNABLE_TO_/.test(code);

const reasonOf = (code: string): string =>
  reasons[code] ??
  (isCertificate(code)
    ? "its certificate cannot be trusted: give the certificate authority's with upstreamCa, or NODE_EXTRA_CA_CERTS"
    : /^HPE_/.test(code)
      ? "what it sends is not HTTP"
      : "the connection failed");

/** Tells an error of a connection to an upstream. @param origin The upstream's */
export function failureOf(error: unknown, origin: string): UpstreamFailure {
  const inner = error instanceof AggregateError ? error.errors[0] : error;
  const code = String((inner as NodeJS.ErrnoException | undefined)?.code ?? "unknown");
  return { code, detail: `${origin} gave no answer: ${reasonOf(code)} (${code})` };
}

/** The answer in an upstream's place, in the service's own shape. */
export const failureBody = ({ detail }: UpstreamFailure): string =>
  JSON.stringify({ type: "server_error", code: "upstream_unreachable", detail, attr: null });
