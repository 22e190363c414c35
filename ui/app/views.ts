import { effect } from "@preact/signals";
import { type ComponentType, h } from "preact";
import { greetings } from "../feed/socket.ts";
import { late } from "./late-view.tsx";

export interface View {
  /** Part of the address. */
  readonly id: string;
  readonly label: string;
  readonly key: string;
  readonly Component: ComponentType;
}

const StartView = late(async () => (await import("../views/start/start.tsx")).StartView);
const EventsView = late(async () => (await import("../views/events/events.tsx")).EventsView);
const EventDetails = late(async () => (await import("../views/event/event.tsx")).EventDetails);
const EventCompare = late(async () => (await import("../views/event/compare.tsx")).EventCompare);
const RequestsView = late(async () => (await import("../views/requests/requests.tsx")).RequestsView);
const RequestDetails = late(async () => (await import("../views/requests/details.tsx")).RequestDetails);
const PeopleView = late(async () => (await import("../views/people/people.tsx")).PeopleView);
const FlagsView = late(async () => (await import("../views/flags/flags.tsx")).FlagsView);
const ExportsView = late(async () => (await import("../views/exports/exports.tsx")).ExportsView);
const FaultsView = late(async () => (await import("../views/faults/faults.tsx")).FaultsView);
const TapesView = late(async () => (await import("../views/tapes/tapes.tsx")).TapesView);
const WorldView = late(async () => (await import("../views/world/world.tsx")).WorldView);

/** Views do not import each other: the details are passed in. */
const Events = () => h(EventsView, { Details: EventDetails, Compare: EventCompare });

const Requests = () => h(RequestsView, { Details: RequestDetails });

/** The views in display order. */
export const views: readonly View[] = [
  { id: "start", label: "Start", key: "h", Component: StartView },
  { id: "events", label: "Events", key: "e", Component: Events },
  { id: "requests", label: "Requests", key: "r", Component: Requests },
  { id: "people", label: "People", key: "p", Component: PeopleView },
  { id: "flags", label: "Flags", key: "f", Component: FlagsView },
  { id: "exports", label: "Exports", key: "x", Component: ExportsView },
  { id: "faults", label: "Faults", key: "u", Component: FaultsView },
  { id: "tapes", label: "Tapes", key: "t", Component: TapesView },
  { id: "world", label: "World", key: "w", Component: WorldView },
];

/** Everything that is loaded late, in the order of likely use. */
const parts = [
  ...[StartView, EventsView, EventDetails, RequestsView, RequestDetails, PeopleView, FlagsView],
  ...[ExportsView, FaultsView, TapesView, WorldView, EventCompare],
];

async function fetchAll(): Promise<void> {
  for (const part of parts) await part.fetch();
}

/**
 * Loads the remaining views when idle: switching views is then instant, even while the sim is down. Failed loads are
 * retried after each reconnect.
 */
export function fetchTheRest(): void {
  effect(() => {
    if (greetings.value === 0) return;
    if ("requestIdleCallback" in window) requestIdleCallback(() => void fetchAll());
    else setTimeout(() => void fetchAll(), 1_000);
  });
}
