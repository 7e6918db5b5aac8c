import type { Command } from "commander";
import { isPolled } from "../../ledger/for_sync.ts";
import { createPoller, type PollCompleted } from "../../sync/mod.ts";
import type { Cli } from "../program/cli.ts";
import { pollReportJson } from "../../resources/queries/service_status.ts";
import { describeDelivery } from "../../resources/wording/delivery.ts";
import { span } from "../../resources/wording/phrases.ts";
import { counted } from "../../resources/views/text.ts";
import { CommandError, EXIT } from "../../settings/errors.ts";
import { type Io, jsonLine, line, note } from "../program/io.ts";
import {
  contradictedAfterOption,
  jsonOption,
  ledgerOptions,
  rateOption,
  serviceOptions,
} from "../program/options.ts";
import { describePollAlert } from "../../resources/wording/poll_failure.ts";
import { progress } from "../program/progress.ts";
import { stoppable } from "../../settings/stoppable.ts";
import { type ServiceFlags, withService } from "../program/with_service.ts";

interface PollFlags extends ServiceFlags {
  readonly rate: number;
  readonly contradictedAfter: number;
  readonly once?: boolean;
}

/** `poll`: read from the service what webhooks did not report. */
export function addPoll(program: Command, cli: Cli): void {
  const command = program.command("poll").summary(
    "read from the service what webhooks did not report",
  ).description(
    "read from the service what webhooks did not report, and confirm what they claimed",
  );
  jsonOption(
    contradictedAfterOption(
      rateOption(serviceOptions(ledgerOptions(command))),
    ),
    "one object",
  )
    .option(
      "--once",
      "run every sweep once, print what it read, and exit",
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
      contradictedAfterMs: flags.contradictedAfter * 60_000,
      onProgress: ({ orders, users }) => bar.at(read += orders + users),
      onPollAlert: (alert) => note(io, describePollAlert(alert)),
      onAlert: ({ health }) =>
        note(io, `Delivery: ${describeDelivery(health)}`),
    });
    if (!flags.once) {
      note(
        io,
        `Asking ${client.environment.baseUrl} at ${flags.rate} requests a ` +
          "second until Ctrl-C",
      );
      if (await isPolled(ledger.driver)) {
        note(
          io,
          "Another poller works on this ledger, for example in `serve`; this " +
            "one waits, and takes over when the other is gone",
        );
      }
      await poller.run(io.signal);
      note(io, `Stopped: ${read} orders and users were read, all are stored`);
      return EXIT.fine;
    }
    const report = await stoppable(
      io.signal,
      () => poller.once({ signal: io.signal }),
      () =>
        `${read} orders and users were read, and what was new is stored; ` +
        "run it again for the others",
    );
    bar.end();
    if (!report.ran) {
      throw new CommandError(
        `Another poller (${report.heldBy}) works on this ledger, for example ` +
          "in `serve`, and reads what there is; to read a window at once, use " +
          "recover. If it is gone, its lease ends in " + span(report.leftMs),
        "in_use",
      );
    }
    if (flags.json) jsonLine(io, pollReportJson(report));
    else print(io, report);
    return EXIT.fine;
  });
}

function print(io: Io, report: PollCompleted): void {
  const { orders, users, staleness, counts } = report.status;
  line(
    io,
    `${counted(report.orders, "reading")} of orders and ${report.users} of ` +
      `users; ${report.appended} said something new`,
  );
  line(
    io,
    `History of orders: ${said(orders)}; of users: ${said(users)}`,
  );
  line(
    io,
    `${counts.openOrders} of ${counts.orders} orders are open; ` +
      `no state is older than ${
        span(staleness.anythingMs)
      } while \`serve\` runs`,
  );
  line(io, `Delivery: ${describeDelivery(report.delivery)}`);
}

function said(
  past: { readonly complete: boolean; readonly why: string | null },
): string {
  return past.complete ? "complete" : `incomplete, ${past.why}`;
}
