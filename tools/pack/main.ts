/**
 * Writes the npm tarball: `deno task pack [--out DIR]`.
 *
 * @module
 */
import { parseArgs } from "node:util";
import { pack } from "./pack.ts";

const { values } = parseArgs({
  args: Deno.args,
  options: { out: { type: "string", default: "." } },
});
console.log(await pack(values.out));
