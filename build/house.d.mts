/** An import of a file in src: `target` is a path below src, or a package. */
export interface Import {
  readonly file: string;
  readonly target: string;
  readonly isLocal: boolean;
  readonly isLate: boolean;
}
export interface House {
  readonly files: readonly string[];
  readonly imports: readonly Import[];
  readonly lines: ReadonlyMap<string, number>;
}
export interface Exception {
  readonly from: string;
  readonly to: string;
  readonly reason: string;
}
export const rooms: Readonly<Record<string, readonly string[]>>;
export const floors: readonly string[];
export const exceptions: readonly Exception[];
export const readHouse: (source: string) => House;
export const placeOf: (file: string) => string;
export const arrowsOf: (house: House) => { readonly upward: readonly Import[] };
export const circlesOf: (house: House) => readonly string[];
