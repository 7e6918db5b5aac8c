#!/usr/bin/env node
/**
 * The program: `deno run … cli/main.ts COMMAND`.
 *
 * @module
 */
import process from "node:process";
import { processIo } from "./program/process_io.ts";
import { main } from "./program.ts";

process.exit(await main(process.argv.slice(2), processIo()));
