/**
 * The program: `deno run … cli/main.ts COMMAND`.
 *
 * @module
 */
import { denoIo } from "./program/deno_io.ts";
import { main } from "./program/program.ts";

if (import.meta.main) Deno.exit(await main(Deno.args, denoIo()));
