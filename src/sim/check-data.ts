import { resolve } from "node:path";
import { keysOf } from "../journal/show.ts";
import type { Damage } from "../store/damage.ts";
import { checkFolder } from "./folder/check-folder.ts";

export type { Damage } from "../store/damage.ts";

/** Everything in a data folder that cannot be read, and what is lost by it. It changes nothing in the folder. */
export const checkData = (folder: string): Promise<Damage[]> => checkFolder(resolve(folder), keysOf);
