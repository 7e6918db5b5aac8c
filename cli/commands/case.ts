import type { Command } from "commander";
import { CHANGE_CASE } from "../../resources/operations/case_operation.ts";
import { readValues } from "../../resources/operations/operation.ts";
import { caseJson, caseLines } from "../../resources/views/case_view.ts";
import { printable } from "../../core/printable.ts";
import { UsageError } from "../../settings/errors.ts";
import type { Cli } from "../program/cli.ts";
import { jsonLine, line, lines } from "../program/io.ts";
import {
  jsonOption,
  ledgerOptions,
  type SharedFlags,
} from "../program/options.ts";
import { withLedger } from "../program/with_ledger.ts";
import { findOrder, ORDER_ID, orderNotFound } from "./orders/show.ts";

/** The flags: parameters of the operation that are no operands. */
interface CaseFlags extends SharedFlags {
  readonly by?: string;
  readonly note?: string;
  readonly reference?: string;
  readonly since?: string;
  readonly seen?: string;
}

/** `case`: what people did about an order, and to record what you do. */
export function addCase(program: Command, cli: Cli): void {
  const { order: _order, change, ...flags } = CHANGE_CASE.params;
  const command = program.command("case").argument("<order>", ORDER_ID)
    .argument(
      "[change]",
      `${change?.description}: ${
        [change?.schema.enum].flat().join(", ")
      }; without it the case is shown`,
    )
    .summary("show the case of an order, or record what you do about it")
    .description(
      "show what people did about an order and noted of it, or record what " +
        "you do. What is recorded holds until the service changes the order, " +
        "or the order waits for another reason; then the case is open again",
    );
  jsonOption(ledgerOptions(command), "one object");
  for (const [name, { description }] of Object.entries(flags)) {
    command.option(`--${name} <text>`, description);
  }
  command.addHelpText(
    "after",
    `\nExample:\n  rampkit case 01KA00000000000000000000 asked --by Ada\n  rampkit case ${CHANGE_CASE.example}`,
  ).action(
    cli.run(
      async (id: string, change: string | undefined, flags: CaseFlags) => {
        const { io } = cli;
        await withLedger(io, flags, async (ledger, config) => {
          await ledger.project();
          const { order: { orderId } } = await findOrder(ledger, config, id);
          if (change === undefined) {
            const found = await ledger.cases.get(orderId);
            if (found === null) throw orderNotFound(id, "");
            const shown = caseJson(found);
            if (flags.json) return jsonLine(io, shown);
            return lines(io, caseLines(shown, io.columns));
          }
          const given: Readonly<Record<string, unknown>> = {
            ...flags,
            order: orderId,
            change,
          };
          const values = readValues(CHANGE_CASE, (name) => {
            const text = given[name];
            return typeof text === "string" ? text : undefined;
          });
          if (values === null) {
            throw new UsageError("Say who does it, with --by NAME");
          }
          const result = await CHANGE_CASE.run(ledger, values);
          if (flags.json) return jsonLine(io, result);
          const view = { columns: io.columns, flags };
          for (const text of [CHANGE_CASE.says(result, values, view)].flat()) {
            line(io, printable(text));
          }
        });
      },
    ),
  );
}
