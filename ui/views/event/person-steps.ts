import { isCopy } from "../../copy/subject.ts";
import type { PersonStep } from "./steps.ts";

const isCopied = ({ does, name }: PersonStep): boolean => does.startsWith("set") && isCopy(name);

/** What somebody meant to do to the person. */
export const ownSteps = (steps: readonly PersonStep[]): PersonStep[] => steps.filter((it) => !isCopied(it));

/** What the service copies from the event's properties by itself. */
export const copiedSteps = (steps: readonly PersonStep[]): PersonStep[] => steps.filter(isCopied);
