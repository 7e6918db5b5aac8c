import { defined, messageOf } from "../../core/guards.ts";
import type { Command } from "commander";
import {
  type Check,
  checkOf,
  type Finding,
  found,
  gathered,
  lookedAt,
} from "../../resources/health/finding.ts";
import { nodeFindings } from "../../resources/health/node_health.ts";
import { openWitness } from "../../server/compose/open_witness.ts";
import { probeNodes } from "../../witness/node_health.ts";
import { lookAtBackups } from "../../server/health/backup_health.ts";
import {
  lookAtDisk,
  lookAtServe,
  lookAtSpool,
  lookForPlace,
  writeRefusal,
} from "../../server/health/storage_health.ts";
import { lookAround } from "../../server/health/look_around.ts";
import {
  lookAtBaseUrl,
  lookAtEndpoint,
  lookAtService,
} from "../../server/health/service_health.ts";
import { type Config, readConfig } from "../../core/settings/config.ts";
import { EXIT } from "../../core/settings/errors.ts";
import { redact } from "../../core/settings/redact.ts";
import { serviceClient } from "../../server/compose/service_client.ts";
import { isStop, stoppable } from "../../core/settings/stoppable.ts";
import { lookAtSettings, lookIntoLedger } from "../doctor/own_looks.ts";
import type { Cli } from "../program/cli.ts";
import { paint, type Style } from "../program/colour.ts";
import { type Io, jsonLine } from "../program/io.ts";
import { printable } from "../../core/printable.ts";
import { wrap } from "../../resources/views/text.ts";
import {
  jsonOption,
  ledgerOptions,
  serviceOptions,
  settingOptions,
  type SharedFlags,
} from "../program/options.ts";
import { isStored } from "../program/with_ledger.ts";
import { openConfigured } from "../../server/ledger_file/open_configured.ts";

/** `doctor`: everything that can be wrong, in one look. */
export function addDoctor(program: Command, cli: Cli): void {
  const command = program.command("doctor").summary(
    "check settings, service, ledger and delivery",
  ).description(
    "check settings, service, ledger, delivery and clock",
  );
  jsonOption(
    settingOptions(serviceOptions(ledgerOptions(command)), "publicUrl"),
    "one object",
  )
    .option(
      "--backup-to <dir>",
      "folder of backups; by default that of the running serve, or one beside the ledger",
    )
    .addHelpText(
      "after",
      "\nExit code 1 when a check fails.\n\nExample:\n  rampkit doctor",
    )
    .action(cli.run(async (flags: DoctorFlags) => {
      const { io } = cli;
      const looks: (readonly Finding[])[] = [];
      await stoppable(
        io.signal,
        () => examine(io, flags, looks),
        () => `${looks.flat().length} checks were made, the others were not`,
      );
      const checks = gathered(looks).map(checkOf);
      const ok = checks.every(({ status }) => status !== "fail");
      // No check holds a secret; this is for messages of libraries.
      const shown = checks.map((one) =>
        defined({
          ...one,
          detail: redact(one.detail, io.env),
          advice: one.advice && redact(one.advice, io.env),
        })
      );
      if (flags.json) jsonLine(io, { ok, checks: shown });
      else await print(io, shown);
      return ok ? EXIT.fine : EXIT.failed;
    }));
}

interface DoctorFlags extends SharedFlags {
  readonly backupTo?: string;
}

async function examine(
  io: Io,
  flags: DoctorFlags,
  looks: (readonly Finding[])[],
): Promise<void> {
  const config = readConfig(io.env, flags);
  looks.push(lookAtSettings(config));
  const environment = await examineLedger(io, config, flags.backupTo, looks);
  looks.push(await lookAtEndpoint(config, io));
  looks.push(lookAtBaseUrl(config, environment));
  looks.push(
    await lookedAt("nodes", () => lookAtNodes(config, environment, io)),
  );
  looks.push(
    config.apiKey === null
      ? [found("service_not_asked")]
      : await lookAtService(serviceClient(config, environment), io),
  );
}

/** How each chain node is that is configured here. */
async function lookAtNodes(
  config: Config,
  environment: string,
  { now, signal }: Io,
): Promise<readonly Finding[]> {
  const nodes = await openWitness({ config, now }, environment);
  if (nodes === null) return [];
  const probed = await probeNodes({ ...nodes, now, signal });
  return nodeFindings(probed.map((one) => ({ ...one, since: null })));
}

/** Gives the environment of the ledger as well. */
async function examineLedger(
  io: Io,
  config: Config,
  directory: string | undefined,
  looks: (readonly Finding[])[],
): Promise<string> {
  const named = config.environment ?? "sandbox";
  const nowMs = io.now();
  const beside = async () => {
    looks.push(
      await lookAtServe(config, () => Promise.resolve(true)),
      await lookAtSpool(config),
      await lookedAt("disk", () => lookAtDisk(config)),
    );
  };
  if (!await isStored(config)) {
    await beside();
    looks.push(await lookForPlace(config));
    return named;
  }
  try {
    const [disk] = await lookedAt("disk", () => lookAtDisk(config));
    const fileRefusal = await writeRefusal(config) ??
      (disk?.code === "disk_full" ? disk.detail : null);
    await using ledger = await openConfigured(config, {
      ...io,
      readOnly: true,
    });
    looks.push(
      await lookAround({ ledger, config, directory, nowMs }),
      await lookIntoLedger(ledger, fileRefusal, io.signal),
    );
    return ledger.environment;
  } catch (error) {
    if (isStop(error, io.signal)) throw error;
    looks.push(
      [found("ledger_not_opened", { more: messageOf(error) })],
      await lookAtBackups({ config, directory, nowMs }),
    );
    await beside();
    return named;
  }
}

const SIGN = { ok: "ok  ", warn: "WARN", fail: "FAIL", skip: "-   " } as const;

/** Columns of the sign and of the name, with what parts them. */
const SIGN_WIDTH = 6;
const NAME_WIDTH = 16;

/** How each sign is written where the terminal has colours. */
const STYLE: Readonly<Record<Check["status"], Style>> = {
  ok: "green",
  warn: "yellow",
  fail: "red",
  skip: "dim",
};

async function print(io: Io, checks: readonly Check[]): Promise<void> {
  const said: string[] = [];
  const line = (text: string, hang?: number, status?: Check["status"]) => {
    const shown = wrap(printable(text), io.columns, hang);
    const sign = status === undefined ? "" : SIGN[status];
    said.push(
      status !== undefined && io.colour
        ? paint(STYLE[status], sign) + shown.slice(sign.length)
        : shown,
    );
  };
  // On a narrow terminal the finding goes below its name.
  const narrow = io.columns !== null && io.columns < 60;
  const indent = narrow ? SIGN_WIDTH : SIGN_WIDTH + NAME_WIDTH;
  for (const { name, status, detail, advice } of checks) {
    const head = SIGN[status].padEnd(SIGN_WIDTH);
    if (narrow) {
      line(head + name, undefined, status);
      line(" ".repeat(indent) + detail);
    } else line(head + name.padEnd(NAME_WIDTH) + detail, indent, status);
    if (advice !== undefined && status !== "ok") {
      line(`${" ".repeat(indent)}> ${advice}`, indent + 2);
    }
  }
  const count = (wanted: Check["status"]) =>
    checks.filter(({ status }) => status === wanted).length;
  const parts = [
    [count("fail"), "failed"],
    [count("warn"), "to look at"],
    [count("skip"), "not made"],
  ].filter(([number]) => number !== 0).map((part) => part.join(" "));
  line("");
  line(
    parts.length === 0
      ? `All ${checks.length} checks passed`
      : `${checks.length} checks: ${parts.join(", ")}`,
  );
  const text = `${said.join("\n")}\n`;
  // What goes at once lets no colours pass.
  if (io.colour && io.outLater !== undefined) await io.outLater(text);
  else io.out(text);
}
