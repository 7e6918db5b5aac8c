/** The process of `rampkit demo --browser`. */
import process from "node:process";
import { processIo } from "../../program/process_io.ts";
import { browserProgram } from "./browser_program.ts";

process.exit(await browserProgram(process.argv.slice(2), processIo()));
