import { type Call, callFrom } from "../../../src/http/call.ts";
import type { Endpoint } from "../../../src/http/endpoint.ts";
import { asSimError, errorReply } from "../../../src/http/error-body.ts";
import { headerOf, type Reply } from "../../../src/http/reply.ts";
import { createRouter } from "../../../src/http/router.ts";
import { fixedClock } from "../../../src/kernel/clock.ts";
import { randomIds } from "../../../src/kernel/ids.ts";
import type { Desk } from "../../../src/model/desk.ts";
import type { People } from "../../../src/model/people.ts";
import { emptyWorld, type Project, type World } from "../../../src/model/world.ts";

const now = Date.UTC(2026, 0, 2, 3, 4, 5);

export const aProject = (more: Partial<Project> = {}): Project => ({
  id: 1,
  organization: "org",
  name: "Test",
  api_key: "phc_test",
  secret_api_key: "phs_test",
  remote_config: {},
  adopted: false,
  ...more,
});

/** A world with one project, unless said otherwise. */
export const aWorld = (more: Partial<World> = {}): World => ({
  ...emptyWorld(),
  projects: [aProject()],
  ...more,
});

/** These endpoints know no persons: touching them is a mistake. */
const noPeople = new Proxy({} as People, {
  get: (_target, name) => {
    throw new Error(`people.${String(name)} was used`);
  },
});

export function aDesk(world: World = aWorld()): Desk {
  const clock = fixedClock(now);
  const projectByKey = (key: string) => world.projects.find((project) => project.api_key === key);
  return {
    worlds: {
      current: world,
      projectByKey,
      projectById: (id) => world.projects.find((project) => project.id === id),
      change: (edit) => edit(world),
    },
    people: noPeople,
    clock,
    ids: randomIds(clock),
    dialect: "documented",
    projectFor: projectByKey,
    seen: () => false,
  };
}

export interface Asked {
  method?: string;
  headers?: Record<string, string>;
  body?: string | Buffer;
}

export function aCall(target: string, { method = "GET", headers = {}, body = "" }: Asked): Call {
  return callFrom({
    method,
    target,
    headers,
    rawHeaders: Object.entries(headers).flat(),
    body: Buffer.from(body),
    peer: "127.0.0.1",
    at: now,
    started: 0,
    signal: () => new AbortController().signal,
  });
}

interface Answer extends Reply {
  text: string;
  header(name: string): string | undefined;
  /** The body parsed as JSON. */
  json(): unknown;
}

function shown(reply: Reply): Answer {
  const text = reply.body?.toString() ?? "";
  return { ...reply, text, header: (name) => headerOf(reply, name), json: () => JSON.parse(text) };
}

/** Answers one call as the app would: route, handle, errors in the family's shape. */
export function asker(endpoints: readonly Endpoint[]) {
  const router = createRouter(endpoints);
  return async (target: string, asked: Asked = {}): Promise<Answer> => {
    const call = aCall(target, asked);
    const match = router.exact(call.path) ?? (await router.search(call.path));
    const endpoint = match?.byMethod.get(call.method);
    if (!match || !endpoint) throw new Error(`no row for ${call.method} ${call.path}`);
    call.params = match.params;
    try {
      return shown(await endpoint.handle(call));
    } catch (thrown) {
      return shown(errorReply(endpoint.family, asSimError(thrown)));
    }
  };
}
