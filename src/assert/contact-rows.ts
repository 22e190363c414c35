import { z } from "zod";
import { isoOf } from "../base/clock.ts";
import type { Call } from "../http/call.ts";
import { row } from "../http/row.ts";
import { Limit, OfProject, SinceRequest, WaitMs } from "../journal/query-shapes.ts";
import { contactKindOf, contactKinds } from "../journal/sdk-paths.ts";
import { countsFor, createBudget } from "../journal/search.ts";
import { joinSignals } from "./event-watch.ts";
import type { AssertPorts } from "./ports.ts";

const ContactQuery = z.strictObject({
  project: OfProject.optional().describe(
    "Only this project's, and those without a project's key that arrived since the project was made",
  ),
  since: SinceRequest.optional(),
  limit: Limit.default(100),
  wait_ms: WaitMs.default(0).describe("Waits up to N ms if there is no request yet (default: 0)"),
});

/** A request of an SDK. */
const Contact = z
  .strictObject({
    n: z.int(),
    at: z.iso.datetime(),
    method: z.string(),
    target: z.string().describe("Path and query as sent, secrets masked"),
    kind: z.enum(contactKinds),
    project: z.int().nullable().describe("null: it carries no project's key"),
    status: z.int(),
    inspect: z
      .string()
      .nullable()
      .describe("Its address in the inspector; null if the sim ends with the tests"),
  })
  .meta({ title: "Contact" });
export type Contact = z.infer<typeof Contact>;

const ContactPage = z
  .strictObject({
    contacts: z.array(Contact).describe("Newest first"),
    cursor: z.int().describe("The newest request; pass it as `since` to select later ones only"),
  })
  .meta({ title: "ContactPage" });
export type ContactPage = z.infer<typeof ContactPage>;

type Query = z.output<typeof ContactQuery>;

function contactsIn(ports: AssertPorts, query: Query, origin: string): ContactPage {
  const { project, limit } = query;
  const own = project === undefined ? undefined : ports.worlds.projectById(project);
  const since = Math.max(query.since ?? 0, own?.ephemeral?.after_request ?? 0);
  const contacts: Contact[] = [];
  const isSpent = createBudget();
  for (const n of ports.log.requests({})) {
    if (n <= since || contacts.length === limit) break;
    const head = ports.log.head(n);
    const kind = head && contactKindOf(head);
    if (head && kind && (project === undefined || countsFor(ports, head, project)))
      contacts.push({
        ...{ n, at: isoOf(head.at), method: head.method, target: head.target, kind },
        ...{ project: head.project, status: head.status },
        inspect: ports.inspectable ? `${origin}/__sim/#/requests/${n}` : null,
      });
    if (isSpent(ports.log.sizeOf(n))) break;
  }
  return { contacts, cursor: ports.log.lastRequest };
}

/** Resolves once the signal is aborted. */
const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });

/** The requests as soon as there is one, at the latest after `wait_ms`. */
async function contactsWithin(ports: AssertPorts, query: Query, call: Call): Promise<ContactPage> {
  const look = (since = query.since) => contactsIn(ports, { ...query, since }, call.origin);
  const first = look();
  if (first.contacts.length > 0 || query.wait_ms === 0) return first;
  const over = joinSignals(call.signal, ports.closing);
  const stop = ports.log.subscribe(({ n }) => {
    if (look(Math.max(n - 1, query.since ?? 0)).contacts.length > 0) over.end();
  });
  const timer = setTimeout(over.end, query.wait_ms);
  try {
    await aborted(over.signal);
    return look();
  } finally {
    stop();
    clearTimeout(timer);
    over.release();
  }
}

/** The endpoint of `toHaveBeenContacted`. */
export const contactRows = (ports: AssertPorts) => [
  row({
    method: "GET",
    path: "/__sim/contacts",
    access: "control",
    summary:
      "Lists the requests of SDKs, newest first: events, configuration, flags, scripts, recordings, unknown paths; not the management API. Can wait for one",
    query: ContactQuery,
    reply: ContactPage,
    handle: ({ query, call }) => contactsWithin(ports, query, call),
  }),
];
