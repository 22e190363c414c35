import type { CaFacts } from "./certificate-authority.ts";

export interface CertificateAuthority extends CaFacts {
  /** The certificate, PEM. */
  cert: string;
  recipes: readonly (readonly [who: string, how: string])[];
}

export class CertificateError extends Error {
  readonly hint: string;

  constructor(message: string, hint: string, cause?: unknown) {
    super(message, { cause });
    this.name = "CertificateError";
    this.hint = hint;
  }
}

/**
 * The authority in `folder` (default: `PHX_SIM_CA_DIR`, else `~/.phx-sim/ca`); made on first use. It is only valid for
 * posthog.com and localhost.
 * @throws CertificateError
 */
export async function certificateAuthority(folder?: string): Promise<CertificateAuthority> {
  const { CaError, factsOf, openCa, trustRecipes } = await import("./certificate-authority.ts");
  try {
    const ca = await openCa(folder);
    const facts = factsOf(ca);
    return { ...facts, cert: ca.cert, recipes: trustRecipes(facts.cert_file, facts.spki) };
  } catch (error) {
    if (!(error instanceof CaError)) throw error;
    throw new CertificateError(error.message, error.hint, error);
  }
}
