import { connect } from "node:net";
import type { Sim } from "../../../src/index.ts";

/** What came of a request: an answer, or how it failed. */
export type Came =
  | { status: number; source: string | null; text: string; headers: Headers }
  | { error: string; code: string | undefined };

/** The two transports of a sim. */
export const transports: readonly (readonly [string, (sim: Sim, request: Request) => Promise<Response>])[] = [
  ["over a socket", (_, request) => fetch(request)],
  ["through sim.handle", (sim, request) => sim.handle(request)],
];

const codeOf = (error: unknown): string | undefined => {
  const { cause } = error as { cause?: { code?: unknown } };
  return typeof cause?.code === "string" ? cause.code : undefined;
};

/** Sends, reads the body to its end, and reports what came. */
export async function outcome(asked: Promise<Response>): Promise<Came> {
  try {
    const response = await asked;
    const text = await response.text();
    const { status, headers } = response;
    return { status, source: headers.get("x-phx-source"), text, headers };
  } catch (error) {
    return { error: (error as Error).message, code: codeOf(error) };
  }
}

/** All that comes back over a connection until it ends, and how it ended. */
export function rawly(url: string, bytes: string): Promise<{ text: string; code: string | undefined }> {
  return new Promise((resolve) => {
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname, () => socket.write(bytes));
    let text = "";
    let code: string | undefined;
    socket.on("data", (chunk) => {
      text += chunk;
    });
    socket.on("error", (error: NodeJS.ErrnoException) => {
      code = error.code;
    });
    socket.on("close", () => resolve({ text, code }));
  });
}
