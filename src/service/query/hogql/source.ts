import type { SourceColumn } from "./term.ts";

export type Member =
  | { readonly is: "column"; readonly column: SourceColumn }
  | { readonly is: "json"; readonly json: JsonColumn }
  | { readonly is: "table"; readonly table: Table };

interface JsonColumn {
  property(name: string): SourceColumn;
  nested(path: readonly [string, ...(string | number)[]]): SourceColumn;
  text(name: string): SourceColumn;
  readonly whole: SourceColumn;
}

export interface Table {
  /** Names that exist, for suggestions. */
  readonly names: readonly string[];
  readonly starred: readonly string[];
  member(name: string): Member | undefined;
}

export interface Rows {
  /** Known once `prepare` ran. */
  length(): number;
  /** Work before rows are read (default: none). */
  prepare?(): void;
}

export interface RowSource extends Table, Rows {}

/** Tables by their names, and those without a name. */
export interface TableNames {
  readonly tables: ReadonlyMap<string, Table>;
  readonly anonymous: readonly Table[];
}
