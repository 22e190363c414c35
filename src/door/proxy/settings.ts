/** The forward proxy on the sim's port. */
export interface ProxyOptions {
  /**
   * What becomes of hosts that are not the service's: `tunnel` (default) passes their bytes on unread, `refuse`
   * answers 403.
   */
  others?: "tunnel" | "refuse";
  /**
   * What may be reached although it is on this machine or in a private network, both refused otherwise:
   * `localhost:3000`, `10.1.2.3`, `*.corp.example`. The sim's own port is never reached through itself.
   */
  allow?: readonly string[];
  /** Folder of the certificate authority. Default: `PHX_SIM_CA_DIR`, else `~/.phx-sim/ca`. */
  caFolder?: string;
}
