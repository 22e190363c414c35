import { z } from "zod";
import { isoOf } from "../../kernel/base/clock.ts";
import { SimError } from "../../kernel/base/errors.ts";
import type { Call } from "../../kernel/http/call.ts";
import { row } from "../../kernel/http/row.ts";
import { slice } from "../../kernel/http/slice.ts";
import type { RequestHead } from "../../state/journal/log/traffic-log.ts";
import { Limit, OfProject, SinceRequest, WaitMs } from "../../state/journal/query-shapes.ts";
import { contactKindOf, contactKinds } from "../../state/journal/sdk-paths.ts";
import { countsFor, createBudget } from "../../state/journal/search.ts";
import { joinSignals } from "./event-watch.ts";
import type { AssertingPorts, AssertPorts } from "./ports.ts";

const ContactQuery = z.strictObject({
  project: OfProject.optional().describe(
    "Only this project's, and those without a project's key that arrived since the project was made",
  ),
  since: SinceRequest.optional(),
  limit: Limit.default(100),
  wait_ms: WaitMs.default(0).describe("Waits up to N ms if there is no request yet (default: 0)"),
});

const Contact = z
  .strictObject({
    n: z.int(),
    at: z.iso.datetime(),
    method: z.string(),
    target: z.string().describe("Path and query as sent, secrets masked"),
    kind: z.enum(contactKinds),
    project: z.int().nullable().describe("null: it carries no project's key"),
    status: z.int(),
    inspect: z.string().nullable().describe("Its address in the inspector; null if the sim ends with the tests"),
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
type Spent = ReturnType<typeof createBudget>;

/** A project's own requests are found by the index; the search for those without a project's key is bounded. */
function contactsIn(ports: AssertPorts, query: Query, origin: string): ContactPage {
  const { project, limit } = query;
  const { log, inspectable } = ports;
  if ((query.since ?? 0) > log.lastRequest) {
    const detail = `"since" is ${query.since}, but the newest request is #${log.lastRequest}`;
    const hint = "take it from requests.mark() of this sim, or from the cursor of an answer";
    throw new SimError("invalid_input", detail, { pointer: "?since", hint });
  }
  const own = project === undefined ? undefined : ports.worlds.projectById(project);
  const since = Math.max(query.since ?? 0, own?.ephemeral?.after_request ?? 0);
  const collect = (isWanted: (head: RequestHead) => boolean, of: { project?: number }, isSpent: Spent) => {
    const contacts: Contact[] = [];
    for (const n of log.requests(of)) {
      if (n <= since || contacts.length === limit) break;
      const head = log.head(n);
      const kind = head && contactKindOf(head);
      if (head && kind && isWanted(head))
        contacts.push({
          ...{ n, at: isoOf(head.at), method: head.method, target: head.target, kind },
          ...{ project: head.project, status: head.status },
          inspect: inspectable ? `${origin}/__sim/#/requests/${n}` : null,
        });
      if (isSpent(log.sizeOf(n))) break;
    }
    return contacts;
  };
  const all = collect(
    (head) => project === undefined || (head.project === null && countsFor(ports, head, project)),
    {},
    createBudget(),
  );
  const everyOne = () => true;
  const owned = project === undefined ? [] : collect(everyOne, { project }, () => false);
  const contacts = [...all, ...owned].sort((a, b) => b.n - a.n).slice(0, limit);
  return { contacts, cursor: log.lastRequest };
}

async function contactsWithin(ports: AssertPorts, query: Query, call: Call): Promise<ContactPage> {
  const look = (since = query.since) => contactsIn(ports, { ...query, since }, call.origin);
  const first = look();
  if (first.contacts.length > 0 || query.wait_ms === 0) return first;
  const over = joinSignals([call.signal, ports.closing], query.wait_ms);
  const stop = ports.log.subscribe(({ n }) => {
    if (look(Math.max(n - 1, query.since ?? 0)).contacts.length > 0) over.end();
  });
  try {
    await over.ended;
    return look();
  } finally {
    stop();
    over.release();
  }
}

export const contactSlice = slice(["asserting"], ({ asserting: ports }: AssertingPorts) => [
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
]);
