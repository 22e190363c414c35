import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/**
 * What is inside files that packages ship ready-made: other packages in their bundles, by the bundles' source maps; Rust crates in
 * their WebAssembly, by the paths in its messages; C libraries, by the list below.
 */

const mit = `Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated
documentation files (the "Software"), to deal in the Software without restriction, including without limitation the
rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit
persons to whom the Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the
Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR
COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR
OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.`;

const bsd = `Redistribution and use in source and binary forms, with or without modification, are permitted provided that the
following conditions are met:

 * Redistributions of source code must retain the above copyright notice, this list of conditions and the following
   disclaimer.

 * Redistributions in binary form must reproduce the above copyright notice, this list of conditions and the following
   disclaimer in the documentation and/or other materials provided with the distribution.

 * Neither the name Facebook, nor Meta, nor the names of its contributors may be used to endorse or promote products
   derived from this software without specific prior written permission.

THIS SOFTWARE IS PROVIDED BY THE COPYRIGHT HOLDERS AND CONTRIBUTORS "AS IS" AND ANY EXPRESS OR IMPLIED WARRANTIES,
INCLUDING, BUT NOT LIMITED TO, THE IMPLIED WARRANTIES OF MERCHANTABILITY AND FITNESS FOR A PARTICULAR PURPOSE ARE
DISCLAIMED. IN NO EVENT SHALL THE COPYRIGHT HOLDER OR CONTRIBUTORS BE LIABLE FOR ANY DIRECT, INDIRECT, INCIDENTAL,
SPECIAL, EXEMPLARY, OR CONSEQUENTIAL DAMAGES (INCLUDING, BUT NOT LIMITED TO, PROCUREMENT OF SUBSTITUTE GOODS OR
SERVICES; LOSS OF USE, DATA, OR PROFITS; OR BUSINESS INTERRUPTION) HOWEVER CAUSED AND ON ANY THEORY OF LIABILITY,
WHETHER IN CONTRACT, STRICT LIABILITY, OR TORT (INCLUDING NEGLIGENCE OR OTHERWISE) ARISING IN ANY WAY OUT OF THE USE OF
THIS SOFTWARE, EVEN IF ADVISED OF THE POSSIBILITY OF SUCH DAMAGE.`;

const gallant = "Copyright (c) 2015 Andrew Gallant";
const rust = "Copyright (c) 2014 The Rust Project Developers";
const crichton = "Copyright (c) 2014 Alex Crichton";

/** Crates by name: their licences, of which the text is MIT's, and whose they are. */
const crates = {
  "aho-corasick": ["Unlicense OR MIT", gallant],
  hashbrown: ["MIT OR Apache-2.0", "Copyright (c) 2016 Amanieu d'Antras"],
  memchr: ["Unlicense OR MIT", gallant],
  once_cell: ["MIT OR Apache-2.0", "Authors: Aleksey Kladov"],
  regex: ["MIT OR Apache-2.0", rust],
  "regex-automata": ["MIT OR Apache-2.0", rust],
  "regex-syntax": ["MIT OR Apache-2.0", rust],
  "serde-wasm-bindgen": ["MIT", "Authors: Ingvar Stepanyan"],
};

/** Crates without a message, which every WebAssembly of wasm-bindgen contains. */
const underneath = [
  ["js-sys, part of wasm-bindgen", "MIT OR Apache-2.0", crichton],
  ["Rust's standard library", "MIT OR Apache-2.0", "Copyright (c) The Rust Project Contributors"],
  ["serde", "MIT OR Apache-2.0", "Authors: Erick Tryzelaar, David Tolnay"],
  ["wasm-bindgen", "MIT OR Apache-2.0", crichton],
];

/** C code in WebAssembly, by package. */
const compiled = {
  "zstd-codec": [
    ["Zstandard", "BSD-3-Clause", "Copyright (c) Meta Platforms, Inc. and affiliates. All rights reserved.", bsd],
    ["Emscripten's runtime", "MIT", "Copyright (c) 2010-2014 Emscripten authors", mit],
  ],
};

/** Texts that packages leave out. */
const copyrights = { "zstd-codec": `The MIT License (MIT)\n\nCopyright (c) 2017 Yoshihito Hirakawa\n\n${mit}` };

const entry = (name, licence, by, text, within) => `${name} (${licence}), in ${within}\n\n${by}\n\n${text}`;

/** @throws Error for a crate that is not in the list */
function cratesIn(file, within) {
  const text = readFileSync(file, "latin1");
  const found = new Set(
    [...text.matchAll(/\/registry\/src\/[^/]+\/([\w-]+?)-(\d+\.\d+\.\d+[\w.+-]*)\//g)].map(
      ([, name, version]) => `${name} ${version}`,
    ),
  );
  const named = [...found].map((it) => {
    const [name] = it.split(" ");
    if (!Object.hasOwn(crates, name)) throw new Error(`${file} contains ${it}: add its licence to build/embedded.mjs`);
    const [licence, by] = crates[name];
    return entry(it, licence, by, mit, within);
  });
  return [...named, ...underneath.map(([name, licence, by]) => entry(name, licence, by, mit, within))];
}

/** The package of a source in a bundle's map, or of a folder beside the bundle's own; undefined: the bundle's own. */
function packageOf(source, folder) {
  const name = /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(source)?.[1];
  const [, scope] = /node_modules\/(@[^/]+)\//.exec(folder) ?? [];
  const [, sibling] = /^\.\.\/\.\.\/([\w-]+)\//.exec(source) ?? [];
  const names = name ? [name] : sibling ? [`${scope}/${sibling}`, `${scope}/rrweb-${sibling}`] : [];
  return names.find((it) => existsSync(`node_modules/${it}/package.json`));
}

/** [folder, version] of the packages in a package's bundles, and in theirs. */
export function bundledIn(folder, found = new Map()) {
  const dist = join(folder, "dist");
  const maps = existsSync(dist) ? readdirSync(dist).filter((it) => it.endsWith(".map")) : [];
  for (const map of maps) {
    for (const source of JSON.parse(readFileSync(join(dist, map), "utf8")).sources ?? []) {
      const name = packageOf(source, folder);
      if (name === undefined || found.has(`node_modules/${name}`)) continue;
      found.set(`node_modules/${name}`, /\/\.pnpm\/[^/]*?@(\d[^_/]*)/.exec(source)?.[1]);
      bundledIn(`node_modules/${name}`, found);
    }
  }
  return found;
}

/** The entries for what is compiled into a package: C code, and Rust crates in these files. */
export const compiledIn = (name, wasm) => [
  ...(compiled[name] ?? []).map((it) => entry(...it, name)),
  ...wasm.flatMap((file) => cratesIn(file, name)),
];

/** The licence text of a package that leaves it out. */
export const missingText = (name) => copyrights[name];
