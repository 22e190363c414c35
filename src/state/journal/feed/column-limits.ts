/** The most columns of properties, and the longest name. The page reads it, too, without the code of previews. */
export const columnLimits = { columns: 12, name: 200 } as const;
