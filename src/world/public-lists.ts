import type { Project } from "./world.ts";

/**
 * Whose surveys, early access features, product tours, web experiments and prompts a project shows. No request
 * changes these lists, so that a project made like another one need not have copies.
 */
export const listsOwner = ({ id, ephemeral }: Project): number => ephemeral?.like ?? id;
