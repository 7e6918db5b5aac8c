/**
 * The program: `deno run … cli/main.ts COMMAND`.
 *
 * @module
 */
import { denoIo } from "./deno_io.ts";
import { main } from "./program.ts";

if (import.meta.main) Deno.exit(await main(Deno.args, denoIo()));
