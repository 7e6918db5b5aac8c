import { requireExactJson } from "../core/json/json.ts";
import packageFile from "../deno.json" with { type: "json" };
import tab from "@bomb.sh/tab/commander";
import {
  SETTINGS,
  VARIABLE_NAMES,
  VARIABLES,
} from "../core/settings/settings.ts";
import { type Argument, Command, Help } from "commander";
import { type Cli, guardedIo, type Io } from "./program/io.ts";
import { addAssets } from "./commands/assets.ts";
import { addBench } from "./commands/bench.ts";
import { addConsole } from "./commands/console.ts";
import { addConform } from "./commands/conform.ts";
import { addDemo } from "./commands/demo.ts";
import { addDoctor } from "./commands/doctor.ts";
import { addMachine } from "./commands/machine.ts";
import { addSandbox } from "./commands/sandbox.ts";
import { addSchema } from "./commands/schema.ts";
import { addServe } from "./commands/serve.ts";
import { addSim } from "./commands/sim.ts";
import { addListen } from "./commands/listen.ts";
import { addOperations } from "./operations/operation_command.ts";
import { addTrigger } from "./commands/trigger.ts";
import { addParse } from "./commands/webhook_parse.ts";
import { addSend } from "./commands/webhook_send.ts";
import { EXIT } from "../core/settings/errors.ts";
import { SETTINGS_HEADING } from "./program/options.ts";
import { asksForJson, reportError } from "./program/report_error.ts";
import { wrap } from "../resources/views/text.ts";

/**
 * Runs the command line.
 *
 * @param args Arguments without the program's name.
 * @param terminal The terminal, environment and clock.
 * @returns The exit code: 0 fine, 1 failed, 2 usage, 3 disagreement found.
 *
 * @example Asking for help
 * ```ts
 * import { main } from "@rampkit/onramp/cli";
 * import assert from "node:assert/strict";
 *
 * let text = "";
 * const code = await main(["orders", "--help"], {
 *   out: (part) => text += part,
 *   err: () => {},
 *   env: () => undefined,
 *   columns: null,
 *   colour: false,
 *   now: () => Date.now(),
 *   signal: new AbortController().signal,
 * });
 * assert.equal(code, 0);
 * assert.match(text, /explain/);
 * ```
 */
export async function main(
  args: readonly string[],
  terminal: Io,
): Promise<number> {
  const io = guardedIo(terminal);
  const json = asksForJson(args);
  let exitCode: number = EXIT.fine;
  const cli: Cli = {
    io,
    run: (action) => async (...given) => {
      requireExactJson("run");
      exitCode = (await action(...given)) ?? EXIT.fine;
    },
  };
  try {
    const how = { completing: args[0] === COMPLETE, json };
    await buildProgram(cli, how).parseAsync([...args], { from: "user" });
    return exitCode;
  } catch (error) {
    return reportError(error, io, json);
  }
}

/** What shells call; the library that answers is set up for them alone. */
const COMPLETE = "complete";

/** What the command line is built for. */
export interface BuildOptions {
  /** Whether a shell asks for completions. */
  readonly completing: boolean;
  /** Whether errors are printed as JSON, and so not by the parser. */
  readonly json: boolean;
}

/** Every command with its flags, ready to parse a command line. */
export function buildProgram(
  cli: Cli,
  { completing, json }: BuildOptions,
): Command {
  const program = new Command("rampkit")
    .description(
      "Shows the state of every onramp order, the evidence for it, and " +
        "whether deliveries still arrive.",
    )
    .version(packageFile.version, "-V, --version", "print the version")
    .helpOption("-h, --help", "print this help")
    .helpCommand("help [command]", "print the help of a command")
    .showHelpAfterError("(add --help for what this command takes)")
    .configureHelp({
      sortSubcommands: false,
      showGlobalOptions: false,
      groupItems,
      subcommandTerm: (command) =>
        [
          command.name(),
          ...command.registeredArguments.map(argumentTerm),
        ].join(" "),
    })
    .configureOutput({
      writeOut: cli.io.out,
      writeErr: json ? () => {} : cli.io.err,
      getOutHelpWidth: () => cli.io.columns ?? 80,
      getErrHelpWidth: () => cli.io.columns ?? 80,
      getOutHasColors: () => cli.io.colour,
      getErrHasColors: () => cli.io.colour,
    })
    .exitOverride();
  const operations = (...names: readonly string[]) => {
    for (const name of names) addOperations(program, cli, name);
  };
  addServe(program, cli);
  operations("poll", "reconcile", "recover");
  addConform(program, cli);
  operations("orders", "users");
  addMachine(program, cli);
  addSchema(program, cli);
  operations("find", "attention", "month");
  addConsole(program, cli);
  operations("session", "expect", "release", "note", "witness");
  addAssets(program, cli);
  operations("ledger", "deliveries", "subscriptions");
  const webhook = addOperations(program, cli, "webhook");
  addSend(webhook, cli);
  addParse(webhook, cli);
  addSandbox(program, cli);
  addListen(program, cli);
  addTrigger(program, cli);
  addDemo(program, cli);
  addDoctor(program, cli);
  addSim(program, cli);
  addBench(program, cli);
  if (!completing) addComplete(program);
  program.addHelpText(
    "after",
    () =>
      AFTER.split("\n").map((text) =>
        wrap(text, cli.io.columns, text.startsWith("  RAMPKIT") ? 6 : 0)
      ).join("\n"),
  );
  inherit(program);
  // Last, because it reads every command, and has settings of its own.
  if (completing) {
    tab(program);
    const made = program.commands.find((command) =>
      command.name() === COMPLETE
    );
    made?.description(COMPLETE_DESCRIPTION)
      .addHelpText("after", COMPLETE_EXAMPLE);
  }
  return program;
}

const COMPLETE_DESCRIPTION = "print the completion script of a shell";
const COMPLETE_EXAMPLE = "\nExample:\n  source <(rampkit complete bash)";

function addComplete(program: Command): void {
  program.command(COMPLETE).argument("<shell>", "bash, zsh or fish")
    .description(COMPLETE_DESCRIPTION)
    .addHelpText("after", COMPLETE_EXAMPLE);
}

/** A command's own flags come first, those that stand for a variable last. */
const groupItems: Help["groupItems"] = (all, visible, groupOf) => {
  const groups = Help.prototype.groupItems(all, visible, groupOf);
  const settings = groups.get(SETTINGS_HEADING);
  if (settings === undefined) return groups;
  groups.delete(SETTINGS_HEADING);
  return groups.set(SETTINGS_HEADING, settings);
};

function argumentTerm(argument: Argument): string {
  const name = argument.name() + (argument.variadic ? "..." : "");
  return argument.required ? `<${name}>` : `[${name}]`;
}

/** Commander hands settings down only to commands made by `command()`. */
function inherit(command: Command): void {
  for (const child of command.commands) {
    child.copyInheritedSettings(command);
    inherit(child);
  }
}

const AFTER = `
Settings come from flags, then from environment variables:
${
  VARIABLE_NAMES.map((name) => {
    const means = SETTINGS[name].means.replaceAll("`", "");
    return wrap(`  ${VARIABLES[name].padEnd(25)}${means}`, 80, 27);
  }).join("\n")
}

Exit codes: 0 fine, 1 failed or stopped by Ctrl-C before the end, 2 wrong usage
or a setting is missing, 3 disagreement found.

docs/reference/ has all settings (settings.md), commands (commands.md) and what
to do when something is wrong (health.md).

Example:
  rampkit doctor`;
