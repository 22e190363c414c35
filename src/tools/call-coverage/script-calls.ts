import { type ParserOptions, parse, parseExpression } from "@babel/parser";
import { isObject } from "../../kernel/base/json.ts";
import {
  type CallSite,
  isClientName,
  mentionsPosthog,
  type SourceCalls,
  type SourceProblem,
  sdkCallOf,
  sitesOf,
} from "./calls.ts";
import { bracedPieces, type ComponentPieces, componentPieces, components } from "./component-pieces.ts";

interface SyntaxNode {
  readonly type: string;
  readonly loc?: { readonly start: { readonly line: number; readonly column: number } };
  readonly [key: string]: unknown;
}

const isNode = (value: unknown): value is SyntaxNode => isObject(value) && typeof value.type === "string";
const nodeIn = (node: SyntaxNode, key: string): SyntaxNode | undefined => (isNode(node[key]) ? node[key] : undefined);
const nodesIn = (node: SyntaxNode, key: string): SyntaxNode[] =>
  Array.isArray(node[key]) ? node[key].filter(isNode) : [];

function visit(node: SyntaxNode, see: (node: SyntaxNode) => void): void {
  const open = [node];
  for (let next = open.pop(); next; next = open.pop()) {
    see(next);
    for (const value of Object.values(next).reverse()) {
      if (Array.isArray(value)) open.push(...value.filter(isNode).reverse());
      else if (isNode(value)) open.push(value);
    }
  }
}

const wrappers = new Set([
  ...["TSAsExpression", "TSSatisfiesExpression", "TSNonNullExpression", "TSTypeAssertion"],
  ...["ParenthesizedExpression", "TypeCastExpression"],
]);

/** Without types and brackets around it. */
function bare(node: SyntaxNode): SyntaxNode {
  const inner = wrappers.has(node.type) ? nodeIn(node, "expression") : undefined;
  return inner ? bare(inner) : node;
}

const memberTypes = new Set(["MemberExpression", "OptionalMemberExpression"]);
const callTypes = new Set(["CallExpression", "OptionalCallExpression"]);

/** The name of an identifier, of a property, or of a string. */
function nameOf(node: SyntaxNode | undefined): string | undefined {
  if (node?.type === "Identifier" || node?.type === "JSXIdentifier") return String(node.name);
  if (node?.type === "StringLiteral") return String(node.value);
  return node?.type === "PrivateName" ? nameOf(nodeIn(node, "id")) : undefined;
}

/** `EVENTS.SIGNUP` of a member expression, `SIGNUP` of an identifier. */
function pathOf(node: SyntaxNode | undefined): string | undefined {
  if (!node) return undefined;
  if (!memberTypes.has(node.type)) return node.type === "Identifier" ? nameOf(node) : undefined;
  const owner = pathOf(nodeIn(node, "object"));
  const property = nodeIn(node, "property");
  const name = node.computed && property?.type !== "StringLiteral" ? undefined : nameOf(property);
  return owner === undefined || name === undefined ? undefined : `${owner}.${name}`;
}

/** What a file declares: strings under a name, and clients of PostHog. */
class Declarations {
  readonly #texts = new Map<string, readonly string[] | null>();
  readonly #clients = new Set<string>();
  /** Functions of a client, by their name in the file. */
  readonly functions = new Map<string, string>();
  readonly isMentioned: boolean;

  constructor(programs: readonly SyntaxNode[], text: string) {
    this.isMentioned = mentionsPosthog(text);
    for (const it of programs) visit(it, (node) => this.#declare(node));
  }

  #declare(node: SyntaxNode): void {
    if (node.type === "VariableDeclaration")
      for (const it of nodesIn(node, "declarations")) this.#variable(it, node.kind === "const");
    if (node.type === "TSEnumDeclaration") {
      const name = nameOf(nodeIn(node, "id")) ?? "";
      const body = nodeIn(node, "body") ?? node;
      for (const member of nodesIn(body, "members"))
        this.#set(`${name}.${nameOf(nodeIn(member, "id"))}`, nodeIn(member, "initializer"));
    }
    if (node.type === "ImportDeclaration" && /posthog/i.test(nameOf(nodeIn(node, "source")) ?? "")) {
      for (const it of nodesIn(node, "specifiers")) {
        const [name, local] = [nameOf(nodeIn(it, "imported")), nameOf(nodeIn(it, "local")) ?? ""];
        this.#clients.add(local);
        if (name !== undefined) this.functions.set(local, name);
      }
    }
  }

  #variable(declarator: SyntaxNode, isConstant: boolean): void {
    const [id, given] = [nodeIn(declarator, "id"), nodeIn(declarator, "init")];
    if (!id || !given) return;
    const init = bare(given);
    const isClient = this.#makesClient(init);
    if (id.type === "ObjectPattern" && isClient) {
      for (const it of nodesIn(id, "properties")) {
        const [key, local] = [nameOf(nodeIn(it, "key")), nameOf(nodeIn(it, "value"))];
        if (key !== undefined && local !== undefined) this.functions.set(local, key);
      }
    }
    const name = nameOf(id);
    if (name === undefined) return;
    if (isClient) this.#clients.add(name);
    const method = this.#methodOf(init);
    if (method !== undefined) this.functions.set(name, method);
    if (!isConstant) return;
    if (init.type !== "ObjectExpression") this.#set(name, init);
    for (const it of nodesIn(init, "properties"))
      this.#set(`${name}.${nameOf(nodeIn(it, "key"))}`, nodeIn(it, "value"));
  }

  /** `capture` of `posthog.capture` and of `posthog.capture.bind(posthog)`. */
  #methodOf(node: SyntaxNode): string | undefined {
    const inner = bare(nodeIn(node, callTypes.has(node.type) ? "callee" : "object") ?? node);
    if (callTypes.has(node.type))
      return nameOf(nodeIn(inner, "property")) === "bind"
        ? this.#methodOf(bare(nodeIn(inner, "object") ?? inner))
        : undefined;
    return memberTypes.has(node.type) && this.isClient(inner) ? nameOf(nodeIn(node, "property")) : undefined;
  }

  /** Two different strings under one name, in two functions, are none. */
  #set(path: string, value: SyntaxNode | undefined): void {
    const texts = value ? this.textsOf(value) : [];
    const known = this.#texts.get(path);
    const differs = known !== undefined && String(known) !== String(texts);
    this.#texts.set(path, differs || texts.length === 0 ? null : texts);
  }

  #makesClient(node: SyntaxNode): boolean {
    if (node.type === "AwaitExpression") return this.#makesClient(bare(nodeIn(node, "argument") ?? node));
    if (node.type === "NewExpression") return /posthog/i.test(pathOf(nodeIn(node, "callee")) ?? "");
    return callTypes.has(node.type) && this.isClient(node);
  }

  /** True for `posthog`, `this.posthog`, `usePostHog()`, and what the file declares as a client. */
  isClient(given: SyntaxNode | undefined): boolean {
    if (!given) return false;
    const node = bare(given);
    const name = nameOf(node);
    if (node.type === "Identifier" && name !== undefined)
      return this.#clients.has(name) || isClientName(name, this.isMentioned);
    if (node.type === "AwaitExpression") return this.isClient(nodeIn(node, "argument"));
    if (callTypes.has(node.type)) return this.isClient(nodeIn(node, "callee"));
    if (!memberTypes.has(node.type)) return false;
    const property = nameOf(nodeIn(node, "property")) ?? "";
    return isClientName(property, this.isMentioned) || this.isClient(nodeIn(node, "object"));
  }

  /** The strings that an expression can be; none if they are computed. */
  textsOf(given: SyntaxNode): readonly string[] {
    const node = bare(given);
    if (node.type === "StringLiteral") return [String(node.value)];
    if (node.type === "TemplateLiteral") return this.#template(node);
    if (node.type === "ConditionalExpression") {
      const both = ["consequent", "alternate"].map((key) => this.textsOf(nodeIn(node, key) ?? node));
      return both.some(({ length }) => length === 0) ? [] : both.flat();
    }
    if (node.type === "BinaryExpression" && node.operator === "+") {
      const [left, right] = ["left", "right"].map((key) => this.textsOf(nodeIn(node, key) ?? node));
      return (left ?? []).flatMap((it) => (right ?? []).map((more) => it + more));
    }
    const path = pathOf(node);
    return (path === undefined ? null : this.#texts.get(path)) ?? [];
  }

  #template(node: SyntaxNode): string[] {
    const parts = nodesIn(node, "quasis").map(({ value }) => (isObject(value) ? String(value.cooked) : ""));
    const values = nodesIn(node, "expressions").map((it) => this.textsOf(it));
    if (values.some(({ length }) => length !== 1)) return [];
    return [parts.map((part, i) => part + (values[i]?.[0] ?? "")).join("")];
  }
}

const propertyOf = (object: SyntaxNode | undefined, key: string): SyntaxNode | undefined => {
  const found = nodesIn(object ?? { type: "" }, "properties").find((it) => nameOf(nodeIn(it, "key")) === key);
  return found && nodeIn(found, "value");
};

/** Finds the calls of one parsed file. */
class ScriptReader {
  readonly sites: CallSite[] = [];
  readonly #declared: Declarations;
  readonly #wrappers: ReadonlySet<string>;

  constructor(declared: Declarations, wrappers: ReadonlySet<string>) {
    this.#declared = declared;
    this.#wrappers = wrappers;
  }

  see(node: SyntaxNode): void {
    if (callTypes.has(node.type)) this.#call(node);
    if (node.type !== "JSXOpeningElement") return;
    const name = nameOf(nodeIn(node, "name")) ?? "";
    if ((this.#declared.functions.get(name) ?? name) === "PostHogFeature") this.#element(node);
  }

  #add(method: string, argument: SyntaxNode | undefined, at: SyntaxNode): void {
    const call = sdkCallOf(method);
    const start = at.loc?.start ?? { line: 1, column: 0 };
    const names = argument ? this.#declared.textsOf(argument) : [];
    const place = { line: start.line, column: start.column + 1 };
    if (call) this.sites.push(...sitesOf(method, call, names, place));
  }

  #element(node: SyntaxNode): void {
    const flag = nodesIn(node, "attributes").find((it) => nameOf(nodeIn(it, "name")) === "flag");
    const value = flag && nodeIn(flag, "value");
    const inner = value?.type === "JSXExpressionContainer" ? nodeIn(value, "expression") : value;
    if (inner) this.#add("getFeatureFlag", inner, node);
  }

  #call(node: SyntaxNode): void {
    const callee = bare(nodeIn(node, "callee") ?? node);
    const [first] = nodesIn(node, "arguments");
    const argument = first && bare(first);
    const path = pathOf(callee) ?? "";
    if (this.#wrappers.has(path)) {
      this.#add("capture", argument, callee);
      return;
    }
    const isMember = memberTypes.has(callee.type);
    const property = isMember ? nodeIn(callee, "property") : callee;
    const name = nameOf(property) ?? "";
    const method = isMember ? name : (this.#declared.functions.get(name) ?? (/^use/.test(name) ? name : ""));
    const call = sdkCallOf(method);
    if (!call || !property) return;
    const named = argument?.type === "ObjectExpression" ? argument : undefined;
    const event = propertyOf(named, "event");
    const isServerCall = call.kind === "event" && event !== undefined && propertyOf(named, "distinctId") !== undefined;
    const isFlagCall = call.kind === "flag" && this.#declared.isMentioned;
    if (isMember && !isServerCall && !isFlagCall && !this.#declared.isClient(nodeIn(callee, "object"))) return;
    this.#add(method, named ? (event ?? propertyOf(named, "key")) : argument, property);
  }
}

type Plugins = NonNullable<ParserOptions["plugins"]>;
const shared = ["decorators-legacy", "explicitResourceManagement"] as const;

function pluginsFor(file: string, text: string): Plugins {
  if (/\.[cm]?ts$/.test(file)) return [...shared, "typescript"];
  if (file.endsWith(".tsx")) return [...shared, "typescript", "jsx"];
  return /@flow\b/.test(text.slice(0, 1_000)) ? [...shared, "jsx", "flow"] : [...shared, "jsx"];
}

const messageOf = (error: Error): string => error.message.replace(/ \(\d+:\d+\)$/, "");

function problemOf(error: unknown): SourceProblem {
  const { loc } = isObject(error) && isObject(error.loc) ? error : { loc: {} };
  const { line, column } = isObject(loc) ? loc : {};
  return {
    line: typeof line === "number" ? line : 1,
    column: typeof column === "number" ? column + 1 : 1,
    message: error instanceof Error ? messageOf(error) : String(error),
  };
}

interface Parsed {
  readonly program?: SyntaxNode;
  readonly problem?: SourceProblem | undefined;
}

/** @param at Line (from 1) and column (from 0) of the code in its file */
function parsed(
  parser: typeof parse | typeof parseExpression,
  code: string,
  plugins: Plugins,
  at = { line: 1, column: 0 },
): Parsed {
  try {
    const found: unknown = parser(code, {
      sourceType: "unambiguous",
      errorRecovery: true,
      attachComment: false,
      allowReturnOutsideFunction: true,
      allowAwaitOutsideFunction: true,
      allowImportExportEverywhere: true,
      allowSuperOutsideMethod: true,
      allowUndeclaredExports: true,
      allowNewTargetOutsideFunction: true,
      startLine: at.line,
      startColumn: at.column,
      plugins,
    });
    if (!isNode(found)) return {};
    const [error] = Array.isArray(found.errors) ? found.errors : [];
    return { program: found, ...(error !== undefined && { problem: problemOf(error) }) };
  } catch (error) {
    return { problem: problemOf(error) };
  }
}

/** Places in a text, fast if they are asked for in their order. */
function placesIn(text: string): (at: number) => { line: number; column: number } {
  let [line, start] = [1, 0];
  return (at) => {
    if (at < start) [line, start] = [1, 0];
    for (let end = text.indexOf("\n", start); end >= 0 && end < at; end = text.indexOf("\n", start)) {
      line++;
      start = end + 1;
    }
    return { line, column: at - start };
  };
}

/** Levels of braces in markup that are searched if an outer one cannot be parsed. */
const mostLevels = 5;

/** The parts of a component. What the markup has in braces and cannot be parsed is searched for inner braces. */
function parsedComponent(text: string, file: string, wrappers: ReadonlySet<string>): Parsed[] {
  const ownNames = new Set([...wrappers].map((it) => it.split(".").at(-1)));
  const namesCall = (code: string): boolean =>
    [...code.matchAll(/[\w$]+(?=\s{0,9}(?:\?\.)?\()/g)].some(([it]) => sdkCallOf(it) || ownNames.has(it));
  const placeOf = placesIn(text);
  const all: Parsed[] = [];
  function add({ pieces, unread }: ComponentPieces, level: number): void {
    for (const { at, message } of unread) {
      const { line, column } = placeOf(at);
      all.push({ problem: { line, column: column + 1, message } });
    }
    for (const { code, at, isMarkup, isJsx } of pieces) {
      const plugins: Plugins = isJsx ? [...shared, "typescript", "jsx"] : [...shared, "typescript"];
      const place = placeOf(at);
      const expression = isMarkup ? parsed(parseExpression, code, plugins, place) : undefined;
      const read = expression?.program ? expression : parsed(parse, code, plugins, place);
      all.push(isMarkup && !namesCall(code) ? { ...read, problem: undefined } : read);
      if (!read.program && isJsx && level < mostLevels) add(bracedPieces(code, at, isJsx), level + 1);
    }
  }
  add(componentPieces(text, file), 1);
  return all;
}

/** The calls of a JavaScript or TypeScript file, or of a component: in its scripts and its markup. */
export function scriptCalls(text: string, file: string, wrappers: ReadonlySet<string>): SourceCalls {
  const all = components.test(file)
    ? parsedComponent(text, file, wrappers)
    : [parsed(parse, text, pluginsFor(file, text))];
  const programs = all.flatMap(({ program }) => program ?? []);
  const reader = new ScriptReader(new Declarations(programs, text), wrappers);
  for (const it of programs) visit(it, (node) => reader.see(node));
  return { sites: reader.sites, problems: all.flatMap(({ problem }) => problem ?? []) };
}
