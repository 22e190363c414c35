import { parseAst } from "vitest/node";

/**
 * One change of a source file: the text `to` in the place of `from`.
 * @typedef {{ id: number, line: number, from: string, to: string }} Mutant
 */

const comparisons = { "<": "<=", "<=": "<", ">": ">=", ">=": ">", "===": "!==", "!==": "===" };
const limits = new Set(["<", "<=", ">", ">="]);
const arithmetic = { "+": "-", "-": "+", "*": "/", "/": "*", "%": "*", "<<": ">>", ">>>": "<<", "|": "&" };
const siblings = {
  some: "every",
  every: "some",
  startsWith: "endsWith",
  endsWith: "startsWith",
  min: "max",
  max: "min",
  floor: "ceil",
  round: "floor",
  findLast: "find",
};
const droppable = new Set("toLowerCase toUpperCase trim normalize sort reverse".split(" "));

const isProse = (text) => /\s/.test(text.trim()) || text === "";

/** Every way in which a regular expression becomes another one by one step. */
function* regexMutants(raw) {
  const end = raw.lastIndexOf("/");
  const [source, flags] = [raw.slice(1, end), raw.slice(end + 1)];
  const steps = [
    // Anchors and boundaries.
    [/\\b|(?<![\\[(?])[$^]|(?<=\()\^/g, () => [""]],
    // Conditions on what stands around it.
    [/\(\?<?!(?:\[[^\]]*\]|[^()[\]])*\)/g, () => [""]],
    // Repetitions.
    [/\{(\d+)(,\d*)?\}/g, (_, n, rest = "") => [`{${+n + 1}${rest}}`, ...(+n > 0 ? [`{${n - 1}${rest}}`] : [])]],
    [/(?<=\{\d+,)(\d+)(?=\})/g, (all) => [`${+all + 1}`]],
    // A class, and its opposite.
    [/\\[dwsDWS]/g, (all) => [all[1] < "a" ? all.toLowerCase() : all.toUpperCase()]],
    // One of several alternatives.
    [/(?<=[(:|!=])(?:\[[^\]]*\]|\\.|[^()[\]|\\?])+(?=[|)])/g, (all, ...rest) => alternatives(all, rest)],
  ];
  for (const [pattern, changes] of steps) {
    for (const found of source.matchAll(pattern)) {
      for (const to of changes(found[0], ...found.slice(1), source, found.index)) {
        const made = source.slice(0, found.index) + to + source.slice(found.index + found[0].length);
        try {
          new RegExp(made, flags);
          yield `/${made === "" ? "(?:)" : made}/${flags}`;
        } catch {}
      }
    }
  }
  if (flags.includes("i")) yield `/${source}/${flags.replace("i", "")}`;
}

function alternatives(all, rest) {
  const [source, index] = rest.slice(-2);
  const isOne = source[index - 1] === "|" || source[index + all.length] === "|";
  return isOne ? ["(?!)"] : [];
}

/** The changes of one expression, as texts that stand where it stood. */
function* expressionMutants(node, parent, text) {
  const at = (it) => text.slice(it.start, it.end);
  switch (node.type) {
    case "Literal":
      yield* literalMutants(node, parent);
      break;
    case "BinaryExpression": {
      const other = comparisons[node.operator] ?? arithmetic[node.operator];
      // A limit is moved by its number.
      const isLimit = limits.has(node.operator) && typeof node.right.value === "number";
      if (other !== undefined && !isLimit) yield `(${at(node.left)}) ${other} (${at(node.right)})`;
      break;
    }
    case "LogicalExpression":
      yield at(node.left);
      yield at(node.right);
      break;
    case "UnaryExpression":
      if (node.operator === "!" || node.operator === "-") yield at(node.argument);
      break;
    case "ConditionalExpression":
      if (isNegatable(node.test)) yield `(${at(node.test)}) ? (${at(node.alternate)}) : (${at(node.consequent)})`;
      break;
    case "CallExpression":
      yield* callMutants(node, text);
      break;
  }
}

function* literalMutants(node, parent) {
  if (node.regex) yield* regexMutants(node.raw);
  else if (typeof node.value === "boolean") yield String(!node.value);
  else if (typeof node.value === "number") {
    yield String(node.value + 1);
    if (parent.type === "VariableDeclarator" || limits.has(parent.operator)) yield String(node.value - 1);
  } else if (typeof node.value === "string") {
    const isTypeof = [parent.left, parent.right].some((it) => it?.operator === "typeof");
    const isSplit = parent.type === "MemberExpression" && parent.property.name === "split";
    if (isSplit) {
      const words = node.value.split(" ");
      for (const word of words) yield JSON.stringify(words.filter((it) => it !== word).join(" "));
    } else if (!isProse(node.value) && !isTypeof && parent.type !== "ArrayExpression") yield JSON.stringify("mutant");
  }
}

function* callMutants({ callee, arguments: given }, text) {
  if (callee.type !== "MemberExpression" || callee.computed) return;
  const object = text.slice(callee.object.start, callee.object.end);
  const { name } = callee.property;
  const other = Object.hasOwn(siblings, name) ? siblings[name] : undefined;
  const rest = text.slice(callee.property.end, given.at(-1)?.end ?? callee.property.end);
  const call = given.length > 0 ? `${rest})` : "()";
  if (other !== undefined) yield `${object}${callee.optional ? "?." : "."}${other}${call}`;
  if (droppable.has(name)) yield object;
}

/** Is the negation none of the changes that the expression has by itself? */
const isNegatable = (test) =>
  test.type !== "UnaryExpression" && !(test.type === "BinaryExpression" && test.operator.endsWith("=="));
const written = new Set("Literal TemplateLiteral ArrowFunctionExpression FunctionExpression".split(" "));
/** A property is left out when its value is not changed by itself; without a function nothing would work. */
const isRow = (property) =>
  property.type === "SpreadElement" ||
  (property.kind === "init" && (property.value.regex || !written.has(property.value.type)));
const removable = new Set(["ExpressionStatement", "ThrowStatement", "BreakStatement", "ContinueStatement"]);
const loops = new Set(["WhileStatement", "DoWhileStatement", "ForStatement", "ForOfStatement"]);
const skipped = new Set([
  "ImportDeclaration",
  "ExportAllDeclaration",
  "TSTypeAliasDeclaration",
  "TSInterfaceDeclaration",
]);
const casts = new Set(["TSAsExpression", "TSNonNullExpression", "TSSatisfiesExpression"]);

/** How many turns the loops of a file may take: a mutant that never ends fails instead. */
const mostTurns = 2e7;

/**
 * All mutants of a TypeScript file, and one text that contains them all: which one is active is decided when the
 * module is loaded, by `globalThis.activeMutant`.
 * @param {string} text
 * @returns {{ code: string, mutants: Mutant[] }}
 */
export function mutantsOf(text) {
  /** @type {Mutant[]} */
  const mutants = [];
  const before = [];
  const after = [];
  const lineOf = (offset) => text.slice(0, offset).split("\n").length;

  const add = (node, to) => {
    mutants.push({ id: mutants.length + 1, line: lineOf(node.start), from: text.slice(node.start, node.end), to });
    return mutants.length;
  };
  const wrap = (node, prefix, suffix) => {
    before.push([node.start, prefix]);
    return () => after.push([node.end, suffix]);
  };

  const changed = (node, changes) => {
    if (changes.length === 0) return () => {};
    const cases = changes.map((to) => `activeMutant===${add(node, to)}?(${to}):`).join("");
    return wrap(node, `(${cases}(`, "))");
  };
  /** An element or a property that is left out. */
  const row = (node, [open, close]) =>
    wrap(node, `...(activeMutant===${add(node, "(removed)")}?${open}${close}:${open}`, `${close})`);

  const visit = (node, parent, role) => {
    if (skipped.has(node.type) || (node.type.startsWith("TS") && !casts.has(node.type))) return;
    const closers = [];
    if (role === "element") closers.push(row(node, "[]"));
    if (role === "property" && isRow(node)) closers.push(row(node, "{}"));
    if (removable.has(node.type) && !node.directive) {
      closers.push(wrap(node, `{if(activeMutant!==${add(node, "(removed)")}){`, "}}"));
    }
    const changes = role === "key" ? [] : [...expressionMutants(node, parent, text)];
    if (role === "test") {
      const own = text.slice(node.start, node.end);
      if (isNegatable(node)) changes.push(`!(${own})`);
      if (parent.type === "IfStatement" && !parent.alternate && !removable.has(parent.consequent.type)) {
        changes.push("false");
      }
    }
    closers.push(changed(node, changes));
    if (loops.has(node.type)) {
      closers.push(wrap(node.body, `{if(++turns>${mostTurns})throw new Error("endless");`, "}"));
    }
    for (const [child, childRole] of childrenOf(node)) visit(child, node, childRole);
    for (const close of closers.reverse()) close();
  };
  visit(parseAst(text, { lang: "ts" }), { type: "File" });

  const inserted = [...after.map((it) => [...it, 0]), ...before.map((it) => [...it, 1])];
  inserted.sort((a, b) => a[0] - b[0] || a[2] - b[2]);
  let code = "";
  let from = 0;
  for (const [at, piece] of inserted) {
    code += text.slice(from, at) + piece;
    from = at;
  }
  code += text.slice(from);
  return { code: `const activeMutant=globalThis.activeMutant;let turns=0;${code}`, mutants };
}

/** The nodes inside a node that are code, each with the part it plays. */
function* childrenOf(node) {
  if (node.type === "TemplateLiteral") {
    for (const it of node.expressions) yield [it];
    return;
  }
  for (const [key, value] of Object.entries(node)) {
    for (const child of [value].flat()) {
      if (typeof child?.type !== "string") continue;
      const isKey = (key === "key" && !node.computed) || (key === "property" && !node.computed);
      if (isKey) continue;
      if (key === "elements" && node.type === "ArrayExpression") yield [child, "element"];
      else if (key === "properties" && node.type === "ObjectExpression") yield [child, "property"];
      else if (key === "test" && (node.type === "IfStatement" || node.type === "WhileStatement")) yield [child, "test"];
      else if (key === "label" || key === "source") continue;
      else yield [child];
    }
  }
}
