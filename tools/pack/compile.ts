import { dirname, join } from "node:path/posix";
import ts from "typescript";

/** A compiled file, and what it imports. */
export interface Compiled {
  /** Its text. */
  readonly text: string;
  /** What it imports, as it names it. */
  readonly imports: readonly string[];
}

const OPTIONS: ts.CompilerOptions = {
  module: ts.ModuleKind.ESNext,
  // `using` is the one thing that Node 22 lacks: this target writes it out.
  target: ts.ScriptTarget.ES2024,
  verbatimModuleSyntax: true,
  strict: true,
  exactOptionalPropertyTypes: true,
};

/**
 * Compiles a file to JavaScript, looking at nothing else.
 *
 * @throws {SyntaxError} When it cannot be compiled.
 */
export function compileModule(path: string, source: string): Compiled {
  return compiled(
    path,
    source,
    ts.transpileModule(source, {
      fileName: path,
      compilerOptions: { ...OPTIONS, removeComments: true },
      reportDiagnostics: true,
    }),
  );
}

/** Types of resources are in no library that TypeScript loads by default. */
const DISPOSABLE = /\b(?:Async)?Disposable\b|\bSymbol\.(?:asyncD|d)ispose\b/;

/**
 * A method that is named by a symbol is declared a second time, as a property, by
 * a compiler that looks at one file alone.
 */
const DECLARED_TWICE =
  /(?: *\/\*\*(?:(?!\*\/)[^])*\*\/\n)? *\[Symbol\.(\w+)\]: \(\) => .*;\n(?=[^]*\n *\[Symbol\.\1\]\(\))/g;

/**
 * The types of a file, looking at nothing else.
 *
 * @throws {SyntaxError} When the type of something it exports is not clear.
 */
export function compileTypes(path: string, source: string): Compiled {
  const { text, imports } = compiled(
    path,
    source,
    ts.transpileDeclaration(source, {
      fileName: path,
      compilerOptions: {
        ...OPTIONS,
        declaration: true,
        isolatedDeclarations: true,
      },
      reportDiagnostics: true,
    }),
  );
  const library = '/// <reference lib="esnext.disposable" />\n';
  return {
    text: (DISPOSABLE.test(text) ? library : "") +
      text.replace(DECLARED_TWICE, ""),
    imports,
  };
}

/** A constant does not state its type; the compiler may find it all the same. */
const UNSTATED = 9010;
const UNKNOWN = /^export declare const \w+: any;/m;

function compiled(
  path: string,
  source: string,
  { outputText, diagnostics = [] }: ts.TranspileOutput,
): Compiled {
  const problem = diagnostics.find(({ code }) =>
    code !== UNSTATED || UNKNOWN.test(outputText)
  );
  if (problem !== undefined) {
    const line = source.slice(0, problem.start).split("\n").length;
    const message = ts.flattenDiagnosticMessageText(problem.messageText, " ");
    throw new SyntaxError(`Cannot compile ${path}:${line}: ${message}`);
  }
  const imports = ts.preProcessFile(outputText).importedFiles
    .map(({ fileName }) => fileName);
  return { text: renamed(path, outputText), imports };
}

/** A file of the package, from whatever file names it. */
export const OF_PACKAGE: RegExp = /(?<=\bnew URL\(\s*")package:([^"]+)/g;

/**
 * Files of ours end in `.js` once they are compiled. One that is named by its address
 * is named from the package: what names it may be put into another file.
 */
function renamed(path: string, text: string): string {
  return text.replace(
    /((?:\bfrom|\bimport)\s*\(?\s*|\bnew URL\(\s*)"(\.{1,2}\/[^"]+)\.ts"/g,
    (_, before, file) =>
      before.startsWith("new URL")
        ? `${before}"package:${join(dirname(path), file)}.js"`
        : `${before}"${file}.js"`,
  );
}
