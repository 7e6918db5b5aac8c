import type { Command } from "commander";
import {
  type Check,
  checkOf,
  type Finding,
  found,
  gathered,
  lookedAt,
} from "../../resources/health/finding.ts";
import { type Config, readConfig } from "../../core/settings/config.ts";
import { redact, SHORT_SECRET_LENGTH } from "../../core/settings/settings.ts";
import { assetDecimals } from "../../core/assets/assets.ts";
import { defined, messageOf } from "../../core/guards.ts";
import { findDamage, requireWritable } from "../../ledger/for_ledger_file.ts";
import { type Ledger, LedgerError } from "../../ledger/mod.ts";
import {
  nodeFindings,
  REFUSAL_ADVICE,
} from "../../resources/health/stored_health.ts";
import { isStop, stoppable, untilStopped } from "../../core/settings/values.ts";
import { openWitness } from "../../server/compose/compose_witness.ts";
import { probeNodes } from "../../witness/node_health.ts";
import {
  lookAtBackups,
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
import { EXIT } from "../../core/settings/errors.ts";
import { serviceClient } from "../../server/compose/service_client.ts";
import {
  type Cli,
  type Io,
  jsonLine,
  paint,
  type Style,
} from "../program/io.ts";
import { printable } from "../../core/text.ts";
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

/** Looks at the settings alone. */
function lookAtSettings(
  { apiKey, webhookSecrets }: Config,
): readonly Finding[] {
  const count = webhookSecrets.length;
  const isShort = webhookSecrets.some((one) =>
    one.length < SHORT_SECRET_LENGTH
  );
  return [
    found(apiKey === null ? "api_key_missing" : "api_key_set"),
    count === 0
      ? found("webhook_secret_missing")
      : isShort
      ? found("webhook_secret_short", {
        more: `it has less than ${SHORT_SECRET_LENGTH} characters`,
      })
      : found(
        "webhook_secret_set",
        count === 1 ? {} : {
          more: `${count} are valid at once; take the old ones out when the ` +
            "change is over",
        },
      ),
  ];
}

/** Orders whose assets are looked up, the latest first. */
const ORDERS = 5000;

/**
 * What `doctor` alone looks at of a ledger, because it takes long or belongs to
 * its user: does it take writes, are its pages whole, are its assets known?
 */
async function lookIntoLedger(
  ledger: Ledger,
  fileRefusal: string | null,
  signal: AbortSignal,
): Promise<readonly Finding[]> {
  return [
    await writable(ledger, fileRefusal),
    await integrity(ledger),
    await assets(ledger, signal),
  ];
}

async function writable(
  { driver, environment }: Ledger,
  fileRefusal: string | null,
): Promise<Finding> {
  const refused = (more: string) => found("ledger_refuses", { more });
  if (fileRefusal !== null) return refused(fileRefusal);
  try {
    const version = await requireWritable(driver);
    const more = `its environment is ${environment}, its SQLite ${version}`;
    return found("ledger_writable", { more });
  } catch (error) {
    const next = error instanceof LedgerError
      ? REFUSAL_ADVICE[error.code]
      : undefined;
    return found("ledger_refuses", {
      more: messageOf(error),
      ...next !== undefined && { next },
    });
  }
}

async function integrity({ driver }: Ledger): Promise<Finding> {
  if (driver.location === "remote") return found("pages_unseen");
  const damage = await findDamage(driver);
  return damage === null
    ? found("pages_intact")
    : found("pages_damaged", { more: damage });
}

async function assets(ledger: Ledger, signal: AbortSignal): Promise<Finding> {
  const unknown = new Set<string>();
  const table = ledger.environment === "sandbox" ? "sandbox" : "production";
  let looked = 0;
  for await (const order of untilStopped(ledger.orders.list({}), signal)) {
    if (++looked > ORDERS) break;
    const { commodity, network } = order;
    if (commodity === null || network === null) continue;
    if (assetDecimals(table, commodity, network) === null) {
      unknown.add(`${commodity} on ${network}`);
    }
  }
  return unknown.size === 0
    ? found("assets_known")
    : found("assets_unknown", { more: [...unknown].sort().join(", ") });
}

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
