import type { Command } from "commander";
import { createPoller, type PollRan } from "../../ledger/mod.ts";
import type { Cli } from "../cli.ts";
import { span } from "../doctor/check.ts";
import { counted } from "../counted.ts";
import { CommandError, EXIT } from "../exit_codes.ts";
import { type Io, jsonLine, line, note } from "../io.ts";
import { messageOf } from "../logger.ts";
import {
  jsonOption,
  ledgerOptions,
  rateOption,
  serviceOptions,
} from "../options.ts";
import { progress } from "../progress.ts";
import { stoppable } from "../stoppable.ts";
import { type RateFlags, withService } from "../with_service.ts";

interface PollFlags extends RateFlags {
  readonly rate: number;
  readonly once?: boolean;
}

/** `poll`: ask the service for what no webhook told. */
export function addPoll(program: Command, cli: Cli): void {
  const command = program.command("poll").summary(
    "ask the service for what no webhook told",
  ).description(
    "ask the service for what no webhook told, and confirm what one claimed",
  );
  jsonOption(
    rateOption(serviceOptions(ledgerOptions(command))),
    "one object",
  )
    .option(
      "--once",
      "run every sweep to its end once, print what it read, exit",
    )
    .addHelpText("after", "\nExample:\n  rampkit poll --once")
    .action(cli.run((flags: PollFlags) => poll(cli.io, flags)));
}

async function poll(io: Io, flags: PollFlags): Promise<number> {
  return await withService(io, flags, async (ledger, client) => {
    using bar = progress(io, "orders and users read", !flags.json);
    let read = 0;
    const poller = createPoller({
      ledger,
      client,
      now: io.now,
      requestsPerSecond: flags.rate,
      onProgress: ({ orders, users }) => bar.at(read += orders + users),
      onError: (error) => io.err(`Trying again: ${messageOf(error)}\n`),
      onAlert: (health) => io.err(`Delivery: ${health.detail}\n`),
    });
    if (!flags.once) {
      note(
        io,
        `Asking ${client.environment.baseUrl} at ${flags.rate} requests a ` +
          "second until Ctrl-C",
      );
      await poller.run(io.signal);
      note(io, `Stopped: ${read} orders and users were read, all are stored`);
      return EXIT.fine;
    }
    const report = await stoppable(
      io.signal,
      () => poller.once({ signal: io.signal }),
      () =>
        `${read} orders and users were read, and what was news is stored; ` +
        "run it again for the others",
    );
    bar.end();
    if (!report.ran) {
      throw new CommandError(
        `Another poller (${report.heldBy}) works on this ledger, for example ` +
          "in `serve`, and reads what there is; to read a window at once, use " +
          "recover. If it is gone, its lease ends in " + span(report.leftMs),
      );
    }
    if (flags.json) jsonLine(io, report);
    else print(io, report);
    return EXIT.fine;
  });
}

function print(io: Io, report: PollRan): void {
  const { orders, users, staleness, counts } = report.status;
  line(
    io,
    `Read ${counted(report.orders, "order")} and ` +
      `${counted(report.users, "user")}; ` +
      `${report.appended} of the readings were news`,
  );
  line(
    io,
    `The past of the orders: ${said(orders)}; of the users: ${said(users)}`,
  );
  line(
    io,
    `${counts.openOrders} of ${counts.orders} orders are open; ` +
      `no word is older than ${
        span(staleness.anythingMs)
      } while \`serve\` runs`,
  );
  line(io, `Delivery: ${report.delivery.detail}`);
}

function said(
  past: { readonly complete: boolean; readonly why: string | null },
): string {
  return past.complete ? "complete" : `incomplete, ${past.why}`;
}
