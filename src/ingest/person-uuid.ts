import { uuidV5 } from "../kernel/ids.ts";

/** The namespace of person ids. Upstream person-uuid.ts. */
const namespace = "932979b4-65c3-4424-8467-0b66ec27bc22";

/** The uuid that a person made for this id gets; also the uuid of personless events with it. */
export const personUuid = (project: number, distinctId: string): string =>
  uuidV5(namespace, `${project}:${distinctId}`);
