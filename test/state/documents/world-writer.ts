import { writeSync } from "node:fs";
import { setImmediate as nextTurn } from "node:timers/promises";
import { openWorld } from "../../../src/state/documents/world-store.ts";
import { flush } from "../../kernel/store/changing.ts";
import { dashboard, seedWorld, user } from "./world-fixture.ts";

/**
 * A program that changes the world of a folder until it is killed, and says which changes are on disk: each adds a
 * user and a dashboard of the same number, and takes the dashboard before the last one away.
 */
const worlds = await openWorld({ folder: process.argv[2] ?? "", seedWorld });
for (;;) {
  const number = worlds.change((draft) => {
    const id = draft.nextId("users");
    draft.put("users", user(id));
    draft.put("dashboards", dashboard(id));
    draft.remove("dashboards", id - 2);
    return id;
  });
  flush(worlds);
  writeSync(1, `${number}\n`);
  await nextTurn();
}
