/**
 * Makes tests of the examples in comments and pages, as `deno test --doc` does,
 * but in files that load the modules which a folder's examples share once.
 *
 * @module
 */
import config from "../deno.json" with { type: "json" };

/** An example that runs. */
export interface Example {
  /** Line of its first statement, from 1. */
  readonly line: number;
  readonly code: string;
}

/** Where an example stands. */
export interface Place {
  /** Folder of the project. */
  readonly root: string;
  /** The file, relative to it. */
  readonly file: string;
  /** What that exports: an example uses it without importing it. */
  readonly exported: readonly string[];
}

const FENCE = /^(\s*\*? ?)```(?:ts|js|typescript|javascript)\b(.*)$/;

/** The examples of a file, but for those that are marked as not to be run. */
export function examplesOf(text: string): Example[] {
  const examples: Example[] = [];
  let open: { margin: string; line: number; code: string[] } | null = null;
  for (const [at, line] of text.split("\n").entries()) {
    if (open === null) {
      const [, margin = "", marks] = FENCE.exec(line) ?? [];
      if (marks === undefined || /\bignore\b/.test(marks)) continue;
      open = { margin, line: at + 2, code: [] };
    } else if (line.trim().replace(/^\* ?/, "").startsWith("```")) {
      examples.push({ line: open.line, code: open.code.join("\n") });
      open = null;
    } else {
      open.code.push(line.slice(open.margin.length));
    }
  }
  return examples;
}

/** The values that a module exports by name. */
export function exportsOf(text: string): string[] {
  const declared =
    /^export (?:async |abstract )?(?:function|class|const)\*? (\w+)/gm;
  return Array.from(text.matchAll(declared), ([, name = ""]) => name);
}

/**
 * The text of a test file for an example. What it imports by a relative path or
 * by the name of the package is found from anywhere.
 */
export function exampleTest(
  { line, code }: Example,
  { root, file, exported }: Place,
): string {
  const imports: string[] = [];
  for (const name of exported) {
    const isKnown = new RegExp(
      `^import\\s[^;(]*\\b${name}\\b|\\b(const|function|class) ${name}\\b`,
      "m",
    ).test(code);
    if (isKnown || !new RegExp(`\\b${name}\\b`).test(code)) continue;
    imports.push(`import { ${name} } from "file://${root}/${file}";\n`);
  }
  const body = code.replace(/^import\s[^;(]*;\n?/gm, (statement) => {
    imports.push(
      statement.replace(
        /"([^"]+)"(?=;)/,
        (_, specifier) => JSON.stringify(resolved(specifier, file, root)),
      ),
    );
    return "";
  }).replace(/^export (?=async |function|class|const)/gm, "");
  return `${imports.join("")}
Deno.test(${JSON.stringify(`example in ${file}:${line}`)}, async () => {
${body}
});
`;
}

function resolved(specifier: string, file: string, root: string): string {
  const base = `file://${root}/`;
  if (specifier.startsWith(".")) return new URL(specifier, base + file).href;
  if (specifier.startsWith(config.name)) {
    const door = `.${specifier.slice(config.name.length)}`;
    const path = (config.exports as Record<string, string>)[door];
    if (path !== undefined) return new URL(path, base).href;
  }
  return (config.imports as Record<string, string>)[specifier] ?? specifier;
}
