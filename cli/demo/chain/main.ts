/** The process of `rampkit demo --witness`. */
import process from "node:process";
import { processIo } from "../../program/process_io.ts";
import { chainProgram } from "./chain_program.ts";

process.exit(await chainProgram(process.argv.slice(2), processIo()));
