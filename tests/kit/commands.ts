import type { Command } from "commander";
import { buildProgram } from "../../cli/program.ts";

/** Every command with its flags; it does and prints nothing. */
export function everyCommand(): Command {
  const io = {
    ...{ out: () => {}, err: () => {}, env: () => undefined, now: () => 0 },
    ...{ columns: null, colour: false, signal: new AbortController().signal },
  };
  const cli = { io, run: () => () => Promise.resolve() };
  return buildProgram(cli, { completing: false, json: false });
}

/** Every command that takes `--json`, as it is written: `orders list`. */
export function jsonCommands(): string[] {
  const found: string[] = [];
  const look = (command: Command, path: readonly string[]): void => {
    if (command.options.some(({ long }) => long === "--json")) {
      found.push(path.join(" "));
    }
    for (const child of command.commands) {
      look(child, [...path, child.name()]);
    }
  };
  look(everyCommand(), []);
  return found;
}
