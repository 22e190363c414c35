import { SimError } from "../kernel/base/errors.ts";
import type { Call } from "../kernel/http/call.ts";
import type { Endpoint } from "../kernel/http/endpoint.ts";
import { isControlPath } from "../kernel/http/family.ts";
import { explainUnknownPath } from "../kernel/http/unknown-path.ts";
import type { Desk } from "../service/capture/desk.ts";
import { blankProject } from "../state/documents/blank.ts";
import { wireTime } from "../state/documents/time.ts";
import type { StoredProject } from "../state/documents/world.ts";
import { notEmulatedText, unknownPathText } from "../state/journal/unmatched.ts";

/** Makes a project of a well-formed key that no project has: `phc_` and what a key may contain. */
export function adopt(
  { worlds, ids, clock }: Pick<Desk, "worlds" | "ids" | "clock">,
  token: string,
  notice: (text: string) => void,
): StoredProject | undefined {
  if (!/^phc_\w{1,60}$/.test(token)) return undefined;
  notice(`adopted the unknown key ${token} as a new project`);
  return worlds.change((draft) =>
    draft.put(
      "projects",
      blankProject(
        {
          id: draft.nextId("projects"),
          uuid: ids.uuid(),
          organization: worlds.current.organizations[0]?.id ?? "",
          name: `Adopted ${token}`,
          api_key: token,
          adopted: true,
          // the real project may have it, and without it events would be lost
          settings: { cookieless_server_hash_mode: 2 },
        },
        wireTime(clock.now()),
      ),
    ),
  );
}

/** The service's answer to a path it does not have; in strict mode one that cannot be overlooked. */
export function unknownPath(call: Call, endpoints: readonly Endpoint[], strict: boolean): SimError {
  const isControl = isControlPath(call.path);
  const known = isControl ? endpoints : endpoints.filter(({ family }) => family !== "control");
  const { nearest, hint } = explainUnknownPath(known, call.path, call.origin);
  if (strict && !isControl) {
    const detail = `${notEmulatedText} ${call.method} ${call.path}.`;
    return new SimError("not_emulated", nearest.length > 0 ? `${detail} Nearest: ${nearest.join(", ")}.` : detail, {
      hint,
    });
  }
  return new SimError("not_found", unknownPathText, { hint });
}
