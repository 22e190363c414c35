import type { Endpoint } from "./endpoint.ts";

/** Endpoints of one capability, and the names of the parts of the sim that they use. */
export interface Slice<Ports> {
  readonly needs: readonly (keyof Ports)[];
  readonly rows: (ports: Ports) => readonly Endpoint[];
}

/** @param needs Exactly the names of the ports of `rows` */
export const slice = <Ports extends object, const Names extends readonly (keyof Ports)[]>(
  needs: Names & (keyof Ports extends Names[number] ? unknown : { missing: Exclude<keyof Ports, Names[number]> }),
  rows: (ports: Ports) => readonly Endpoint[],
): Slice<Ports> => ({ needs, rows });

/** The rows of slices in order; each slice gets the ports that it names, and no others. */
export const rowsOf = <Ports extends object>(slices: readonly Slice<Ports>[], ports: Ports): Endpoint[] =>
  slices.flatMap(({ needs, rows }) => rows(Object.fromEntries(needs.map((name) => [name, ports[name]])) as Ports));
