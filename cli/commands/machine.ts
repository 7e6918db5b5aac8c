import { Argument, type Command } from "commander";
import { ENTITIES, type Entity } from "../../ledger/for_sync.ts";
import { MACHINES } from "../../ledger/for_resources.ts";
import { type Cli, jsonLine, lines } from "../program/io.ts";
import { jsonOption } from "../program/options.ts";
import {
  machineJson,
  machineLines,
  type MachinesJson,
  outcomeLines,
  outcomesJson,
} from "../../resources/views/machine/machine_view.ts";

interface MachineFlags {
  readonly json?: boolean;
}

/** `machine`: the state machines, as the ledger runs them. */
export function addMachine(program: Command, cli: Cli): void {
  const command = program.command("machine").summary(
    "print the state machines of orders and users",
  ).description(
    "print the state machines that the ledger runs, as tables: states, what each webhook " +
      "claims, how a reading and a claim combine, which moves raise an anomaly, " +
      "and the outcomes of an order",
  ).addArgument(
    new Argument("[entity]", "which entity; both when omitted").choices(
      ENTITIES,
    ),
  );
  jsonOption(command, "one object")
    .addHelpText("after", "\nExample:\n  rampkit machine order")
    .action(
      cli.run((entity: Entity | undefined, flags: MachineFlags) => {
        const machines = (entity === undefined ? ENTITIES : [entity])
          .flatMap((one) => MACHINES[one]);
        if (flags.json) {
          jsonLine<MachinesJson>(cli.io, {
            machines: machines.map(machineJson),
            outcomes: entity === "user" ? [] : outcomesJson(),
          });
          return;
        }
        for (const [place, machine] of machines.entries()) {
          if (place > 0) lines(cli.io, [""]);
          lines(cli.io, machineLines(machine, cli.io.columns));
        }
        if (entity !== "user") {
          lines(cli.io, ["", ...outcomeLines(cli.io.columns)]);
        }
      }),
    );
}
