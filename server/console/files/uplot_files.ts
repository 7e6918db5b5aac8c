import { readFile } from "node:fs/promises";

/** Where the package of the plots is, as the runtime says. */
async function packageFile(name: string): Promise<URL> {
  // A literal name, so that the package is installed with the console.
  await import("uplot");
  return new URL(name, import.meta.resolve("uplot"));
}

/**
 * Reads a file of uPlot from its package: `uPlot.esm.js` or `uPlot.min.css`.
 *
 * @throws {Error} When it cannot be read.
 */
export async function uplotFile(name: string): Promise<string> {
  return await readFile(await packageFile(name), "utf8");
}
