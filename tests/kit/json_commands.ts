import type { Command } from "commander";
import { buildProgram } from "../../cli/program.ts";

/** Every command that takes `--json`, as it is written: `orders list`. */
export function jsonCommands(): string[] {
  const io = {
    out: () => {},
    err: () => {},
    env: () => undefined,
    columns: null,
    colour: false,
    now: () => 0,
    signal: new AbortController().signal,
  };
  const found: string[] = [];
  const look = (command: Command, path: readonly string[]): void => {
    if (command.options.some(({ long }) => long === "--json")) {
      found.push(path.join(" "));
    }
    for (const child of command.commands) {
      look(child, [...path, child.name()]);
    }
  };
  const cli = { io, run: () => () => Promise.resolve() };
  look(buildProgram(cli, { completing: false, json: false }), []);
  return found;
}
