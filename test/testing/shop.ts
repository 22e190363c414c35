import type { Tenant } from "../../src/sim/client/api.ts";

export interface Sent {
  event?: string;
  distinct_id?: string;
  properties?: Record<string, unknown>;
}

/** Sends events as an SDK does; they are in the log once this returns. */
export async function send(tenant: Tenant, ...batch: readonly Sent[]): Promise<void> {
  const events = batch.map((it) => ({ distinct_id: "anna", ...it }));
  const body = JSON.stringify({ api_key: tenant.apiKey, batch: events });
  await fetch(`${tenant.host}/batch/`, { method: "POST", body });
}

/** Asks for flags as an SDK does. */
export async function askFlags(tenant: Tenant, distinctId: string, version = 2): Promise<void> {
  const body = JSON.stringify({ api_key: tenant.apiKey, distinct_id: distinctId });
  await fetch(`${tenant.host}/flags/?v=${version}`, { method: "POST", body });
}

/** A visitor who became a user. */
export const signedUp: readonly Sent[] = [
  { event: "signup_started", distinct_id: "visitor" },
  { event: "$identify", distinct_id: "anna", properties: { $anon_distinct_id: "visitor", $set: { plan: "pro" } } },
  { event: "signup_completed", properties: { plan: "pro", amount: 49 } },
];
