import type { Call } from "../http/call.ts";

/** The connection of one page, as this door gives it to the feed. */
interface PageWire {
  /** Sends one message of UTF-8 text; `sent` is called once the system has taken it. */
  send(frame: Buffer, sent: () => void): void;
  /** Bytes that the other side has not taken yet. */
  buffered(): number;
  close(code: number, reason: string): void;
}

/** What this door tells the feed of a page. */
interface PageSession {
  /** A message came; null: one that is not text. */
  receive(message: string | null): void;
  gone(): void;
}

export type Connect = (wire: PageWire) => PageSession;

/** Says who may open the live feed. @throws SimError when this caller may not */
export type Admit = (call: Call) => Promise<Connect>;
