import { SimError } from "../../kernel/base/errors.ts";
import { isLoopbackHost, isLoopbackOrigin, withoutPort } from "../../kernel/http/host-rules.ts";
import { defaultSecretOf } from "./access.ts";
import type { PersonalApiKey, StoredProject, Worlds } from "./world.ts";

/** Personal and secret keys of the shipped scenarios and of the starter: the package publishes them. */
const publishedKeys: ReadonlySet<string> = new Set([
  ...["phx_sim_default", "phx_local", "phx_no_scopes", "phx_exports", "phx_exports_read", "phx_gallery", "phx_olga"],
  ...["phx_amir", "phx_mei", "phx_gus", "phx_gus_read", "phx_website", "phx_shop", "phx_shop_ci", "phx_traffic"],
  ...["phs_sim_default", "phs_local", "phs_over_quota", "phs_exports", "phs_gallery", "phs_plank", "phs_plank_web"],
  ...["phs_agency", "phs_shop", "phs_traffic"],
]);

export const isPublishedKey = (key: string): boolean => publishedKeys.has(key);

const isPublishedSecret = (project: Pick<StoredProject, "api_key" | "secret_api_key">): boolean =>
  isPublishedKey(project.secret_api_key) || project.secret_api_key === defaultSecretOf(project.api_key);

interface Sender {
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly transport: "socket" | "fetch";
  readonly proxied: boolean;
}

/** @param suffix Makes a published key secret; undefined: the port is open to this machine only. */
export function createKeyring(worlds: Pick<Worlds, "current">, suffix: string | undefined) {
  const shown = (key: string, isPublished: boolean) => (isPublished ? `${key}${suffix ?? ""}` : key);
  const shownPersonal = ({ key }: PersonalApiKey) => shown(key, isPublishedKey(key));
  const shownSecret = (project: StoredProject) => shown(project.secret_api_key, isPublishedSecret(project));
  const ownerOf = (secret: string) => worlds.current.projects.find((it) => shownSecret(it) === secret);

  function checkPublished(sender: Sender): void {
    if (suffix !== undefined) throw new SimError("authentication_failed", replaced);
    checkSender(sender);
  }

  return {
    /** The personal key with this text. @throws SimError permission_denied, authentication_failed */
    personal(text: string, sender: Sender) {
      if (isPublishedKey(text) && worlds.current.personal_api_keys.some((it) => it.key === text))
        checkPublished(sender);
      return worlds.current.personal_api_keys.find((it) => shownPersonal(it) === text);
    },
    /** The project that a secret key (`phs_…`) belongs to. @throws SimError permission_denied, authentication_failed */
    secretOwner(text: string, sender: Sender) {
      if (worlds.current.projects.some((it) => it.secret_api_key === text && isPublishedSecret(it)))
        checkPublished(sender);
      return ownerOf(text);
    },
    ownerOf,
    /** Checks a call that reaches protected data without a key. @throws SimError permission_denied, not_authenticated */
    checkKeyless(sender: Sender) {
      if (suffix !== undefined) throw new SimError("not_authenticated", keyNeeded);
      checkSender(sender);
    },
    /** Refuses a page of another site that reaches this machine through a name of its own. @throws SimError permission_denied */
    checkHost(sender: Sender) {
      if (suffix === undefined) refuse(foreignHost(sender));
    },
    shownPersonal,
    shownSecret,
  };
}

/**
 * Looks up the keys that clients send. A published key is no secret, so it is good only for programs and pages of
 * this machine; once the port is open to the network, a generated key replaces it.
 */
export type Keyring = ReturnType<typeof createKeyring>;

const replaced =
  "This key is published with phx-sim and does not work while the port is open to the network. Use the key that `phx-sim env` prints, or give the scenario a key of your own.";
const keyNeeded =
  "Authentication credentials were not provided. While the port is open to the network, X-Phx-Project does not replace a key.";

/** A page can reach this machine through a host name of its own (DNS rebinding). The proxy checks its hosts itself. */
const foreignHost = ({ headers: { host = "" }, transport, proxied }: Sender): string | undefined =>
  transport === "fetch" || proxied || isLoopbackHost(withoutPort(host)) ? undefined : `the host "${host}"`;

/** Some requests of browsers have no Origin; Sec-Fetch-Site still shows the relation of the sites. */
function foreignPage({ headers: { origin, "sec-fetch-site": site }, transport }: Sender): string | undefined {
  if (transport === "fetch") return undefined;
  if (origin !== undefined) return isLoopbackOrigin(origin) ? undefined : `the origin "${origin}"`;
  return site === "cross-site" ? "a page of another site" : undefined;
}

function refuse(place: string | undefined): void {
  if (place === undefined) return;
  throw new SimError(
    "permission_denied",
    `Without a key of your own, phx-sim answers only to this machine, and this request comes from ${place}. Add a personal key to the scenario and send that.`,
  );
}

const checkSender = (sender: Sender): void => refuse(foreignHost(sender) ?? foreignPage(sender));
