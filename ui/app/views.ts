import { effect } from "@preact/signals";
import { type ComponentType, h } from "preact";
import { greetings } from "../feed/socket.ts";
import type { IconName } from "../parts/icon.tsx";
import { late } from "./late-view.tsx";

export interface View {
  /** Part of the address, and the name of its icon. */
  readonly id: IconName;
  readonly label: string;
  readonly key: string;
  /** `near`: in the bar of narrow windows; `far`: first of those that are needed less often. */
  readonly place?: "near" | "far";
  readonly Component: ComponentType;
}

const StartView = late(async () => (await import("../views/start/start.tsx")).StartView, "start");
const EventsView = late(async () => (await import("../views/events/events.tsx")).EventsView, "events");
const EventDetails = late(async () => (await import("../views/event/event.tsx")).EventDetails, "event");
const EventCompare = late(async () => (await import("../views/event/compare.tsx")).EventCompare, "event");
const SessionsView = late(async () => (await import("../views/sessions/sessions.tsx")).SessionsView, "sessions");
const RequestsView = late(async () => (await import("../views/requests/requests.tsx")).RequestsView, "requests");
const RequestDetails = late(async () => (await import("../views/requests/details.tsx")).RequestDetails, "requests");
const PeopleView = late(async () => (await import("../views/people/people.tsx")).PeopleView, "people");
const FlagsView = late(async () => (await import("../views/flags/flags.tsx")).FlagsView, "flags");
const DashboardsView = late(
  async () => (await import("../views/dashboards/dashboards.tsx")).DashboardsView,
  "dashboards",
);
const ExportsView = late(async () => (await import("../views/exports/exports.tsx")).ExportsView, "exports");
const FaultsView = late(async () => (await import("../views/faults/faults.tsx")).FaultsView, "faults");
const TapesView = late(async () => (await import("../views/tapes/tapes.tsx")).TapesView, "tapes");
const WorldView = late(async () => (await import("../views/world/world.tsx")).WorldView, "world");
const ExceptionsView = late(
  async () => (await import("../views/exceptions/exceptions.tsx")).ExceptionsView,
  "exceptions",
);

/** Views do not import each other: the details are passed in. */
const Events = () => h(EventsView, { Details: EventDetails, Compare: EventCompare });

const Requests = () => h(RequestsView, { Details: RequestDetails });

/** The views in display order. */
export const views: readonly View[] = [
  { id: "start", label: "Start", key: "h", place: "near", Component: StartView },
  { id: "events", label: "Events", key: "e", place: "near", Component: Events },
  { id: "sessions", label: "Sessions", key: "s", place: "near", Component: SessionsView },
  { id: "exceptions", label: "Exceptions", key: "c", Component: ExceptionsView },
  { id: "requests", label: "Requests", key: "r", Component: Requests },
  { id: "people", label: "People", key: "p", Component: PeopleView },
  { id: "flags", label: "Flags", key: "f", place: "near", Component: FlagsView },
  { id: "dashboards", label: "Dashboards", key: "d", Component: DashboardsView },
  { id: "exports", label: "Exports", key: "x", place: "far", Component: ExportsView },
  { id: "faults", label: "Faults", key: "u", Component: FaultsView },
  { id: "tapes", label: "Tapes", key: "t", Component: TapesView },
  { id: "world", label: "World", key: "w", Component: WorldView },
];

/** Everything that is loaded late, in the order of likely use. */
const parts = [
  ...[StartView, EventsView, EventDetails, SessionsView, RequestsView, RequestDetails, PeopleView, FlagsView],
  ...[DashboardsView, ExportsView, FaultsView, TapesView, WorldView, EventCompare, ExceptionsView],
];

async function fetchAll(isAgain: boolean): Promise<void> {
  for (const part of parts) await (isAgain ? part.retry() : part.fetch());
}

/**
 * Loads the remaining views when idle: switching views is then instant, even while the sim is down. Failed loads are
 * retried after each reconnect.
 */
export function fetchTheRest(): void {
  effect(() => {
    if (greetings.value === 0) return;
    const isAgain = greetings.value > 1;
    if ("requestIdleCallback" in window) requestIdleCallback(() => void fetchAll(isAgain));
    else setTimeout(() => void fetchAll(isAgain), 1_000);
  });
}
