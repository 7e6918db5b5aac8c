/**
 * Writes the npm tarball: `deno task pack [--out DIR]`.
 *
 * @module
 */
import { readdirSync } from "node:fs";
import { dirname, join, relative } from "node:path/posix";
import { parseArgs } from "node:util";
import ts from "typescript";
import config from "../deno.json" with { type: "json" };

const ROOT = new URL("..", import.meta.url).pathname.replace(/\/$/, "");

/** Stands for the entry of Deno Deploy, which is not packed, and refuses. */
const DEPLOY_FILE = "deploy_elsewhere.js";
const DEPLOY_ELSEWHERE = `throw new Error(
  "@rampkit/onramp/deploy is the entry of Deno Deploy and runs there alone: " +
    "in Node and Bun use startOnramp of @rampkit/onramp/start",
);
`;

/** The file of each door that is packed. */
const DOORS: ReadonlyMap<string, string> = new Map(
  Object.entries(config.exports).filter(([door]) => door !== "./deploy")
    .map(([door, path]) => [door, path.replace(/^\.\//, "")]),
);

const OPTIONS: ts.CompilerOptions = {
  module: ts.ModuleKind.ESNext,
  // `using` is the one thing that Node 22 lacks: this target writes it out.
  target: ts.ScriptTarget.ES2024,
  verbatimModuleSyntax: true,
  strict: true,
  exactOptionalPropertyTypes: true,
  declaration: true,
  isolatedDeclarations: true,
};

/** Writes the package as npm takes it: a tarball of JavaScript and types. */
export async function pack(out: string): Promise<string> {
  const staging = await Deno.makeTempDir({ prefix: "rampkit-pack-" });
  const made = `${staging}/package`;
  const imported = new Set<string>();
  const put = async (path: string, text: string) => {
    await Deno.mkdir(dirname(`${made}/${path}`), { recursive: true });
    await Deno.writeTextFile(`${made}/${path}`, text);
    if (!/\.[jt]s$/.test(path)) return [];
    const names = ts.preProcessFile(text).importedFiles
      .map(({ fileName }) => fileName);
    for (const name of names) imported.add(name);
    return names;
  };
  try {
    await bundle(made);
    const names = readdirSync(made, { encoding: "utf8", recursive: true });
    for (const name of names) {
      if (!name.endsWith(".js")) continue;
      const text = await Deno.readTextFile(`${made}/${name}`);
      await put(name, asNodeTakesIt(name, text));
    }
    // Only what a door's types lead to: other files need not state theirs.
    const typed = new Set(DOORS.values());
    for (const file of typed) {
      const types = typesOf(file, await Deno.readTextFile(`${ROOT}/${file}`));
      const names = await put(file.replace(/\.ts$/, ".d.ts"), types);
      for (const name of names.filter((one) => one.startsWith("."))) {
        typed.add(join(dirname(file), name.replace(/\.js$/, ".ts")));
      }
    }
    await put(DEPLOY_FILE, DEPLOY_ELSEWHERE);
    const about = packageJson(packagesAmong(imported));
    await put("package.json", `${JSON.stringify(about, null, 2)}\n`);
    for (const paper of ["LICENSE", ...await pages(ROOT)]) {
      await Deno.mkdir(dirname(`${made}/${paper}`), { recursive: true });
      await Deno.copyFile(`${ROOT}/${paper}`, `${made}/${paper}`);
    }
    await Deno.mkdir(out, { recursive: true });
    const name = config.name.replace("@", "").replace("/", "-");
    const tarball = `${out}/${name}-${config.version}.tgz`;
    await run("tar", ["-czf", tarball, "-C", staging, "package"]);
    return tarball;
  } finally {
    await Deno.remove(staging, { recursive: true });
  }
}

/**
 * Puts the modules together, what several doors need into files of its own: Node
 * takes a millisecond for each file that it loads.
 */
function bundle(made: string): Promise<void> {
  const packages = Object.keys(config.imports).filter((name) =>
    !name.startsWith("@types/")
  );
  return run("deno", [
    "bundle",
    ...packages.flatMap((name) => ["--external", name]),
    ...["--config", `${ROOT}/deno.json`, "--quiet", "--code-splitting"],
    ...["--platform", "deno", "--format", "esm", "--outdir", made],
    ...DOORS.values().map((file) => `${ROOT}/${file}`),
  ]);
}

/** A bundled file without `using`, which names files of the package as packed. */
function asNodeTakesIt(path: string, text: string): string {
  const named = text.replace(
    /(\bnew URL\(\s*")(?:\.{1,2}\/)+([^"]+\.ts)"/g,
    (whole, before, file) => {
      const door = DOORS.values().find((one) => one.endsWith(`/${file}`));
      if (door === undefined) return whole;
      const packed = door.replace(/\.ts$/, ".js");
      return `${before}./${relative(dirname(path), packed)}"`;
    },
  );
  if (!/\busing\b/.test(named)) return named;
  const compilerOptions = { ...OPTIONS, declaration: false };
  return ts.transpileModule(named, { compilerOptions }).outputText;
}

/** Types of resources are in no library that TypeScript loads by default. */
const DISPOSABLE = /\b(?:Async)?Disposable\b|\bSymbol\.(?:asyncD|d)ispose\b/;

/**
 * A method that is named by a symbol is declared a second time, as a property, by
 * a compiler that looks at one file alone.
 */
const DECLARED_TWICE =
  /(?: *\/\*\*(?:(?!\*\/)[^])*\*\/\n)? *\[Symbol\.(\w+)\]: \(\) => .*;\n(?=[^]*\n *\[Symbol\.\1\]\(\))/g;

/** A constant does not state its type; the compiler may find it all the same. */
const UNSTATED = 9010;
const UNKNOWN = /^export declare const \w+: any;/m;

/**
 * The types of a file, looking at nothing else.
 *
 * @throws {SyntaxError} When the type of something it exports is not clear.
 */
function typesOf(path: string, source: string): string {
  const { outputText, diagnostics = [] } = ts.transpileDeclaration(source, {
    fileName: path,
    compilerOptions: OPTIONS,
    reportDiagnostics: true,
  });
  const problem = diagnostics.find(({ code }) =>
    code !== UNSTATED || UNKNOWN.test(outputText)
  );
  if (problem !== undefined) {
    const line = source.slice(0, problem.start).split("\n").length;
    const message = ts.flattenDiagnosticMessageText(problem.messageText, " ");
    throw new SyntaxError(`Cannot compile ${path}:${line}: ${message}`);
  }
  const library = '/// <reference lib="esnext.disposable" />\n';
  return (DISPOSABLE.test(outputText) ? library : "") +
    outputText.replace(DECLARED_TWICE, "")
      .replace(/(\b(?:from|import)\s*\(?\s*"\.[^"]+)\.ts"/g, '$1.js"');
}

/** The packages among what is imported, without a path inside. */
function packagesAmong(imports: Iterable<string>): string[] {
  const names = Iterator.from(imports)
    .filter((name) => !/^(?:\.|node:)/.test(name))
    .map((name) => /^(?:@[^/]+\/)?[^/]+/.exec(name)?.[0] ?? name);
  return [...new Set(names)];
}

/** What npm has to know of a package. */
interface PackageJson extends Readonly<Record<string, unknown>> {
  /** Range of versions by name. */
  readonly dependencies: Readonly<Record<string, string>>;
}

/**
 * What npm has to know of the package.
 *
 * @throws {TypeError} When one of those that it needs is not in `deno.json`.
 */
export function packageJson(packages: readonly string[]): PackageJson {
  const imports: Readonly<Record<string, string>> = config.imports;
  const wanted = packages.flatMap((used) => {
    const types = `@types/${used}`;
    return types in imports ? [used, types] : [used];
  });
  return {
    ...{ name: config.name, version: config.version, license: config.license },
    description: "Event-sourced ledger, webhook endpoint, poller and sandbox " +
      "for partners of a fiat-to-crypto onramp service",
    keywords: [
      ...["fiat-onramp", "onramp", "crypto", "payments", "webhooks"],
      ...["event-sourcing", "ledger", "reconciliation", "libsql", "sqlite"],
    ],
    type: "module",
    // All that does something when it is loaded: a bundler may drop the rest.
    sideEffects: ["./cli/main.js", "./ledger/thread/database_thread.js"],
    engines: { node: "^22.22.3 || >=24.15" },
    exports: {
      ...Object.fromEntries(
        DOORS.entries().map(([door, path]) => [door, {
          types: `./${path.replace(/\.ts$/, ".d.ts")}`,
          default: `./${path.replace(/\.ts$/, ".js")}`,
        }]),
      ),
      // A sentence in place of a path that is not exported.
      "./deploy": `./${DEPLOY_FILE}`,
    },
    bin: { rampkit: "./cli/main.js" },
    dependencies: Object.fromEntries(
      wanted.sort().map((used) => {
        const range = imports[used]?.split(`npm:${used}@`)[1];
        if (range !== undefined) return [used, range];
        throw new TypeError(`Cannot pack: ${used} is not among the imports`);
      }),
    ),
  };
}

/** A link of a page to another file of ours, or a picture. */
const LINK = /\]\((?!https?:|#)([^)#\s]+)/g;

/**
 * The pages that README leads to, directly or through others, and what they
 * show: they go along with a package, so that no link of it leads nowhere.
 */
export async function pages(root: string): Promise<string[]> {
  const found = new Set(["README.md"]);
  for (const page of found) { // Those that are added meanwhile come as well.
    if (!page.endsWith(".md")) continue;
    const text = await Deno.readTextFile(`${root}/${page}`);
    for (const [, target = ""] of text.matchAll(LINK)) {
      const path = join(dirname(page), target);
      if (/\.(md|webp|svg)$/.test(path)) found.add(path);
    }
  }
  return [...found].sort();
}

async function run(program: string, args: readonly string[]): Promise<void> {
  const { code, stderr } = await new Deno.Command(program, {
    args: [...args],
    stdout: "null",
  }).output();
  if (code !== 0) throw new Error(new TextDecoder().decode(stderr));
}

if (import.meta.main) {
  const { values } = parseArgs({
    args: Deno.args,
    options: { out: { type: "string", default: "." } },
  });
  console.log(await pack(values.out));
}
