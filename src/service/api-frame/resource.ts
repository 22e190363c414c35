import { z } from "zod";
import type { Endpoint } from "../../kernel/http/endpoint.ts";
import type { ResourceDesk } from "./desk.ts";
import { filtered, filterQuery, type ListFilter, pageOf, pageQuery, pageSchema } from "./lists.ts";
import { type ManagementRow, managementRow, type RequestIn, type RowAccess } from "./row.ts";

type Place = "project" | "organization";

type Listed<Of extends Place> = Pick<ManagementRow<Of>, "path" | "summary" | "contract" | "access">;

interface List<D, Of extends Place = "project"> extends Listed<Of> {
  readonly filters: readonly ListFilter<D>[];
  readonly query?: z.ZodRawShape;
  readonly item: z.ZodType;
  /** Results on a page without `?limit=` (default: 100); null: the list has no pages and no count. */
  readonly limit?: number | null;
  all(request: RequestIn<Of, never>): readonly D[] | Promise<readonly D[]>;
  show(document: D, request: RequestIn<Of, never>): object | Promise<object>;
}

export const listRow = <D, Of extends Place = "project">(
  desk: ResourceDesk,
  { filters, query, item, limit, all, show, ...row }: List<D, Of>,
): Endpoint[] =>
  managementRow<Of>(desk, {
    ...row,
    method: "GET",
    query: (limit === null ? z.object({}) : pageQuery).extend({ ...filterQuery(filters), ...query }),
    reply: limit === null ? z.object({ results: z.array(item) }) : pageSchema(item),
    async handle(request) {
      const documents = filtered(request.call, request.caller, filters, await all(request));
      const { results: found, ...page } =
        limit === null ? { results: documents } : pageOf(request.call, documents, (it) => it, limit);
      const results: object[] = [];
      for (const it of found) results.push(await show(it, request));
      return { ...page, results };
    },
  });

interface Write<D, Body, Of extends Place> {
  readonly summary: string;
  readonly body: z.ZodType<Body>;
  /** Statuses of refusals beyond the usual ones. */
  readonly errors?: readonly number[];
  handle(request: RequestIn<Of, Body>): D | Promise<D>;
}

/** A kind of document. Those whose DELETE is refused are deleted and restored by PATCH with `deleted`. */
interface Resource<D, New, Patch, Put, Of extends Place>
  extends Pick<List<D, Of>, "path" | "contract" | "filters" | "query" | "limit" | "all"> {
  readonly reads: RowAccess<Of>;
  readonly writes: RowAccess<Of>;
  readonly shape: z.ZodType;
  show(document: D, request: RequestIn<Of, unknown>): object | Promise<object>;
  readonly list?: { readonly summary: string } & Partial<Pick<List<D, Of>, "item" | "show">>;
  readonly create?: Write<D, New, Of>;
  readonly read?: Pick<ManagementRow<Of>, "summary" | "query" | "reply"> & {
    /** The document of the path. @throws SimError not_found */
    handle(request: RequestIn<Of, unknown>): object | Promise<object>;
  };
  readonly patch?: Write<D, Patch, Of>;
  readonly put?: Write<D, Put, Of>;
  /** Without `handle` DELETE is refused, with an empty body. */
  readonly remove?: { readonly summary: string; handle?(request: RequestIn<Of, unknown>): void | Promise<void> };
}

export function resourceRows<D, New, Patch, Put, Of extends Place = "project">(
  desk: ResourceDesk,
  resource: Resource<D, New, Patch, Put, Of>,
): Endpoint[] {
  const { path, contract = false, reads, writes, shape, show, list, create, read, patch, put } = resource;
  const { filters, query = {}, limit = 100, all, remove } = resource;
  const one = `${path}/:id`;
  const changing = <Body>(method: "PATCH" | "PUT", isInContract: boolean, { handle, ...row }: Write<D, Body, Of>) =>
    managementRow<Of, Body>(desk, {
      ...row,
      method,
      path: one,
      contract: isInContract,
      access: writes,
      reply: shape,
      handle: async (request) => show(await handle(request), request),
    });
  const about = { path, contract, access: reads, filters, query, limit, all };
  return [
    ...(list ? listRow<D, Of>(desk, { item: shape, show, ...list, ...about }) : []),
    ...(create
      ? managementRow<Of, New>(desk, {
          ...create,
          method: "POST",
          path,
          contract,
          access: writes,
          status: 201,
          reply: shape,
          handle: async (request) => show(await create.handle(request), request),
        })
      : []),
    ...(read
      ? managementRow<Of>(desk, { reply: shape, ...read, method: "GET", path: one, contract, access: reads })
      : []),
    ...(patch ? changing("PATCH", contract, patch) : []),
    ...(put ? changing("PUT", false, put) : []),
    ...(remove
      ? managementRow<Of>(desk, {
          summary: remove.summary,
          method: "DELETE",
          path: one,
          contract,
          access: writes,
          status: remove.handle ? 204 : 405,
          handle: (request) => remove.handle?.(request),
        })
      : []),
  ];
}
