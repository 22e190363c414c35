import type { SdkTotal } from "../../../src/state/journal/sdk-shapes.ts";
import type { Totals } from "../../../src/state/journal/totals-answer.ts";

/** What the steps are computed from. */
interface Seen {
  readonly events: Pick<Totals["events"], "kept" | "names">;
  readonly sdks: readonly SdkTotal[];
  /** The name of the scenario, as in `info`. */
  readonly scenario: string;
  /** Something is dropped or rejected. */
  readonly isLossy: boolean;
}

/** A step of the way to a useful double; code is between backticks. */
export interface Step {
  readonly id: "arrive" | "identify" | "lossless" | "test" | "keep";
  readonly isDone: boolean;
  readonly text: string;
}

/** SDKs that run where the user is. */
const clients = /^posthog-(?:js|js-lite|react-native|ios|android|flutter)$/;

function arrival(sdks: readonly SdkTotal[]): string {
  const senders = sdks.filter(({ kept, is_sdk }) => is_sdk && kept > 0);
  const hasClient = senders.some(({ name }) => clients.test(name));
  const hasServer = senders.some(({ name }) => !clients.test(name));
  if (hasClient && hasServer) return "Events arrive from the app and the server";
  if (hasClient) return "Events arrive from the app";
  return hasServer ? "Events arrive from the server" : "Events arrive";
}

/** The next steps, with those that are done. */
export function stepsFor({ events, sdks, scenario, isLossy }: Seen): Step[] {
  const identified = events.names.some(({ event, count, dropped }) => event === "$identify" && count > dropped);
  return [
    { id: "arrive", isDone: events.kept > 0, text: arrival(sdks) },
    {
      id: "identify",
      isDone: identified,
      text: identified ? "A person is identified" : "Identify a person: `posthog.identify(id)` after the login",
    },
    { id: "lossless", isDone: !isLossy, text: isLossy ? "Lose nothing: each problem has its fix" : "Nothing is lost" },
    { id: "test", isDone: false, text: "Turn this traffic into a test: open an event and copy it as a test" },
    {
      id: "keep",
      isDone: !isShipped(scenario),
      text: isShipped(scenario) ? "Keep your own world in a file: `phx-sim scenario init`" : "The world is in a file",
    },
  ];
}

/** A file is named by its path; a scenario that is part of phx-sim by a word. */
const isShipped = (scenario: string): boolean => /^[\w-]*$/.test(scenario);
