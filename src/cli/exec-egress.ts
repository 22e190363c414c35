import type { ChildGuard } from "../guard/open-guard.ts";
import { clean } from "./clean-text.ts";
import type { Shell } from "./command.ts";
import { Failure } from "./failure.ts";

/** Keeps the command from reaching the real service, whatever host it has been given. @throws Failure start */
export async function openEgressGuard(url: string, shell: Shell): Promise<ChildGuard> {
  const { openGuard } = await import("../guard/open-guard.ts");
  try {
    const guard = await openGuard({ url, env: shell.env });
    shell.err.say(...guard.notes.map((note) => `phx-sim: --block-egress: ${clean(note, 1000)}`));
    return guard;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Failure("start", `--block-egress: ${clean(reason)}`, error);
  }
}

/** A way out that was blocked: alike calls are one. */
export interface Blocked {
  readonly call: string;
  readonly count: number;
}

/** The calls that were blocked, alike ones together, in the order of their first times. */
export async function blockedBy(guard: ChildGuard | undefined): Promise<Blocked[]> {
  const counts = new Map<string, number>();
  for (const { method, url } of (await guard?.calls()) ?? []) {
    const call = method === null ? url : `${method} ${url}`;
    counts.set(call, (counts.get(call) ?? 0) + 1);
  }
  return [...counts].map(([call, count]) => ({ call, count }));
}
