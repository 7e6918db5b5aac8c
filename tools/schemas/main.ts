/**
 * Writes the schemas of what is printed and served: `deno task schemas`.
 *
 * @module
 */
import { generateSchemas } from "./generate.ts";

await Deno.writeTextFile(
  new URL("../../resources/schemas/components.json", import.meta.url),
  generateSchemas(),
);
