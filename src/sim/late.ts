import type { Send } from "../kernel/call/call.ts";
import type { ObservingApp } from "../kernel/http/app.ts";
import type { Router } from "../kernel/http/router.ts";
import type { SimAddress } from "./address.ts";

interface Late<T> {
  /** @throws Error when the part is not made yet */
  (): T;
  set(part: T): T;
}

function late<T>(name: string): Late<T> {
  let made: { part: T } | undefined;
  const port = (): T => {
    if (made === undefined) throw new Error(`a bug in phx-sim: ${name} is used before it is made`);
    return made.part;
  };
  return Object.assign(port, {
    set(part: T) {
      made = { part };
      return part;
    },
  });
}

export type LateParts = ReturnType<typeof lateParts>;

/** Parts that others need once calls come in, and that are made after them. */
export const lateParts = () => ({
  app: late<ObservingApp>("the app"),
  router: late<Router>("the router"),
  address: late<SimAddress>("the address"),
  send: late<Send>("the transport of its own calls"),
  adopts: late<() => boolean>("the rule for unknown keys"),
});
