/** What became of a test event. */
export interface Sent {
  readonly isTaken: boolean;
  /** For people. */
  readonly text: string;
}

/** Sends an event as an SDK would: through the same door, with the project's key. */
export async function sendTestEvent(projectKey: string): Promise<Sent> {
  const properties = { $lib: "phx-sim inspector", sent_from: "the inspector's first page" };
  const body = { api_key: projectKey, event: "test event", distinct_id: "inspector", properties };
  try {
    const answer = await fetch("/i/v0/e/", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    return answer.ok
      ? { isTaken: true, text: "Sent." }
      : { isTaken: false, text: `Refused with ${answer.status}.` };
  } catch {
    return { isTaken: false, text: "Not sent: the sim did not answer." };
  }
}
