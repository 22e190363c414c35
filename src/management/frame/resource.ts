import type { z } from "zod";
import type { Endpoint } from "../../http/endpoint.ts";
import type { ResourceDesk } from "./desk.ts";
import { filtered, filterQuery, type ListFilter, pageOf, pageQuery, pageSchema } from "./lists.ts";
import { type ManagementRow, managementRow, type ProjectRequest, type RowAccess } from "./row.ts";

/** The part of a row that a resource shares between its methods. */
type Listed = Pick<ManagementRow<"project">, "path" | "summary" | "contract" | "access">;

interface List<D> extends Listed {
  /** Parameters in addition to filters and pages. */
  readonly query?: z.ZodObject;
  readonly filters: readonly ListFilter<D>[];
  /** Shape of one document. */
  readonly item: z.ZodType;
  /** The documents of the project, in the order of the list. */
  all(request: ProjectRequest<never>): readonly D[];
  show(document: D, request: ProjectRequest<never>): object | Promise<object>;
}

/** The row of a list with filters and pages. */
export const listRow = <D>(
  desk: ResourceDesk,
  { filters, item, all, show, query, ...row }: List<D>,
): Endpoint[] =>
  managementRow(desk, {
    ...row,
    method: "GET",
    query: pageQuery.extend({ ...filterQuery(filters), ...query?.shape }),
    reply: pageSchema(item),
    async handle(request) {
      const { call, caller } = request;
      const page = pageOf(call, filtered(call, caller, filters, all(request)), (it) => it);
      const results: object[] = [];
      for (const it of page.results) results.push(await show(it, request));
      return { ...page, results };
    },
  });

/** A method that writes: its body, and the document that it leads to. */
interface Write<D, Body> {
  readonly summary: string;
  readonly body: z.ZodType<Body>;
  handle(request: ProjectRequest<Body>): D;
}

/** A kind of document of projects. Documents are deleted and restored by PATCH with `deleted`. */
interface Resource<D, New, Patch, Put> extends Pick<List<D>, "path" | "contract" | "filters" | "all"> {
  readonly reads: RowAccess<"project">;
  readonly writes: RowAccess<"project">;
  /** Shape of one document. */
  readonly shape: z.ZodType;
  show(document: D, request: ProjectRequest<unknown>): object | Promise<object>;
  readonly list: { readonly summary: string } & Partial<Pick<List<D>, "item" | "show" | "query">>;
  readonly create: Write<D, New>;
  readonly read: Pick<ManagementRow<"project">, "summary" | "query"> & {
    /** The document of the path. @throws SimError not_found */
    handle(request: ProjectRequest<unknown>): object | Promise<object>;
  };
  readonly patch: Write<D, Patch>;
  readonly put: Write<D, Put>;
  /** Why DELETE is refused, with an empty body. */
  readonly remove: { readonly summary: string };
}

/** The rows of a resource: its list, and creating, reading, changing and (refused) deleting one. */
export function resourceRows<D, New, Patch, Put>(
  desk: ResourceDesk,
  resource: Resource<D, New, Patch, Put>,
): Endpoint[] {
  const { path, contract = false, reads, writes, shape, show, list, create, read, patch, put } = resource;
  const one = `${path}/:id`;
  const changing = <Body>(
    method: "PATCH" | "PUT",
    isInContract: boolean,
    { handle, ...row }: Write<D, Body>,
  ) =>
    managementRow<"project", Body>(desk, {
      ...row,
      method,
      path: one,
      contract: isInContract,
      access: writes,
      reply: shape,
      handle: (request) => show(handle(request), request),
    });
  return [
    ...listRow(desk, {
      item: shape,
      show,
      ...list,
      path,
      contract,
      access: reads,
      filters: resource.filters,
      all: resource.all,
    }),
    ...managementRow<"project", New>(desk, {
      ...create,
      method: "POST",
      path,
      contract,
      access: writes,
      status: 201,
      reply: shape,
      handle: (request) => show(create.handle(request), request),
    }),
    ...managementRow(desk, { ...read, method: "GET", path: one, contract, access: reads, reply: shape }),
    ...changing("PATCH", contract, patch),
    ...changing("PUT", false, put),
    ...managementRow(desk, {
      ...resource.remove,
      method: "DELETE",
      path: one,
      contract,
      access: writes,
      status: 405,
      handle: () => undefined,
    }),
  ];
}
